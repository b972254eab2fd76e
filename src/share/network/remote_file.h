#ifndef JOEDB_SRC_SHARE_NETWORK_REMOTE_FILE_H
#define JOEDB_SRC_SHARE_NETWORK_REMOTE_FILE_H

#include <string>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A remote file, with some pieces cached in memory. While the file is read sequentially, longer
// pieces are fetched.
class Remote_File : public Readonly_File {
 public:
  std::size_t pread(char* data, std::size_t size, Offset offset) const final;

 protected:
  using Readonly_File::Readonly_File;

  // Like pread, but always reads from the remote file, and may read fewer bytes than it could. Only
  // a result of 0 means the end of the file.
  virtual std::size_t fetch(char* data, std::size_t size, Offset offset) const = 0;
  // Caches bytes that were not received by fetch().
  void keep(Offset start, std::vector<char> bytes) const;

  static constexpr std::size_t first_size = std::size_t{1} << 16;

 private:
  static constexpr std::size_t max_piece_size = std::size_t{1} << 21;
  static constexpr std::size_t max_pieces = 8;

  struct Piece {
    Offset start;
    std::vector<char> bytes;
    Offset end() const { return start + static_cast<Offset>(bytes.size()); }
  };
  const Piece* find(Offset offset) const;
  void fetch_piece(Offset offset) const;

  mutable std::vector<Piece> pieces_;  // in the order of their last use, least recent first
  mutable Offset expected_ = 0;        // the end of the last piece received
  mutable std::size_t next_size_ = first_size;
};

}  // namespace joedb::inline v1

#endif
