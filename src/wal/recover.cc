#include "joedb/wal/recover.h"

#include <algorithm>
#include <array>

#include "joedb/base/bytes.h"
#include "joedb/wal/reader.h"
#include "wal/recovery.h"

namespace joedb::inline v1::wal {

std::string Report::text() const {
  std::string text = std::to_string(entries) + (entries == 1 ? " entry" : " entries");
  if (entries > 0)
    text += ", " + std::to_string(first_sequence) + " to " + std::to_string(last_sequence());
  text += "; at offset " + std::to_string(end.position.offset) + ": " + end.text();
  if (later_entries > 0)
    text += "; behind it, from offset " + std::to_string(later_offset) + ", " +
            std::to_string(later_entries) + " good " + (later_entries == 1 ? "entry" : "entries");
  if (later_entries > 0)
    text += is_damaged() ? ": entries that were durable are damaged"
                         : ": what a power cut leaves of entries that were not durable yet";
  return text;
}

std::optional<std::string_view> read_good_entry(Source& source, Offset offset, std::uint32_t epoch,
                                                Entry_Header& header) {
  std::string_view bytes = source.view(offset, entry_header_size);
  if (bytes.size() < entry_header_size) return std::nullopt;
  header = load<Entry_Header>(bytes.data());
  const std::size_t size = entry_header_size + length_of(header);
  if (header.sequence == 0 || static_cast<Offset>(size) > source.size() - offset)
    return std::nullopt;
  bytes = source.view(offset, size);
  if (bytes.size() < size || entry_crc(bytes, epoch) != header.crc) return std::nullopt;
  return bytes;
}

void find_later_entries(const Abstract_File& file, const Header& header, Position end,
                        const std::function<void(const Later_Entry&)>& f) {
  File_Source source(file);
  source.refresh();
  const std::uint32_t epoch = epoch_crc(header);
  const Offset last = source.size() - static_cast<Offset>(entry_header_size);
  const auto most = static_cast<std::uint64_t>(std::max<Offset>(last - end.offset, 0)) / 8 + 1;
  // Where everything looks like an entry, but is none, somebody has made it so.
  std::uint64_t budget = 64 * (most + (std::uint64_t{1} << 20));
  for (Offset offset = end.offset; offset <= last;) {
    const std::string_view bytes = source.view(offset, entry_header_size);
    if (bytes.size() < entry_header_size) break;
    Entry_Header entry = load<Entry_Header>(bytes.data());
    const std::size_t length = length_of(entry);
    if (entry.sequence < end.sequence || entry.sequence - end.sequence > most ||
        static_cast<Offset>(length) > last - offset) {
      offset += 8;
    } else if (read_good_entry(source, offset, epoch, entry)) {
      f({offset, entry});
      offset += static_cast<Offset>(padded_size(length_of(entry)));
    } else {
      if (budget < length) return;
      budget -= length;
      offset += 8;
    }
  }
}

static void find_later(const Abstract_File& file, Report& report) {
  if (report.format == Format::cwal) {
    // Where only the bytes of an entry are wrong, the next one is good.
    if (report.end.stop != Stop::checksum) return;
    std::array<char, 8> bytes;
    file.read_exactly(bytes.data(), bytes.size(), report.end.position.offset);
    const Offset next = report.end.position.offset + static_cast<Offset>(cwal_overhead) +
                        static_cast<Offset>(load<std::uint64_t>(bytes.data()));
    Reader reader(file);
    try {
      reader.seek({report.end.position.sequence + 1, next});
    } catch (const Exception&) {
      return;
    }
    report.later_offset = next;
    while (reader.next()) ++report.later_entries;
    return;
  }
  const auto found = read_header(file);
  if (!found) return;
  find_later_entries(file, found->header, report.end.position, [&](const Later_Entry& entry) {
    if (report.later_offset == 0) report.later_offset = entry.offset;
    report.later_entries += !is_marker(entry.header);
    report.known_durable = std::max(report.known_durable, durable_before(entry.header));
  });
}

Report examine(const Abstract_File& file) {
  Reader reader(file);
  Report report;
  report.first_sequence = reader.position().sequence;
  while (const auto entry = reader.next()) {
    ++report.entries;
    report.bytes += entry->bytes.size();
  }
  report.format = reader.format();
  report.log_id = reader.log_id();
  report.epoch = reader.epoch();
  report.last_crc = reader.last_crc();
  report.end = reader.end();
  report.file_size = file.get_size();
  find_later(file, report);
  return report;
}

void require_log(const Abstract_File& file, const Report& report) {
  if (report.end.position.offset == 0 && report.end.stop != Stop::clean)
    throw Corruption_Error(file.get_name() +
                               " is no log: it begins neither with a header of this "
                               "library nor with a good entry of CWal",
                           0);
}

void clear_tail(Abstract_File& file, const Header& header, Position end) {
  constexpr auto size = static_cast<Offset>(entry_header_size);
  const Offset file_size = file.get_size();
  bool is_clear = false;
  if (file_size < end.offset)  // it was cut in its header
    file.write_zeros(file_size, end.offset);
  else if (!file.is_zero(end.offset, std::min(end.offset + size, file_size)))
    file.write_zeros(end.offset, end.offset + size);
  else
    is_clear = true;
  find_later_entries(file, header, end, [&](const Later_Entry& entry) {
    is_clear = false;
    file.write_zeros(entry.offset, entry.offset + size);
  });
  if (!is_clear) file.datasync();
}

Report recover(Abstract_File& file, Tail tail) {
  Report report = examine(file);
  const Offset end = report.end.position.offset;
  if (tail == Tail::keep || end == report.file_size) return report;
  require_log(file, report);
  if (end == 0) return report;  // a new file
  if (end > report.file_size)
    file.write_zeros(report.file_size, end);  // it was cut in its header
  else if (tail == Tail::zero || !file.truncate(end))
    file.write_zeros(end, report.file_size);
  file.datasync();
  return report;
}

}  // namespace joedb::inline v1::wal
