#include "tools/frame/replaced_file.h"

#include <cstdio>
#include <filesystem>

namespace joedb {

static void require_one_name(const std::string& path) {
  const auto names = std::filesystem::hard_link_count(path);
  if (names == 1) return;
  throw Exception("the file has " + std::to_string(names) +
                  " names (hard links), and the others would keep the old content. Remove them, "
                  "or write to another file");
}

Kept_File::Kept_File(const std::string& path, std::string kept)
    : path_(path), kept_(std::move(kept)) {
  if (kept_.empty()) return;
  std::error_code error;
  std::filesystem::create_hard_link(path, kept_, error);
  if (error) throw_io_error("keeping " + path + " as", kept_, -1, error.value());
}

Kept_File::~Kept_File() {
  std::error_code ignored;
  if (!kept_.empty() && std::filesystem::equivalent(path_, kept_, ignored))
    std::filesystem::remove(kept_, ignored);
}

Replaced_File::Replaced_File(const std::string& name)
    : path_(file_to_replace(name)), file_(path_, Open_Mode::write_existing) {
  if (file_.get_size() == 0) throw Exception("the file is empty, and no database");
  require_alone(file_);
  require_one_name(path_);
}

void print_saved(const std::string& name, Offset before, Offset after) {
  std::printf("%s: %lld bytes, %lld before", name.c_str(), static_cast<long long>(after),
              static_cast<long long>(before));
  if (after <= before)
    std::printf(" (%.1f %% saved)",
                100 * (1 - static_cast<double>(after) / static_cast<double>(before)));
  std::printf("\n");
}

}  // namespace joedb
