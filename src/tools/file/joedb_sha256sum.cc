#include <cstdio>

#include "share/network/content_hash.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/json_output.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"

namespace joedb {

namespace {

const char* const sha256sum_details =
    R"(The hash covers all bytes before the checkpoint except the header, which holds the checkpoint: it is
the same for all copies of a database, and equal to the output of sha256sum for the same bytes. With
--fast, files of 4 MiB or more are hashed by 256 samples; compare such a hash only with other hashes
of --fast.

)";

// The words of a Content_Hash are little-endian.
std::string text_of(const network::Content_Hash& hash) {
  std::string text;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(hash[i ^ 3]));
    text += digits;
  }
  return text;
}

}  // namespace

int run_sha256sum(std::vector<std::string> arguments) {
  Options options({"joedb_sha256sum [options] FILE...",
                   "Prints a hash of the journal of each database, for comparing copies.",
                   sha256sum_details, "  joedb_sha256sum people.joedb backup.joedb\n"});
  bool is_fast = false;
  options.add_flag("--fast", is_fast, "hash only samples of large files");
  bool is_json = false;
  options.add_flag("--json", is_json, "print one JSON object per file");
  Reading_Options reading;
  add_reading_options(options, reading);
  Source_Options source;
  add_source_options(options, source);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  do {
    const auto file = open_source(words->take_name(), source);
    const std::string& name = file->get_name();
    Offset end = 0;
    const network::Content_Hash hash = name_file_in_errors(name, [&] {
      const Readonly_Journal journal(*file, reading.get_recovery());
      end = std::min(reading.end_of(journal), journal.get_checkpoint());
      Progress progress("reading " + name, journal_start, end);
      const Progress_File watched(*file, progress);
      return network::content_hash([&](char* data, std::size_t size,
                                       Offset offset) { watched.read_exactly(data, size, offset); },
                                   end, !is_fast);
    });
    if (is_json)
      print_json({{"file", name}, {"sha256", text_of(hash)}, {"end", end}, {"fast", is_fast}});
    else
      std::cout << text_of(hash) << "  " << name << '\n' << std::flush;
  } while (!words->is_empty());
  finish_standard_output();
  return 0;
}

}  // namespace joedb
