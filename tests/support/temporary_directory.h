#ifndef JOEDB_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H
#define JOEDB_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace joedb::testing {

// A new, empty directory for one test. The destructor removes it.
class Temporary_Directory {
 public:
  Temporary_Directory() : path_(std::filesystem::temp_directory_path() / "joedb_test_XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::runtime_error("cannot make a temporary directory like " + path_);
  }
  ~Temporary_Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Temporary_Directory(const Temporary_Directory&) = delete;
  Temporary_Directory& operator=(const Temporary_Directory&) = delete;

  const std::string& path() const { return path_; }

  // Returns the path of a file in the directory.
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  std::string read(std::string_view name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

}  // namespace joedb::testing

#endif
