#include "joedb/journal/integrity_writer.h"

#include "joedb/journal/integrity.h"

namespace joedb::inline v1 {

void Integrity_Writer::append_entry() {
  const Offset start = header_.covered();
  std::uint64_t hash;
  if (start >= buffer_.flushed()) {
    const auto skipped = static_cast<std::size_t>(start - buffer_.flushed());
    hash = integrity_hash(buffer_.unwritten().substr(skipped), static_cast<std::uint64_t>(start));
  } else {
    buffer_.flush();
    hash = Integrity_Reader(file_, start).hash(start, buffer_.flushed()).value();
  }
  const auto entry = encode_integrity({start, hash});
  buffer_.append(entry.data(), entry.size());
  header_.set_covered(buffer_.position());
}

bool Integrity_Writer::ends_like_entry() {
  return buffer_.position() >= journal_start + integrity_entry_size &&
         resembles_integrity(buffer_.last_bytes());
}

}  // namespace joedb::inline v1
