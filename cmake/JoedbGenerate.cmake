set(JOEDB_JOEDBC "" CACHE FILEPATH
    "A joedbc that runs here, instead of the one that comes with joedb")

# joedb_generate(TARGET name SCHEMA base.joedbi [OPTIONS_FILE base.joedbc] [OUTPUT_DIRECTORY dir])
#
# Compiles a schema with joedbc at build time, and defines the INTERFACE library `name`: link it to
# include the generated headers (and joedb). OPTIONS_FILE defaults to the schema's name with the
# extension .joedbc, and need not exist then; OUTPUT_DIRECTORY to joedb_generated/ in the current
# binary directory. With remote procedure calls, in a directory base.rpc/, joedb::network is linked,
# too.
function(joedb_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;SCHEMA;OPTIONS_FILE;OUTPUT_DIRECTORY" "")
  if(NOT arg_TARGET OR NOT arg_SCHEMA OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "usage: joedb_generate(TARGET name SCHEMA base.joedbi "
                        "[OPTIONS_FILE base.joedbc] [OUTPUT_DIRECTORY dir])")
  endif()

  cmake_path(ABSOLUTE_PATH arg_SCHEMA OUTPUT_VARIABLE schema)
  cmake_path(REMOVE_EXTENSION schema LAST_ONLY OUTPUT_VARIABLE base)
  if(arg_OPTIONS_FILE)
    cmake_path(ABSOLUTE_PATH arg_OPTIONS_FILE OUTPUT_VARIABLE options)
  else()
    # Empty if there is no such file. A build notices when it appears.
    file(GLOB options CONFIGURE_DEPENDS ${base}.joedbc)
  endif()
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/joedb_generated)
  if(arg_OUTPUT_DIRECTORY)
    cmake_path(ABSOLUTE_PATH arg_OUTPUT_DIRECTORY BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
               OUTPUT_VARIABLE directory)
  endif()

  # The names of the generated files come from the options file, so a change of it configures anew.
  cmake_path(GET base FILENAME name)
  if(options)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${options})
    file(STRINGS ${options} line REGEX "^[ \t]*namespace[ \t]" LIMIT_COUNT 1)
    if(line MATCHES "namespace[ \t]+([A-Za-z0-9_:]*::)?([A-Za-z0-9_]+)")
      set(name ${CMAKE_MATCH_2})
    endif()
  endif()

  if(JOEDB_JOEDBC)
    set(joedbc ${JOEDB_JOEDBC})
    set(joedbc_file ${JOEDB_JOEDBC})
  elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(FATAL_ERROR "joedb_generate: when cross-compiling, set JOEDB_JOEDBC to the path of a "
                        "joedbc that runs here")
  elseif(TARGET joedb::joedbc)
    set(joedbc joedb::joedbc)
    set(joedbc_file $<TARGET_FILE:joedb::joedbc>)
  elseif(TARGET joedb::program)
    set(joedbc joedb::program compile)
    set(joedbc_file $<TARGET_FILE:joedb::program>)
  else()
    message(FATAL_ERROR "joedb_generate: joedb was installed without its tools; set JOEDB_JOEDBC to "
                        "the path of a joedbc")
  endif()

  # A build notices when files appear there.
  file(GLOB rpc CONFIGURE_DEPENDS ${base}.rpc/*.joedbi ${base}.rpc/*.joedbc ${base}.rpc/Service.h)
  if(rpc AND NOT TARGET joedb::network)
    message(FATAL_ERROR "joedb_generate: ${base}.rpc needs joedb::network, and joedb was built "
                        "without it: it needs asio.hpp and OpenSSL")
  endif()

  # joedbc reads BASE.joedbi, BASE.joedbc and BASE.rpc/: put them side by side when they are not.
  set(side_by_side)
  if(options AND NOT options STREQUAL "${base}.joedbc")
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_schema/${name})
    set(side_by_side
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_schema
      COMMAND ${CMAKE_COMMAND} -E copy ${schema} ${copy}.joedbi
      COMMAND ${CMAKE_COMMAND} -E copy ${options} ${copy}.joedbc)
    if(rpc)
      list(APPEND side_by_side
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${copy}.rpc
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${base}.rpc ${copy}.rpc)
    endif()
    set(base ${copy})
  endif()

  # joedbc leaves a header alone that would not change, so that nothing is compiled again for it:
  # the stamp tells when it ran. The small headers beside NAME.h come and go with it.
  set(stamp ${directory}/${arg_TARGET}.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    BYPRODUCTS ${directory}/${name}.h
    ${side_by_side}
    COMMAND ${joedbc} --output ${directory} ${base}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${schema} ${options} ${rpc} ${joedbc_file}
    COMMENT "Compiling schema ${name}"
    VERBATIM)
  add_custom_target(${arg_TARGET}_files DEPENDS ${stamp})
  add_library(${arg_TARGET} INTERFACE)
  add_dependencies(${arg_TARGET} ${arg_TARGET}_files)
  target_include_directories(${arg_TARGET} INTERFACE ${directory})
  target_link_libraries(${arg_TARGET} INTERFACE joedb::joedb)
  if(rpc)
    target_link_libraries(${arg_TARGET} INTERFACE joedb::network)
  endif()
endfunction()
