#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzzers.h"
#include "joedb/base/log.h"
#include "joedb/io/memory_file.h"
#include "joedb/wal/log.h"
#include "support/file_uses.h"

namespace joedb::testing {

namespace {

using wal::Reader;
using wal::Stop;

struct Content {
  std::vector<std::string> entries;
  wal::End end;
};

Content content_of(const Abstract_File& file) {
  Content content;
  Reader reader(file);
  std::uint64_t sequence = reader.position().sequence;
  while (const auto entry = reader.next()) {
    require(entry->position.sequence == sequence++, "an entry with another number");
    content.entries.emplace_back(entry->text());
  }
  content.end = reader.end();
  require(!reader.next() && reader.end().position == content.end.position, "another end");
  return content;
}

Memory_File& fill(Memory_File& file, std::string_view bytes) {
  file.get_data().assign(bytes.begin(), bytes.end());
  return file;
}

void check_report(const wal::Report& report, const Content& content) {
  require(report.entries == content.entries.size(), "a report with another number of entries");
  require(report.end.stop == content.end.stop && report.end.position == content.end.position,
          "a report with another end");
  std::uint64_t bytes = 0;
  for (const std::string& entry : content.entries) bytes += entry.size();
  require(report.bytes == bytes, "a report with another number of bytes");
  require(!report.text().empty(), "a report without a text");
}

// Requires that a recovery keeps all valid entries, and leaves none after them.
void check_recovery(std::string_view input, Content content, wal::Tail tail) {
  Memory_File file;
  try {
    const wal::Report report = wal::recover(fill(file, input), tail);
    check_report(report, content);
    // In this format, zeros are empty entries, except where nothing else follows.
    if (report.format == wal::Format::cwal)
      while (!content.entries.empty() && content.entries.back().empty()) content.entries.pop_back();
  } catch (const Corruption_Error&) {
    require(std::string_view(file.get_data().data(), file.get_data().size()) == input,
            "a recovery that fails has changed the file");
    return;
  }
  const Content after = content_of(file);
  require(after.entries == content.entries, "a recovery has changed entries");
  require(after.end.stop == Stop::clean, "no clean end after a recovery");
  const wal::Report report = wal::examine(file);
  require(report.later_entries == 0, "good entries behind the end after a recovery");
  // A file that was truncated inside its header is extended to the size of the header.
  const auto end = static_cast<std::size_t>(report.end.position.offset);
  if (tail == wal::Tail::zero)
    require(file.get_data().size() == std::max(input.size(), end),
            "a recovery with zeros has another size");
}

// Requires that a writer refuses the file, or appends after the valid entries.
void check_writer(std::string_view input, Content content, Offset preallocate, bool rotates) {
  Memory_File file;
  fill(file, input);
  try {
    wal::Writer log(file, {.preallocate = preallocate});
    if (rotates) {
      log.rotate();
      content.entries.clear();
    }
    log.append("new");
    log.append(std::string(100, 'x'));
    log.sync();
  } catch (const Exception&) {
    return;
  }
  content.entries.emplace_back("new");
  content.entries.emplace_back(100, 'x');
  const Content after = content_of(file);
  require(after.entries == content.entries, "a writer does not go on with the entries");
  require(after.end.stop == Stop::clean || after.end.stop == Stop::wrong_epoch,
          "a log that ends badly behind its writer");
}

void check_seeks(const Abstract_File& file) {
  std::vector<wal::Position> positions;
  Reader reader(file);
  while (const auto entry = reader.next()) positions.push_back(entry->position);
  for (const wal::Position& position : positions) {
    reader.seek(position);
    const auto entry = reader.next();
    require(entry && entry->position == position, "an entry cannot be found again");
  }
}

}  // namespace

void fuzz_wal(std::string_view input) {
  Destructor_Logger::remove_logger();
  const Readonly_Memory_File file(input);
  Content content;
  try {
    content = content_of(file);
  } catch (const Corruption_Error&) {  // no header is valid
    check_writer(input, {}, 0, false);
    return;
  }
  try {
    check_report(wal::examine(file), content);
  } catch (const Corruption_Error&) {  // too many bytes that look like entries
  }
  check_seeks(file);
  check_recovery(input, content, wal::Tail::truncate);
  check_recovery(input, content, wal::Tail::zero);
  check_writer(input, content, 0, false);
  check_writer(input, content, 64, false);
  check_writer(input, content, 0, true);
  check_writer(input, content, 256, true);
}

}  // namespace joedb::testing
