#ifndef JOEDB_SRC_KERNEL_TABLE_SNAPSHOT_HEADER_H
#define JOEDB_SRC_KERNEL_TABLE_SNAPSHOT_HEADER_H

#include <cstddef>
#include <cstdint>

// The header of a snapshot file (snapshot_file.h). Fuzzers and laboratories use it, too.

namespace joedb::inline v1::snapshot_header {

// The words of the header in their order, each of 8 bytes.
enum Word : std::size_t {
  magic_word,
  layout_word,
  position_word,
  table_word,
  record_word,
  field_word,
  transaction_end_word,
  covered_word,
  sample_word,
  sections_end_word,
  hash_of_hashes_word,
  directory_offset_word,
  directory_size_word,
  directory_hash_word,
  file_size_word,
  journal_hash_word,
  journal_blocks_word,
  identity_word,
  change_word,
  header_hash_word,
  word_count
};

// The number of the layout of a snapshot. Change it whenever a function save() changes. With
// another byte order, the number differs, too.
inline constexpr std::uint64_t layout = 0x04'00'00'00'00'00'00'04;

}  // namespace joedb::inline v1::snapshot_header

#endif
