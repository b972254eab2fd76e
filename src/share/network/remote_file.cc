#include "share/network/remote_file.h"

#include <algorithm>

namespace joedb::inline v1 {

std::size_t Remote_File::pread(char* data, std::size_t size, Offset offset) const {
  if (offset < 0) return 0;
  std::size_t done = 0;
  while (done < size) {
    const Offset position = offset + static_cast<Offset>(done);
    const Piece* piece = find(position);
    if (piece == nullptr) {
      fetch_piece(position);
      piece = find(position);
      if (piece == nullptr) break;
    }
    const auto start = static_cast<std::size_t>(position - piece->start);
    const std::size_t n = std::min(size - done, piece->bytes.size() - start);
    std::copy_n(piece->bytes.data() + start, n, data + done);
    done += n;
  }
  return done;
}

const Remote_File::Piece* Remote_File::find(Offset offset) const {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) {
    return offset >= p.start && offset < p.end();
  });
  if (piece == pieces_.end()) return nullptr;
  // Keep the order of last use, most recent last.
  std::rotate(piece, piece + 1, pieces_.end());
  return &pieces_.back();
}

void Remote_File::keep(Offset start, std::vector<char> bytes) const {
  if (pieces_.size() == max_pieces) pieces_.erase(pieces_.begin());
  pieces_.push_back({start, std::move(bytes)});
  expected_ = pieces_.back().end();
}

// Fetches a piece that contains the byte at `offset`. Unless the piece continues the last one, it
// begins a little before `offset`, because readers go backwards at the end of a journal.
void Remote_File::fetch_piece(Offset offset) const {
  constexpr Offset before = first_size / 2;
  Offset start = offset;
  if (offset == expected_) {
    next_size_ = std::min(4 * next_size_, max_piece_size);
  } else {
    next_size_ = first_size;
    start = std::max<Offset>(offset - before, 0);
  }
  std::vector<char> bytes(next_size_);
  std::size_t n = 0;
  while (start + static_cast<Offset>(n) <= offset) {
    const std::size_t more =
        fetch(bytes.data() + n, bytes.size() - n, start + static_cast<Offset>(n));
    if (more == 0) break;
    n += more;
  }
  bytes.resize(n);
  if (n > 0) keep(start, std::move(bytes));
}

}  // namespace joedb::inline v1
