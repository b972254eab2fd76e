#include "wal/format.h"

#include <algorithm>
#include <utility>

#include "joedb/base/types.h"
#include "kernel/base/zeros.h"
#include "kernel/io/file_pieces.h"
#include "wal/checksum.h"

namespace joedb::inline v1::wal {

std::string End::text() const {
  switch (stop) {
    case Stop::clean:
      return "the end of the log";
    case Stop::torn:
      return "torn: the entry does not end before the file does";
    case Stop::checksum:
      return "checksum: these bytes are not those that were written";
    case Stop::wrong_epoch:
      return "wrong epoch: an entry from before the last rotation";
    case Stop::wrong_order:
      return "wrong order: a good entry, but not the next one";
    case Stop::overwritten:
      return "overwritten: the log was rotated before this entry was read";
    case Stop::missing:
      return "missing: the segment with this entry is not there, but a later one is";
  }
  return "";
}

// ---- header -------------------------------------------------------------------------------------

Header_Bytes encode_header(const Header& header) {
  Header_Bytes bytes{};
  char* p = std::copy(magic.begin(), magic.end(), bytes.data());
  p = store(p, version);
  p = store(p, std::uint32_t{0});
  p = store(p, header.log_id);
  p = store(p, header.epoch);
  p = store(p, header.first_sequence);
  p = store(p, header.oldest);
  const auto size = static_cast<std::size_t>(p - bytes.data());
  store(p, crc32c({bytes.data(), size}));
  return bytes;
}

std::optional<Header> decode_header(std::string_view bytes) {
  if (bytes.size() < header_bytes || !bytes.starts_with(magic)) return std::nullopt;
  const char* const p = bytes.data() + magic.size() + 2 * sizeof(std::uint32_t);
  const Header header{load<std::uint64_t>(p), load<std::uint64_t>(p + 8),
                      load<std::uint64_t>(p + 16), load<std::uint64_t>(p + 24)};
  const Header_Bytes expected = encode_header(header);
  if (bytes.substr(0, header_bytes) != std::string_view(expected.data(), expected.size()))
    return std::nullopt;
  // No log reaches these numbers. Because of this limit, callers that add to them need not check
  // for overflow.
  constexpr std::uint64_t most = std::uint64_t{1} << 63;
  if (header.epoch > most || header.first_sequence > most || header.first_sequence == 0)
    return std::nullopt;
  return header;
}

namespace {

// Returns all bytes before log_start, which contain both copies of both slots. Returns fewer bytes
// if the file is shorter.
std::string read_slots(const Abstract_File& file) {
  std::string bytes(static_cast<std::size_t>(log_start), '\0');
  bytes.resize(file.pread(bytes.data(), bytes.size(), 0));
  return bytes;
}

std::string_view copy_of(std::string_view slots, int slot, int copy) {
  const auto start = static_cast<std::size_t>(slot * slot_size + copy * copy_offset);
  return start < slots.size() ? slots.substr(start, header_bytes) : std::string_view();
}

// Returns true for a header of a later format version whose checksum is right.
bool is_of_later_version(std::string_view bytes) {
  if (bytes.size() < header_bytes || !bytes.starts_with(magic)) return false;
  constexpr std::size_t size = header_bytes - 16;
  return load<std::uint32_t>(bytes.data() + magic.size()) > version &&
         load<std::uint32_t>(bytes.data() + size) == crc32c(bytes.substr(0, size));
}

}  // namespace

bool is_later(const Header& a, const Header& b) {
  return std::pair(a.epoch, a.oldest) > std::pair(b.epoch, b.oldest);
}

namespace {

struct Headers {
  std::optional<Found_Header> best;
  bool may_be_begun = false;  // true if the file is empty, or a log that has no header yet
};

Headers read_headers(const Abstract_File& file) {
  const std::string slots = read_slots(file);
  std::optional<Found_Header> best;
  bool has_magic = false;
  for (int slot = 0; slot < 2; ++slot)
    for (int copy = 0; copy < 2; ++copy) {
      const std::string_view bytes = copy_of(slots, slot, copy);
      has_magic = has_magic || bytes.starts_with(magic);
      const auto header = decode_header(bytes);
      if (header && (!best || is_later(*header, best->header))) best = {*header, slot};
      if (is_of_later_version(bytes))
        throw Corruption_Error(file.get_name() + " is a log of a later version of its format", 0,
                               file.get_name());
    }
  return {best, has_magic || are_zeros(slots)};
}

}  // namespace

// Entries are written only after the header is durable. If the first read finds entries but no
// header, a writer may just have created the log. Then the second read finds the header.
std::optional<Found_Header> read_header(const Abstract_File& file) {
  Headers found = read_headers(file);
  const auto has_entries = [&] {
    return !found.best && found.may_be_begun && !is_zero(file, log_start, file.get_size());
  };
  if (has_entries()) {
    found = read_headers(file);
    if (has_entries())
      throw Corruption_Error(file.get_name() + ": no header of this log is good", 0,
                             file.get_name());
  }
  return found.best;
}

bool begins_as_log(const Abstract_File& file) {
  std::array<char, magic.size()> bytes{};
  file.pread(bytes.data(), bytes.size(), 0);
  return std::string_view(bytes.data(), bytes.size()) == magic;
}

bool is_blank(const Abstract_File& file) {
  const std::string slots = read_slots(file);
  for (int slot = 0; slot < 2; ++slot)
    for (int copy = 0; copy < 2; ++copy)
      if (copy_of(slots, slot, copy).starts_with(magic)) return true;
  return are_zeros(slots);
}

void write_header(Abstract_File& file, const Header& header, int slot) {
  const Header_Bytes bytes = encode_header(header);
  for (const Offset copy : {Offset{0}, copy_offset})
    file.pwrite(bytes.data(), bytes.size(), slot * slot_size + copy);
}

bool clear_torn_header(Abstract_File& file, int slot) {
  bool is_changed = false;
  const std::string slots = read_slots(file);
  for (int copy = 0; copy < 2; ++copy) {
    const std::string_view bytes = copy_of(slots, slot, copy);
    if (are_zeros(bytes) || decode_header(bytes)) continue;
    const Offset start = slot * slot_size + copy * copy_offset;
    file.write_zeros(start, start + static_cast<Offset>(header_bytes));
    is_changed = true;
  }
  return is_changed;
}

void require_entry_size(std::size_t bytes, Format format) {
  if (bytes > max_entry_size)
    throw Exception("an entry of a log has at most " + std::to_string(max_entry_size) +
                    " bytes, not " + std::to_string(bytes));
  if (bytes == 0 && format == Format::cwal)
    throw Exception("the format of CWal has no empty entries: they look like zeros");
}

// ---- entries ------------------------------------------------------------------------------------

std::uint32_t epoch_crc(const Header& header) {
  std::array<char, 16> bytes;
  store(store(bytes.data(), header.log_id), header.epoch);
  return crc32c({bytes.data(), bytes.size()});
}

std::uint32_t entry_crc(std::string_view entry, std::uint32_t epoch) {
  return crc32c(entry.substr(sizeof(std::uint32_t)), epoch);
}

std::uint64_t durable_before(const Entry_Header& entry) {
  if (entry.unsynced == nothing_durable || entry.sequence <= entry.unsynced) return 0;
  return entry.sequence - 1 - entry.unsynced;
}

}  // namespace joedb::inline v1::wal
