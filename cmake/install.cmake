# What is installed, for CMake (find_package) and pkg-config, and the Debian package (cpack -G DEB).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The library and its headers.
set(classic_directory ${CMAKE_INSTALL_INCLUDEDIR}/joedb_classic)
target_include_directories(joedb_classic INTERFACE $<INSTALL_INTERFACE:${classic_directory}>)
install(TARGETS joedb joedb_classic joedb_io EXPORT joedbTargets)
install(DIRECTORY include/joedb TYPE INCLUDE)
install(DIRECTORY classic/joedb DESTINATION ${classic_directory})
install(FILES packaging/gdb/joedb_printers.py DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/joedb/gdb)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/joedb RENAME copyright)

install(TARGETS joedb_arrow joedb_c EXPORT joedbTargets)
install(FILES include/joedb_c.h TYPE INCLUDE)
if(TARGET joedb_network)
  install(TARGETS joedb_network EXPORT joedbTargets)
endif()
if(TARGET joedb_ssh)
  install(TARGETS joedb_ssh EXPORT joedbTargets)
endif()
if(TARGET joedb_nats)
  install(TARGETS joedb_nats EXPORT joedbTargets)
endif()

# What SQLite loads: `.load libjoedb_sqlite`.
if(TARGET joedb_sqlite)
  install(TARGETS joedb_sqlite LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# The tools.
if(TARGET joedb_program)
  install(TARGETS joedb_program EXPORT joedbTargets)
  list(TRANSFORM JOEDB_TOOL_NAMES PREPEND $<TARGET_FILE_DIR:joedb_program>/ OUTPUT_VARIABLE links)
  install(FILES ${links} TYPE BIN)
  install(FILES packaging/systemd/joedb@.service packaging/systemd/joedb@.socket
          DESTINATION lib/systemd/system)
  install(FILES packaging/systemd/joedb.conf DESTINATION lib/sysusers.d)
  install(FILES packaging/joedb.magic DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/joedb)
  install(DIRECTORY packaging/editors packaging/nats DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/joedb)

  # Man pages, and completion for shells: the program writes them.
  if(NOT CMAKE_CROSSCOMPILING)
    set(share ${PROJECT_BINARY_DIR}/share)
    add_custom_command(OUTPUT ${share}.stamp VERBATIM
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
      COMMAND joedb_program man --output ${share}/man/man1
      COMMAND joedb_program completion --output ${share}
      COMMAND ${CMAKE_COMMAND} -E touch ${share}.stamp
      DEPENDS joedb_program
      COMMENT "Man pages and completion")
    add_custom_target(joedb_pages ALL DEPENDS ${share}.stamp)
    install(DIRECTORY ${share}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    foreach(folder bash-completion zsh fish)
      install(DIRECTORY ${share}/${folder} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR})
    endforeach()
  endif()
endif()

# CMake. While the version begins with 0, a new minor version may change everything.
set(config_directory ${CMAKE_INSTALL_LIBDIR}/cmake/joedb)
write_basic_package_version_file(joedbConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT joedbTargets NAMESPACE joedb:: DESTINATION ${config_directory})
install(FILES cmake/joedbConfig.cmake cmake/JoedbGenerate.cmake
              ${PROJECT_BINARY_DIR}/joedbConfigVersion.cmake
        DESTINATION ${config_directory})

# pkg-config. The paths in these files begin where they stand, so that the whole can be moved. But for
# joedb_c there is no shared library: what a static one needs is required always, not only with
# --static.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_to_prefix)
install(TARGETS joedb_wal EXPORT joedbTargets)
set(joedb_wal_requires)
if(JOEDB_HAS_ISAL)
  set(joedb_wal_requires libisal)
endif()
set(pkg_config_files joedb.pc joedb_arrow.pc joedb_c.pc joedb_wal.pc)
if(TARGET joedb_network)
  list(APPEND pkg_config_files joedb_network.pc)
endif()
if(TARGET joedb_nats)
  list(APPEND pkg_config_files joedb_nats.pc)
  set(joedb_nats_requires libnats)
  if(JOEDB_NATS_HAS_CURL)
    string(APPEND joedb_nats_requires " libcurl")
  endif()
endif()
foreach(pc IN LISTS pkg_config_files)
  configure_file(cmake/${pc}.in ${pc} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()  # the package is another project's
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The joedb authors")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libabsl-dev)
set(recommended)
if(JOEDB_HAS_ISAL)
  list(APPEND recommended libisal-dev)
endif()
if(TARGET joedb_network)
  list(APPEND recommended libssl-dev)
endif()
list(JOIN recommended ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS)
include(CPack)
