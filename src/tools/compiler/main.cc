// joedbc for joedb_generate: has only the compiler, so a project builds it much faster than all
// tools. `joedb compile` has more options.

#include <exception>
#include <iostream>
#include <string>

#include "tools/compiler/compile_schema.h"

int main(int argc, char** argv) {
  using namespace joedb;
  if (argc != 4 || std::string(argv[1]) != "--output") {
    std::cerr << "usage: joedbc --output DIRECTORY BASE\n";
    return 2;
  }
  try {
    compiler::compile_schema(argv[3], compiler::Language::cpp, argv[2], New_File::Existing::refuse);
    return 0;
  } catch (const compiler::Schema_Errors& errors) {
    std::cerr << errors.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << '\n';
  }
  return 1;
}
