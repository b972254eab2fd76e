#include "joedb/format/header.h"

#include <algorithm>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

std::array<char, header_size> encode_header(const Header& header) {
  std::array<char, header_size> bytes;
  char* out = bytes.data();
  for (const std::int64_t word : header.checkpoints) out = store(out, word);
  out = store(out, header.version);
  std::copy(header.signature.begin(), header.signature.end(), out);
  return bytes;
}

Header decode_header(const std::array<char, header_size>& bytes) {
  Header header;
  for (std::size_t i = 0; i < 4; ++i)
    header.checkpoints[i] = load<std::int64_t>(bytes.data() + 8 * i);
  header.version = load<std::uint32_t>(bytes.data() + checkpoint_words_size);
  std::copy_n(bytes.data() + signature_offset, header.signature.size(), header.signature.begin());
  return header;
}

Checkpoint_Words decode_checkpoints(const std::array<char, checkpoint_words_size>& bytes) {
  Checkpoint_Words words;
  for (std::size_t i = 0; i < 4; ++i) words[i] = load<std::int64_t>(bytes.data() + 8 * i);
  return words;
}

}  // namespace joedb::inline v1
