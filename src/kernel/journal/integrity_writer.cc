#include "joedb/journal/writable_journal.h"

#include <cassert>

#include "kernel/journal/integrity.h"

namespace joedb::inline v1 {

void Integrity_Writer::append_entry() {
  assert(is_enabled());
  const Offset start = header_.covered();
  auto hash = buffer_.hash_since(start);
  if (!hash) {  // for example, other processes have written some of these bytes
    buffer_.flush();
    hash = Integrity_Reader(file_, start).hash(start, buffer_.flushed()).value();
  }
  const auto entry = encode_integrity({start, *hash, *kind_});
  buffer_.append(entry.data(), entry.size());
  header_.set_covered(buffer_.position(), *kind_);
  buffer_.start_hash(buffer_.position());
}

bool Integrity_Writer::ends_like_entry() {
  return buffer_.position() >= journal_start + integrity_entry_size &&
         resembles_integrity(buffer_.last_bytes());
}

}  // namespace joedb::inline v1
