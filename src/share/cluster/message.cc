#include "share/cluster/message.h"

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

std::string encode_message(const Message& message) {
  std::string bytes(message_header_size, '\0');
  bytes.replace(0, magic.size(), magic);
  bytes[4] = static_cast<char>(message.kind);
  bytes[5] = static_cast<char>((message.is_first ? first : 0U) | (message.is_last ? last : 0U) |
                               (message.unlocks ? unlocks : 0U));
  char* to = bytes.data() + checksummed_offset;
  to = store(to, message.writer);
  to = store(to, message.id);
  to = store(to, message.after.end);
  to = store(to, message.after.block_hash);
  to = store(to, message.after.hash);
  to = store(to, message.lock);
  to = store(to, message.archive);
  store(to, message.argument);
  bytes.append(message.text);
  store(bytes.data() + checksum_offset, checksum_of(bytes));
  return bytes;
}

Message decode_message(std::string_view bytes) {
  if (bytes.size() < message_header_size || !bytes.starts_with(magic))
    refuse("it is no record of a journal");
  if (load<std::uint64_t>(bytes.data() + checksum_offset) != checksum_of(bytes))
    refuse("its checksum does not match");
  const auto kind = static_cast<unsigned char>(bytes[4]);
  const auto flags = static_cast<unsigned char>(bytes[5]);
  if (kind < 1 || kind > 5 || flags > all_flags || load<std::uint16_t>(bytes.data() + 6) != 0)
    refuse("it is a record of a newer version of joedb");
  const char* const from = bytes.data() + checksummed_offset;
  const auto number = [from](std::size_t index) { return load<std::int64_t>(from + 8 * index); };
  Message message;
  message.kind = static_cast<Message::Kind>(kind);
  message.is_first = (flags & first) != 0;
  message.is_last = (flags & last) != 0;
  message.unlocks = (flags & unlocks) != 0;
  message.writer = load<std::uint64_t>(from);
  message.id = load<std::uint64_t>(from + 8);
  message.after = {number(2), load<std::uint64_t>(from + 24), load<std::uint64_t>(from + 32)};
  message.lock = number(5);
  message.archive = number(6);
  message.argument = number(7);
  message.text = bytes.substr(message_header_size);
  if (message.after.end < journal_start || message.lock < 0 || message.archive < 0 ||
      message.argument < 0)
    refuse("it has a negative position");
  return message;
}

}  // namespace joedb::inline v1
