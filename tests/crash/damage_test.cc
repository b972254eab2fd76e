#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "commands/interpreter.h"
#include "crash/allocations.h"
#include "crash/watch.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "sim/lab/random.h"
#include "support/file_uses.h"

// Damages files in all ways known from disks, networks and people, at all positions, and uses them
// in all ways that programs do. A failure ends the program, and prints how to reproduce it:
//
//     JOEDB_DAMAGE='everything flip 4711' joedb_damage_tests
//
// JOEDB_DAMAGE_STEP=1 damages every position. The default skips some, to bound the run time.

namespace joedb {
namespace {

namespace allocations = testing::allocations;

constexpr std::int64_t memory_limit = std::int64_t{64} << 20;
constexpr int seconds_for_each_file = 20;
#ifdef JOEDB_SANITIZED
constexpr std::size_t slowness = 7;  // with sanitizers
#else
constexpr std::size_t slowness = 1;
#endif
constexpr std::size_t sector = 16;  // sector size of a simulated disk, in proportion to these files

struct Reference {
  std::string name;
  std::string bytes;
};

// ---- reference files ----------------------------------------------------------------------------

std::string journal_of(const std::vector<std::string>& sessions) {
  Memory_File file;
  for (const std::string& commands : sessions) {
    Writable_Database db(file);
    run_text(commands, db);
    db.soft_checkpoint();
  }
  return {file.get_data().begin(), file.get_data().end()};
}

std::vector<Reference> files_of_this_test() {
  const std::string schema =
      "create_table t\nadd_field t s string\nadd_field t r references t\nadd_field t b boolean\n"
      "add_field t i8 int8\nadd_field t i16 int16\nadd_field t i32 int32\nadd_field t i64 int64\n"
      "add_field t f float32\nadd_field t d float64\nadd_field t x blob\n";
  const std::string rows =
      "insert_into t 0 \"\" -1 false 0 0 0 0 0 0 0,0\n"
      "insert_into t 1 \"longer than a handle\" 0 true -1 -2 -3 -4 0.5 0.25 41,2\n"
      "insert_into t 2 \"\xc3\xa9\" 1 true 127 32767 2147483647 9223372036854775807 1e30 1e300 "
      "0,0\n";
  const std::string vectors =
      "insert_vector t 3 4\nupdate_vector t 3 s 4 a \"bb\" \"a text of twenty bytes\" d\n"
      "update_vector t 3 r 4 0 1 2 -1\nupdate_vector t 3 b 4 true false true false\n"
      "update_vector t 3 i8 4 1 2 3 4\nupdate_vector t 3 i16 4 1 2 3 4\n"
      "update_vector t 3 i32 4 1 2 3 4\nupdate_vector t 3 i64 4 1 2 3 4\n"
      "update_vector t 3 f 4 1 2 3 4\nupdate_vector t 3 d 4 1 2 3 4\n"
      "update_vector t 3 x 4 41,1 42,2 0,0 41,9\n";
  const std::string changes =
      "create_table u\nadd_field u n int32 = 7\ninsert_into u 5 1\ninsert_into u 2 2\n"
      "rename_table u v\nrename_field v n m\nadd_field v t references t\ndrop_field t i16\n"
      "drop_table v\ncustom nothing\ncreate_table w\nadd_field w name string\n";
  const std::string deletes =
      "delete_from t 1\ndelete_from t 0\ninsert_into t 1\ndelete_vector t 3 2\ninsert_into t 40\n";
  const std::string marks =
      "comment \"a comment\"\ntimestamp 1700000000\nvalid_data\nwrite_blob \"some bytes\"\n";
  const std::string every = schema + rows + vectors + marks + changes + deletes;
  const auto after = [](std::string text, const std::string& command) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 1 + command.size())
      text.insert(at + 1, command);
    return text;
  };
  return {
      {"everything", journal_of({every})},
      {"two_hard_slots", journal_of({schema + "hard_checkpoint\n", rows + "hard_checkpoint\n"})},
      {"soft_after_hard", journal_of({schema + "hard_checkpoint\n" + rows, vectors, deletes})},
      {"many_soft", journal_of({after(schema + rows, "checkpoint\n")})},
      {"many_blobs",
       journal_of({after(schema + rows, "write_blob \"blob_data of some bytes\"\n")})},
      {"deletes", journal_of({schema + rows + vectors + deletes})}};
}

std::vector<Reference> files_of_corpus() {
  std::vector<Reference> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(JOEDB_SOURCE_DIR "/tests/fuzz/corpus/journal")) {
    std::ifstream in(entry.path(), std::ios::binary);
    files.push_back({entry.path().filename().string(), {std::istreambuf_iterator<char>(in), {}}});
  }
  std::sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return files;
}

// Returns closed files in which every single flipped bit must be detected, or change nothing: files
// with integrity entries, either before each checkpoint or sparse, as new journals have them.
std::vector<Reference> files_with_integrity() {
  std::vector<Reference> files;
  for (const bool is_hard : {false, true})
    for (const Integrity kind : {Integrity::each_checkpoint, Integrity::sparse}) {
      Memory_File file;
      {
        Journal_Options options;
        options.has_integrity = true;
        Writable_Database database(file, options);
        if (kind == Integrity::each_checkpoint) database.enable_integrity();
        for (const char* const name : {"first", "second"}) {
          database.write(Create_Table{name});
          database.write(Comment{"a text of some length"});
          database.checkpoint(is_hard ? Checkpoint_Level::hard : Checkpoint_Level::soft);
        }
      }
      const std::string name =
          std::string(is_hard ? "hard" : "soft") + (kind == Integrity::sparse ? "_sparse" : "");
      files.push_back({name, {file.get_data().begin(), file.get_data().end()}});
    }
  return files;
}

// ---- damage -------------------------------------------------------------------------------------

// Replaces the header by one whose checkpoint is the end of the file.
std::string believed(std::string bytes) {
  if (bytes.size() < header_size) return bytes;
  const auto size = static_cast<std::int64_t>(bytes.size());
  Header header;
  header.checkpoints = {size, size, journal_start, journal_start};
  const auto encoded = encode_header(header);
  return bytes.replace(0, header_size, encoded.data(), encoded.size());
}

std::size_t sectors(const std::string& bytes) { return (bytes.size() + sector - 1) / sector; }

struct Kind {
  const char* name;
  std::size_t (*count)(const std::string& bytes);  // number of positions
  std::string (*damage)(std::string bytes, std::size_t place);
};

constexpr Kind kinds[] = {
    {"flip", [](const std::string& bytes) { return 8 * bytes.size(); },
     [](std::string bytes, std::size_t place) {
       bytes[place / 8] = static_cast<char>(bytes[place / 8] ^ 1 << place % 8);
       return bytes;
     }},
    {"truncate", [](const std::string& bytes) { return bytes.size(); },
     [](std::string bytes, std::size_t place) { return bytes.substr(0, place); }},
    {"truncate_believed", [](const std::string& bytes) { return bytes.size(); },
     [](std::string bytes, std::size_t place) { return believed(bytes.substr(0, place)); }},
    {"zero", sectors,
     [](std::string bytes, std::size_t place) {
       const std::size_t start = place * sector;
       std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(start),
                   std::min(sector, bytes.size() - start), '\0');
       return bytes;
     }},
    {"ones", sectors,
     [](std::string bytes, std::size_t place) {
       const std::size_t start = place * sector;
       std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(start),
                   std::min(sector, bytes.size() - start), '\xff');
       return bytes;
     }},
    // Swaps two sectors: all pairs.
    {"swap", [](const std::string& bytes) { return sectors(bytes) * sectors(bytes); },
     [](std::string bytes, std::size_t place) {
       const std::size_t n = sectors(bytes);
       std::size_t a = place / n * sector;
       std::size_t b = place % n * sector;
       for (std::size_t i = 0; i < sector && std::max(a, b) < bytes.size(); ++i)
         std::swap(bytes[a++], bytes[b++]);
       return bytes;
     }},
    {"repeat", sectors,
     [](std::string bytes, std::size_t place) {
       return bytes.insert(place * sector, bytes, place * sector, sector);
     }},
    {"repeat_believed", sectors,
     [](std::string bytes, std::size_t place) {
       return believed(bytes.insert(place * sector, bytes, place * sector, sector));
     }},
    {"copy_to_next", sectors,
     [](std::string bytes, std::size_t place) {
       const std::string old = bytes.substr(place * sector, sector);
       const std::size_t next = std::min((place + 1) * sector, bytes.size());
       return bytes.replace(next, std::min(old.size(), bytes.size() - next), old, 0,
                            bytes.size() - next);
     }},
    {"tail", [](const std::string&) { return std::size_t{64}; },
     [](std::string bytes, std::size_t place) {
       testing::Random random(place);
       for (std::size_t i = 0; i <= place; ++i) bytes += static_cast<char>(random.below(256));
       return bytes;
     }},
    {"tail_believed", [](const std::string&) { return std::size_t{64}; },
     [](std::string bytes, std::size_t place) {
       testing::Random random(place);
       for (std::size_t i = 0; i <= place; ++i) bytes += static_cast<char>(random.below(256));
       return believed(bytes);
     }},
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Calls use() for every step-th position of each kind of damage; for fewer with sanitizers.
template <class Use>
void damage_all(const std::vector<Reference>& files, std::size_t step, Use use) {
  const std::string only = variable("JOEDB_DAMAGE");
  const std::string given_step = variable("JOEDB_DAMAGE_STEP");
  step = given_step.empty() ? step * slowness : std::max<std::size_t>(1, std::stoul(given_step));
  testing::Watch watch(seconds_for_each_file);
  allocations::reset_peak();
  std::size_t cases = 0;
  std::int64_t max_columns = 0;
  std::string max_name = "none";
  for (const Reference& file : files) {
    for (const Kind& kind : kinds) {
      const std::size_t count = kind.count(file.bytes);
      // The first position varies, so that all bits of a byte and all parts of a sector are
      // covered.
      for (std::size_t place = only.empty() ? cases % step : 0; place < count;
           place += only.empty() ? step : 1) {
        const std::string name = file.name + ' ' + kind.name + ' ' + std::to_string(place);
        if (!only.empty() && name != only) continue;
        watch.begin("JOEDB_DAMAGE='" + name + "' joedb_damage_tests");
        const std::string damaged = kind.damage(file.bytes, place);
        allocations::set_limit(allocations::live().bytes + memory_limit);
        use(file, damaged, std::string_view(kind.name));
        allocations::set_limit(std::numeric_limits<std::int64_t>::max());
        if (allocations::column_peak() > max_columns) {
          max_columns = allocations::column_peak();
          max_name = name;
        }
        ++cases;
      }
    }
  }
  std::printf("%zu damaged files; at most %lld KiB of memory, %lld KiB of large columns (%s)\n",
              cases, static_cast<long long>(allocations::peak() >> 10),
              static_cast<long long>(max_columns >> 10), max_name.c_str());
}

// ---- tests --------------------------------------------------------------------------------------

TEST(Damage, ADamagedFileIsReadOrRefusedByEveryOneWhoUsesIt) {
  damage_all(files_of_this_test(), 5,
             [](const Reference&, const std::string& damaged, std::string_view) {
               testing::use_file(damaged);
             });
}

TEST(Damage, ADamagedFileOfTheCorpusIsReadOrRefusedByEveryOneWhoUsesIt) {
  damage_all(files_of_corpus(), 17,
             [](const Reference&, const std::string& damaged, std::string_view) {
               testing::use_file(damaged);
             });
}

TEST(Damage, AFileWithIntegrityEntriesIsRefusedOrReadsTheSameWhereABitHasFlipped) {
  damage_all(files_with_integrity(), 1,
             [](const Reference& file, const std::string& damaged, std::string_view kind) {
               if (kind != "flip") return;
               const auto content = testing::content_of(damaged);
               testing::require(!content || content == testing::content_of(file.bytes),
                                "damage was neither found nor harmless");
             });
}

TEST(Damage, TheReferenceFilesAreGood) {
  for (const Reference& file : files_of_this_test()) {
    EXPECT_TRUE(testing::content_of(file.bytes)) << file.name;
    EXPECT_LT(file.bytes.size(), 4096) << file.name;
    testing::use_file(file.bytes);
  }
}

}  // namespace
}  // namespace joedb
