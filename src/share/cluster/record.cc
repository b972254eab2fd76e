#include "share/cluster/record.h"

#include "joedb/base/types.h"
#include "kernel/format/hash.h"

namespace joedb::inline v1 {

namespace {

constexpr std::string_view magic = "jdb1";
constexpr std::size_t checksum_offset = 8;
constexpr std::size_t checksummed_offset = 16;

enum Flag : unsigned { first = 1, last = 2, unlocks = 4, all_flags = 7 };

std::uint64_t checksum_of(std::string_view bytes) {
  return hash_of(bytes.substr(checksummed_offset), load<std::uint64_t>(bytes.data()));
}

[[noreturn]] void refuse(const char* reason) { throw Corruption_Error(reason, 0); }

}  // namespace

std::string encode_record(const Record& record) {
  std::string bytes(record_header_size, '\0');
  bytes.replace(0, magic.size(), magic);
  bytes[4] = static_cast<char>(record.kind);
  bytes[5] = static_cast<char>((record.is_first ? first : 0U) | (record.is_last ? last : 0U) |
                               (record.unlocks ? unlocks : 0U));
  char* to = bytes.data() + checksummed_offset;
  to = store(to, record.writer);
  to = store(to, record.id);
  to = store(to, record.after.end);
  to = store(to, record.after.block_hash);
  to = store(to, record.after.hash);
  to = store(to, record.lock);
  to = store(to, record.archive);
  store(to, record.argument);
  bytes.append(record.text);
  store(bytes.data() + checksum_offset, checksum_of(bytes));
  return bytes;
}

Record decode_record(std::string_view bytes) {
  if (bytes.size() < record_header_size || !bytes.starts_with(magic))
    refuse("it is no record of a journal");
  if (load<std::uint64_t>(bytes.data() + checksum_offset) != checksum_of(bytes))
    refuse("its checksum does not match");
  const auto kind = static_cast<unsigned char>(bytes[4]);
  const auto flags = static_cast<unsigned char>(bytes[5]);
  if (kind < 1 || kind > 5 || flags > all_flags || load<std::uint16_t>(bytes.data() + 6) != 0)
    refuse("it is a record of a newer version of joedb");
  const char* const from = bytes.data() + checksummed_offset;
  const auto number = [from](std::size_t index) { return load<std::int64_t>(from + 8 * index); };
  Record record;
  record.kind = static_cast<Record::Kind>(kind);
  record.is_first = (flags & first) != 0;
  record.is_last = (flags & last) != 0;
  record.unlocks = (flags & unlocks) != 0;
  record.writer = load<std::uint64_t>(from);
  record.id = load<std::uint64_t>(from + 8);
  record.after = {number(2), load<std::uint64_t>(from + 24), load<std::uint64_t>(from + 32)};
  record.lock = number(5);
  record.archive = number(6);
  record.argument = number(7);
  record.text = bytes.substr(record_header_size);
  if (record.after.end < journal_start || record.lock < 0 || record.archive < 0 ||
      record.argument < 0)
    refuse("it has a negative position");
  return record;
}

}  // namespace joedb::inline v1
