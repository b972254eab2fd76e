#include "kernel/journal/integrity.h"

#include <algorithm>

#include "joedb/format/header.h"
#include "joedb/journal/readonly_journal.h"
#include "kernel/base/interrupts.h"

namespace joedb::inline v1 {

// Returns the bytes [start, end), or fewer if the file ends before `end`. Reads ahead toward the
// beginning of the file, because entries are visited in this direction.
std::string_view Integrity_Reader::bytes(Offset start, Offset end) {
  const Offset buffer_end = buffer_start_ + static_cast<Offset>(buffer_.size());
  if (start < buffer_start_ || end > buffer_end) {
    buffer_start_ = std::min(start, std::max(first_, end - integrity_block_size));
    buffer_.resize(static_cast<std::size_t>(end - buffer_start_));
    buffer_.resize(file_.pread(buffer_.data(), buffer_.size(), buffer_start_));
  }
  const auto from = static_cast<std::size_t>(start - buffer_start_);
  if (from >= buffer_.size()) return {};
  return std::string_view(buffer_).substr(from, static_cast<std::size_t>(end - start));
}

std::optional<Integrity_Entry> Integrity_Reader::entry_before(Offset end) {
  const Offset start = end - integrity_entry_size;
  if (start < journal_start) return std::nullopt;
  const std::string_view entry = bytes(start, end);
  if (entry.size() < static_cast<std::size_t>(integrity_entry_size)) return std::nullopt;
  return decode_integrity(entry);
}

bool Integrity_Reader::is_damaged_before(Offset end) {
  const Offset start = end - integrity_entry_size;
  if (start < journal_start) return false;
  const std::string_view entry = bytes(start, end);
  return entry.size() == static_cast<std::size_t>(integrity_entry_size) &&
         resembles_integrity(entry) && !decode_integrity(entry);
}

std::optional<std::uint64_t> Integrity_Reader::hash(Offset start, Offset end) {
  auto result = static_cast<std::uint64_t>(start);
  while (start < end) {
    look_for_interrupt();
    const Offset block_end = std::min(end, start + integrity_block_size);
    const std::string_view block = bytes(start, block_end);
    if (block.size() < static_cast<std::size_t>(block_end - start)) return std::nullopt;
    result = integrity_hash(block, result);
    start = block_end;
  }
  return result;
}

bool Integrity_Reader::is_good(const Integrity_Entry& entry, Offset end) {
  return entry.start >= journal_start && entry.start <= end && hash(entry.start, end) == entry.hash;
}

namespace {

struct Good_End_Found {
  Offset end;
};

class Find_Good_End : public Ignore_Entries {
 public:
  using Sees_Integrity_Entries = void;
  using Ignore_Entries::operator();

  Find_Good_End(const Abstract_File& file, const Decoder_Input& in, Offset start)
      : file_(file), in_(in), start_(start), max_to_read_(4 * in.limit()) {}
  // Throws Good_End_Found if this is the wanted entry.
  void operator()(const Integrity_Entry& entry) {
    const Offset end = in_.position();
    if (entry.start < journal_start || entry.start > start_) return;
    max_to_read_ -= end - entry.start;  // a hostile file could have many such entries
    if (max_to_read_ >= 0 &&
        Integrity_Reader(file_, entry.start).is_good(entry, end - integrity_entry_size))
      throw Good_End_Found{end};
  }

 private:
  const Abstract_File& file_;
  const Decoder_Input& in_;
  const Offset start_;
  Offset max_to_read_;
};

}  // namespace

std::optional<Offset> Integrity_Reader::find_good_end(Offset begin, Offset end,
                                                      Offset start) const {
  File_Decoder_Input in(file_);
  in.start(begin, end);
  Find_Good_End find(file_, in, start);
  Context context;
  try {
    decode_entries(in, context, find, end);
  } catch (const Good_End_Found& found) {
    return found.end;
  } catch (const Corruption_Error&) {  // more bytes are damaged: there is no good end
  }
  return std::nullopt;
}

Corruption_Error Integrity_Reader::error_in_entry(Offset end) const {
  const Offset start = end - integrity_entry_size;
  return Corruption_Error(file_.get_name() + " is damaged at offset " + std::to_string(start) +
                              ", in an integrity entry",
                          start, file_.get_name());
}

Corruption_Error Integrity_Reader::error_before_entry(const Integrity_Entry& entry,
                                                      Offset end) const {
  return Corruption_Error(file_.get_name() + " is damaged between offsets " +
                              std::to_string(entry.start) + " and " + std::to_string(end) +
                              ": the bytes are not those that were written",
                          entry.start, file_.get_name());
}

Corruption_Error Integrity_Reader::error_without_entry(Offset offset) const {
  return Corruption_Error(file_.get_name() + " is damaged before offset " + std::to_string(offset) +
                              ": an integrity entry is missing there",
                          offset, file_.get_name());
}

bool Integrity_Reader::check(Offset end, Offset covered) {
  const auto is_covered = [&](Offset offset) {
    return offset <= covered || offset == journal_start;
  };
  if (is_covered(end)) return end > journal_start;
  first_ = std::max(covered, end - integrity_entry_size);
  auto entry = entry_before(end);
  if (!entry) {
    if (is_damaged_before(end)) throw error_in_entry(end);
    return false;
  }
  first_ = covered;
  while (true) {
    const Offset start = end - integrity_entry_size;
    if (entry->start < journal_start || entry->start > start) throw error_in_entry(end);
    if (!is_good(*entry, start)) throw error_before_entry(*entry, end);
    end = entry->start;
    if (is_covered(end)) return true;
    entry = entry_before(end);
    if (!entry) throw error_without_entry(end);
  }
}

std::optional<Integrity_Entry> integrity_entry_before(const Abstract_File& file, Offset end) {
  return Integrity_Reader(file, end - integrity_entry_size).entry_before(end);
}

}  // namespace joedb::inline v1
