# The source files of a folder are compiled as one, in half of the time. After a change, all of the
# folder is compiled again: preset debug compiles each file alone.
option(JOEDB_UNITY_BUILD "Compile the source files of each folder as one" ON)
# That of a project around this one would combine files that must be compiled alone.
set(CMAKE_UNITY_BUILD OFF)

# joedb_unity_warnings(TARGET): what the compiler is told about a target whose files are compiled as one.
function(joedb_unity_warnings target)
  # Names at the top of one file are no matter of another; and gcc takes the included source for a
  # header, in which types must not use anonymous namespaces.
  if(JOEDB_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-shadow -Wshadow=local -Wno-subobject-linkage)
  elseif(JOEDB_UNITY_BUILD)
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()

# joedb_unity_builds([NAME...]): for the targets of this directory, but not for the targets, folders and
# files (without .cc) named.
function(joedb_unity_builds)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY" OR type STREQUAL "UTILITY" OR target IN_LIST ARGN)
      continue()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${JOEDB_UNITY_BUILD}
                                               UNITY_BUILD_MODE GROUP)
    joedb_unity_warnings(${target})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "^\\$<")  # the objects of another target
    foreach(source IN LISTS sources)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET source STEM file)
      string(REPLACE "${PROJECT_SOURCE_DIR}/src/" "" folder "${folder}")
      if(NOT folder IN_LIST ARGN AND NOT file IN_LIST ARGN)
        string(MAKE_C_IDENTIFIER "${folder}" group)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${group}")
      endif()
    endforeach()
  endforeach()
endfunction()
