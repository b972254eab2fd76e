#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "joedb/wal/segments.h"
#include "support/temporary_directory.h"
#include "wal/format.h"

namespace joedb::wal {
namespace {

// A segment has room for three entries of 1,000 bytes.
constexpr Segment_Options three_entries{.segment_size = log_start + 3 * 1024, .spare_segments = 2};
constexpr std::uint64_t last = 450;

// Reads up to the last entry. Each entry must be found, or have been released.
void read_all(const std::string& directory) {
  Segmented_Reader reader(directory);
  for (std::uint64_t sequence = 0; sequence < last;) {
    const auto entry = reader.wait_for_next(std::chrono::milliseconds(100));
    if (entry) {
      EXPECT_EQ(entry->position.sequence, std::stoull(std::string(entry->text())));
      EXPECT_TRUE(entry->position.sequence == sequence + 1 || sequence == 0);
      sequence = entry->position.sequence;
    } else if (reader.end().stop == Stop::overwritten) {
      sequence = 0;  // continues after the released entries
      reader.seek_first();
    } else {
      ASSERT_NE(Stop::missing, reader.end().stop) << "before entry " << sequence + 1;
    }
  }
}

TEST(Wal_Segments_Threads, AreReadWhileTheyAreWrittenReleasedAndRecycled) {
  const testing::Temporary_Directory directory;
  const std::string name = directory.file("log");
  Segmented_Writer log(name, {}, three_entries);
  std::jthread first_reader([&] { read_all(name); });
  std::jthread other_reader([&] { read_all(name); });
  std::string text;
  for (std::uint64_t sequence = 1; sequence <= last; ++sequence) {
    text = std::to_string(sequence) + " ";
    text.resize(1000, 'x');
    log.append(text);
    log.flush();
    if (sequence > 12 && sequence % 5 == 0) log.release(sequence - 12);
  }
}

}  // namespace
}  // namespace joedb::wal
