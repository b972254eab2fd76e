#ifndef JOEDB_SRC_TOOLS_SCHEMA_INIT_FILES_H
#define JOEDB_SRC_TOOLS_SCHEMA_INIT_FILES_H

// The files that `joedb init` creates for a project. @NAME@ is replaced by the name of the project.

namespace joedb {

struct Init_File {
  const char* name;
  const char* content;
};

inline constexpr Init_File init_files[] = {
    {"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_package(joedb CONFIG REQUIRED)

joedb_generate(TARGET @NAME@_schema SCHEMA @NAME@.joedbi)
add_executable(@NAME@ main.cc)
target_link_libraries(@NAME@ PRIVATE @NAME@_schema)
)"},

    {"@NAME@.joedbi",
     R"(# The schema. Append lines at its end; do not change lines with which a file was created.
create_table note
add_field note text string
add_field note created int64
)"},

    {"@NAME@.joedbc", R"(# How the schema becomes C++.
namespace @NAME@_db
timestamp_transactions
create_unique_index note_by_text note text
)"},

    {"main.cc", R"(#include <ctime>
#include <exception>
#include <iostream>
#include <string_view>

#include "@NAME@_db.h"

// Keeps each argument as a note, unless there is one like it, then prints all notes.
static void run(int argc, char** argv) {
  @NAME@_db::File_Database db("@NAME@.joedb");

  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    if (db.find_note_by_text(text).is_null()) db.new_note(text, std::time(nullptr));
  }
  db.soft_checkpoint();

  for (const auto note : db.get_note_table()) std::cout << db.get_text(note) << '\n';
}

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
)"},

    {".gitignore", R"(/build/
*.joedb
)"},

    {"README.md", R"(# @NAME@

A program with a joedb database. It needs an installed joedb, CMake 3.25, and a compiler for C++20:

    cmake -S . -B build
    cmake --build build
    build/@NAME@ "a note"

If joedb is not where CMake looks for packages, say where: `-DCMAKE_PREFIX_PATH=$HOME/.local`.

| file | |
|---|---|
| `@NAME@.joedbi` | the schema. Lines that you append to it are applied to existing files when they are opened |
| `@NAME@.joedbc` | the namespace, indexes and other options of the generated code |
| `main.cc` | the program. Generated code is in `build/joedb_generated/@NAME@_db.h` |
| `@NAME@.joedb` | the database, in the directory where the program runs |

To look at the database: `joedbi --read @NAME@.joedb`. Its history: `joedb log @NAME@.joedb`. To check a change of
the schema: `joedbc --check @NAME@`.
)"},
};

}  // namespace joedb

#endif
