#include "joedb/wal/log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "joedb/base/types.h"
#include "kernel/base/counted.h"
#include "kernel/base/zeros.h"
#include "kernel/io/file_pieces.h"
#include "wal/recovery.h"

namespace joedb::inline v1::wal {

std::string Report::text() const {
  std::string text = counted(entries, "entry", "entries");
  if (entries > 0)
    text += ", " + std::to_string(first_sequence) + " to " + std::to_string(last_sequence());
  text += "; at offset " + std::to_string(end.position.offset) + ": " + end.text();
  if (later_entries > 0)
    text += "; behind it, from offset " + std::to_string(later_offset) + ", " +
            counted(later_entries, "good entry", "good entries");
  if (is_damaged() && format == Format::checked)
    text += "; entry " + std::to_string(end.position.sequence) + " was durable and is damaged";
  else if (is_damaged())
    text += "; entry " + std::to_string(end.position.sequence) + " is damaged";
  else if (later_entries > 0)
    text += ", as a power cut leaves them if they were not durable";
  if (!saved.empty()) text += "; saved in " + saved;
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

// Returns the number of zero bytes from `offset` on in which no entry begins, because the header of
// an entry is never all zeros. The result is a multiple of 8.
static Offset zeros_without_entries(Source& source, Offset offset) {
  constexpr std::size_t most = std::size_t{1} << 18;
  const std::size_t zeros = count_zeros(source.view(offset, most));
  if (zeros < entry_header_size) return 0;
  return static_cast<Offset>((zeros - entry_header_size) / 8 * 8 + 8);
}

void find_later_entries(const Abstract_File& file, const Header& header, Position end,
                        const std::function<void(const Later_Entry&)>& f) {
  File_Source source(file);
  source.refresh();
  const std::uint32_t epoch = epoch_crc(header);
  const Offset last = source.size() - static_cast<Offset>(entry_header_size);
  const auto most = static_cast<std::uint64_t>(std::max<Offset>(last - end.offset, 0)) / 8 + 1;
  // Limits the work if a hostile file seems to have entries everywhere.
  std::uint64_t budget = 64 * (most + (std::uint64_t{1} << 20));
  for (Offset offset = end.offset; offset <= last;) {
    const std::string_view bytes = source.view(offset, entry_header_size);
    if (bytes.size() < entry_header_size) break;
    Entry_Header entry = load<Entry_Header>(bytes.data());
    const std::size_t length = length_of(entry);
    if (are_zeros(bytes)) {
      offset += zeros_without_entries(source, offset);
    } else if (entry.sequence < end.sequence || entry.sequence - end.sequence > most ||
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

// ---- the durable part ---------------------------------------------------------------------------

void Durable_Part::add(Position entry, Offset next, std::uint64_t known_durable) {
  if (entry.offset >= starts_.back().offset + step) starts_.push_back(entry);
  next_ = {entry.sequence, next};
  while (starts_.size() > 1 && starts_[1].sequence <= known_durable) starts_.pop_front();
}

// A mark between a durable entry and the next entry may not be durable. So the durable part ends at
// the start of a durable entry, or at the end of the last entry.
Offset Durable_Part::end(std::uint64_t known_durable) const {
  if (known_durable >= next_.sequence) return next_.offset;
  const auto after = std::upper_bound(
      starts_.begin() + 1, starts_.end(), known_durable,
      [](std::uint64_t known, const Position& start) { return known < start.sequence; });
  return std::prev(after)->offset;
}

// ---- examine ------------------------------------------------------------------------------------

void add_later(Report& report, const Later_Entry& entry) {
  if (report.later_offset == 0) report.later_offset = entry.offset;
  report.later_end = entry.offset + static_cast<Offset>(padded_size(length_of(entry.header)));
  report.later_entries += !is_marker(entry.header);
}

static void find_later(const Abstract_File& file, Report& report) {
  if (report.format == Format::cwal) {
    // If only the bytes of an entry are damaged, its length is correct, and the next entry is good.
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
    report.later_end = reader.position().offset;
    return;
  }
  const auto found = read_header(file);
  if (!found) return;
  find_later_entries(file, found->header, report.end.position, [&](const Later_Entry& entry) {
    add_later(report, entry);
    report.known_durable = std::max(report.known_durable, durable_before(entry.header));
  });
}

Report examine(const Abstract_File& file) {
  Reader reader(file);
  Report report;
  report.first_sequence = reader.position().sequence;
  const bool is_checked = reader.format() == Format::checked;
  Durable_Part durable(reader.position().offset);
  while (const auto entry = reader.next()) {
    ++report.entries;
    report.bytes += entry->bytes.size();
    if (is_checked)
      durable.add(entry->position,
                  entry->position.offset + static_cast<Offset>(padded_size(entry->bytes.size())),
                  reader.known_durable());
  }
  report.format = reader.format();
  report.log_id = reader.log_id();
  report.epoch = reader.epoch();
  report.last_crc = reader.last_crc();
  report.end = reader.end();
  report.file_size = file.get_size();
  report.known_durable = reader.known_durable();
  report.durable_offset = durable.end(report.known_durable);
  find_later(file, report);
  return report;
}

void require_log(const Abstract_File& file, const Report& report) {
  if (report.end.position.offset == 0 && report.end.stop != Stop::clean)
    throw Corruption_Error(file.get_name() +
                               " is no log: it begins neither with a header of this "
                               "library nor with a good entry of CWal",
                           0, file.get_name());
}

// ---- bytes after the end ------------------------------------------------------------------------

void clear_tail(Abstract_File& file, const Header& header, Position end, bool may_have_later) {
  constexpr auto size = static_cast<Offset>(entry_header_size);
  const Offset file_size = file.get_size();
  bool is_clear = false;
  if (file_size < end.offset)  // truncated in its header or in padding
    file.write_zeros(file_size, end.offset);
  else if (!is_zero(file, end.offset, std::min(end.offset + size, file_size)))
    file.write_zeros(end.offset, end.offset + size);
  else
    is_clear = true;
  if (may_have_later)
    find_later_entries(file, header, end, [&](const Later_Entry& entry) {
      is_clear = false;
      file.write_zeros(entry.offset, entry.offset + size);
    });
  if (!is_clear) file.datasync();
}

namespace {

// A part of a log, saved in a file that is itself a log with the same header. The first entry of
// the part is missing or damaged. In format `cwal`, the part has only good entries.
struct Saved_Part {
  const Abstract_File& log;
  Offset start, end;
  std::optional<Header> header;

  Offset shift() const { return (header ? log_start : 0) - start; }

  // Calls f(bytes, offset), where `offset` is the place of the bytes in the saved file.
  template <class F>
  void for_each_block(F f) const {
    for_each_piece(log, start, end, std::size_t{1} << 16,
                   [&](std::string_view bytes, Offset offset) { f(bytes, offset + shift()); });
  }

  bool is_in(const Abstract_File& file) const {
    if (file.get_size() != end + shift()) return false;
    if (header) {
      const auto found = read_header(file);
      if (!found || found->header != *header) return false;
    }
    bool is_same = true;
    std::vector<char> other;
    for_each_block([&](std::string_view bytes, Offset offset) {
      other.resize(bytes.size());
      file.read_exactly(other.data(), other.size(), offset);
      is_same = is_same && bytes == std::string_view(other.data(), other.size());
    });
    return is_same;
  }

  // The header is written last, because a file without a header counts as incomplete. Everything is
  // written even if the file exists, because the existing file may be in memory only.
  void write_to(Abstract_File& file) const {
    if (header) {
      file.pwrite(magic.data(), magic.size(), 0);
      file.write_zeros(static_cast<Offset>(magic.size()), log_start);
    }
    for_each_block([&](std::string_view bytes, Offset offset) {
      file.pwrite(bytes.data(), bytes.size(), offset);
    });
    file.datasync();
    if (!header) return;
    write_header(file, *header, 0);
    file.datasync();
  }
};

// Returns true if the file is empty, or an incomplete saved part left by a crash.
bool is_free(const Abstract_File& file) {
  if (file.get_size() == 0) return true;
  try {
    return !read_header(file) && is_blank(file);
  } catch (const Corruption_Error&) {  // it has entries, but no header
    return is_blank(file);
  }
}

}  // namespace

// Creates a new file for the part. Replaces an incomplete or identical file from an earlier
// attempt, but never writes to an existing file, because it may be a link to another file. Returns
// null if another file has the name.
static std::unique_ptr<Abstract_File> create_saved(const Abstract_File& file,
                                                   const std::string& suffix,
                                                   const Saved_Part& part) {
  const auto create = [&]() -> std::unique_ptr<Abstract_File> {
    try {
      return file.beside()->open(suffix, Open_Mode::create_new);
    } catch (const Io_Error& error) {
      if (error.code != EEXIST) throw;
      return nullptr;
    }
  };
  if (auto created = create()) return created;
  const auto found = file.beside()->open(suffix, Open_Mode::write_existing);
  if (!found || (!is_free(*found) && !part.is_in(*found))) return nullptr;
  file.beside()->remove_durably(suffix);
  return create();
}

std::string save_later_entries(const Abstract_File& file, const Report& report) {
  // If the file was truncated, the padding of its last entry may be missing.
  Saved_Part part{file, report.later_offset, std::min(report.later_end, file.get_size()), {}};
  if (report.format == Format::checked) {
    part.start = report.end.position.offset;
    part.header = {report.log_id, report.epoch, report.end.position.sequence,
                   report.end.position.sequence};
  }
  const std::string suffix = ".tail-" + std::to_string(report.end.position.offset);
  constexpr int most = 100;
  for (int i = 1; i <= most; ++i) {
    const auto saved = create_saved(file, i == 1 ? suffix : suffix + "-" + std::to_string(i), part);
    if (!saved) continue;
    saved->truncate(part.end + part.shift());
    part.write_to(*saved);
    return saved->get_name();
  }
  throw Corruption_Error(file.get_name() + ": " + report.text() +
                             "; there is no place to save them, and nothing was changed",
                         report.end.position.offset, file.get_name());
}

Report recover(Abstract_File& file, Tail tail) {
  Report report = examine(file);
  const Offset end = report.end.position.offset;
  if (tail == Tail::keep || end == report.file_size) return report;
  require_log(file, report);
  if (end == 0) return report;  // the file is new: there is nothing to remove
  if (report.later_entries > 0) report.saved = save_later_entries(file, report);
  if (end > report.file_size)
    file.write_zeros(report.file_size, end);  // truncated in its header or in padding
  else if (tail == Tail::zero || !file.truncate(end))
    file.write_zeros(end, report.file_size);
  file.datasync();
  return report;
}

}  // namespace joedb::inline v1::wal
