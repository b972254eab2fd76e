# joedb_generate(TARGET name SCHEMA base.joedbi [OPTIONS_FILE base.joedbc] [OUTPUT_DIRECTORY dir])
#
# Compiles a schema with joedbc at build time, and defines the INTERFACE library `name`: link it to
# include the generated headers (and joedb). OPTIONS_FILE defaults to the schema's name with the
# extension .joedbc, OUTPUT_DIRECTORY to joedb_generated/ in the current binary directory.
function(joedb_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;SCHEMA;OPTIONS_FILE;OUTPUT_DIRECTORY" "")
  if(NOT arg_TARGET OR NOT arg_SCHEMA OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "usage: joedb_generate(TARGET name SCHEMA base.joedbi "
                        "[OPTIONS_FILE base.joedbc] [OUTPUT_DIRECTORY dir])")
  endif()

  cmake_path(ABSOLUTE_PATH arg_SCHEMA OUTPUT_VARIABLE schema)
  cmake_path(REMOVE_EXTENSION schema LAST_ONLY OUTPUT_VARIABLE base)
  set(options ${base}.joedbc)
  if(arg_OPTIONS_FILE)
    cmake_path(ABSOLUTE_PATH arg_OPTIONS_FILE OUTPUT_VARIABLE options)
  endif()
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/joedb_generated)
  if(arg_OUTPUT_DIRECTORY)
    cmake_path(ABSOLUTE_PATH arg_OUTPUT_DIRECTORY BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
               OUTPUT_VARIABLE directory)
  endif()

  # The names of the generated files come from the options file, so a change of it configures anew.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${options})
  file(STRINGS ${options} line REGEX "^[ \t]*namespace[ \t]" LIMIT_COUNT 1)
  if(NOT line MATCHES "namespace[ \t]+([A-Za-z0-9_:]*::)?([A-Za-z0-9_]+)")
    message(FATAL_ERROR "joedb_generate: ${options} has no line 'namespace NAME'")
  endif()
  set(name ${CMAKE_MATCH_2})
  set(outputs ${directory}/${name}.h)
  foreach(header readonly writable File_Database Memory_Database Readonly_Database
                 Writable_Database)
    list(APPEND outputs ${directory}/${name}/${header}.h)
  endforeach()

  # joedbc reads BASE.joedbi and BASE.joedbc: put the two side by side when they are not.
  set(side_by_side)
  if(NOT options STREQUAL "${base}.joedbc")
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_schema/${name})
    set(side_by_side
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_schema
      COMMAND ${CMAKE_COMMAND} -E copy ${schema} ${copy}.joedbi
      COMMAND ${CMAKE_COMMAND} -E copy ${options} ${copy}.joedbc)
    set(base ${copy})
  endif()

  add_custom_command(
    OUTPUT ${outputs}
    ${side_by_side}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${directory}
    COMMAND $<TARGET_FILE_DIR:joedb_program>/joedbc --output ${directory} ${base}
    DEPENDS ${schema} ${options} joedb_program
    COMMENT "Compiling schema ${name}"
    VERBATIM)
  add_custom_target(${arg_TARGET}_files DEPENDS ${outputs})
  add_library(${arg_TARGET} INTERFACE)
  add_dependencies(${arg_TARGET} ${arg_TARGET}_files)
  target_include_directories(${arg_TARGET} INTERFACE ${directory})
  target_link_libraries(${arg_TARGET} INTERFACE joedb::joedb)
endfunction()
