#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>

#include "joedb/schema/type.h"
#include "kernel/base/shell_word.h"
#include "kernel/io/new_file.h"
#include "tools/frame/command.h"
#include "tools/frame/output.h"
#include "tools/frame/parser.h"
#include "tools/schema/init_files.h"

namespace joedb {

namespace {

namespace fs = std::filesystem;

// Reserved names: of CMake targets, and of files at the path of the program.
constexpr std::array reserved_names{
    "all",     "clean",      "edit_cache",    "help", "install",    "list_install_components",
    "package", "preinstall", "rebuild_cache", "test", "CMakeFiles", "joedb_generated"};

void check_name(const std::string& name, const Words& words) {
  if (!is_identifier(name) || name.starts_with('_') || name.ends_with('_'))
    words.fail("\"" + name +
               "\" cannot be the name of a project: it needs letters, digits and single "
               "underscores between them, and no digit at the start");
  if (std::find(reserved_names.begin(), reserved_names.end(), name) != reserved_names.end())
    words.fail(name + " cannot be the name of a project: CMake uses it");
  constexpr std::size_t longest = 100;
  if (name.size() > longest) words.fail("the name of a project has at most 100 letters");
}

std::string replaced(std::string text, const std::string& name) {
  constexpr std::string_view mark = "@NAME@";
  for (std::size_t i = 0; (i = text.find(mark, i)) != text.npos; i += name.size())
    text.replace(i, mark.size(), name);
  return text;
}

// A temporary directory. The destructor removes it, unless it was renamed.
class New_Folder {
 public:
  explicit New_Folder(const fs::path& name)
      : path_(name.string() + ".tmp-" + std::to_string(::getpid())) {
    std::error_code error;
    fs::create_directory(path_, error);
    if (error) throw_io_error("making", name.string(), -1, error.value());
  }
  ~New_Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  New_Folder(const New_Folder&) = delete;
  New_Folder& operator=(const New_Folder&) = delete;

  const fs::path& path() const { return path_; }
  // Replaces the directory `name` if it exists and is empty.
  void rename_to(const fs::path& name) { fs::rename(path_, name); }

 private:
  const fs::path path_;
};

void write_project(const fs::path& folder, const std::string& name) {
  New_Folder project(folder);
  for (const Init_File& file : init_files) {
    const std::string content = replaced(file.content, name);
    write_new_file((project.path() / replaced(file.name, name)).string(),
                   New_File::Existing::refuse, content);
  }
  project.rename_to(folder);
}

const char* const init_details =
    R"(The last part of FOLDER names the project, its program and its database. FOLDER must not exist, or
must be empty. These files are created:
  CMakeLists.txt   builds the program with an installed joedb
  NAME.joedbi      the schema: one table
  NAME.joedbc      options of the generated code, with an index
  main.cc          the program: stores its arguments as notes, and prints all notes
  .gitignore
  README.md        next steps
)";

}  // namespace

int run_init(std::vector<std::string> arguments) {
  Options options({"joedb init FOLDER", "Creates a project that builds and runs.", init_details,
                   "  joedb init shop\n"});
  options.set_words({kinds::directory});
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  fs::path folder = words->take_last_name();
  if (!folder.has_filename()) folder = folder.parent_path();  // for a name like "shop/"
  const std::string name = folder.filename().string();
  check_name(name, *words);
  if (fs::exists(fs::symlink_status(folder)) &&
      !(fs::is_directory(folder) && !fs::is_symlink(folder) && fs::is_empty(folder)))
    throw Exception(folder.string() +
                    ": exists, and is not an empty folder; give the name of a new one");
  write_project(folder, name);
  const std::string shown = shell_word(folder.string());
  std::cout << folder.string() << ": a project that uses joedb. Build it, and run it:\n"
            << "  cmake -S " << shown << " -B " << shown << "/build && cmake --build " << shown
            << "/build\n  " << shown << "/build/" << name << " \"a note\"\n";
  finish_standard_output();
  return 0;
}

}  // namespace joedb
