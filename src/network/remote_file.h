#ifndef JOEDB_SRC_NETWORK_REMOTE_FILE_H
#define JOEDB_SRC_NETWORK_REMOTE_FILE_H

#include <string>
#include <vector>

#include "joedb/io/source_file.h"

namespace joedb::inline v1 {

// A file far away, of which pieces are kept in memory. They get longer while it is read from the
// beginning to the end.
class Remote_File : public Source_File {
 public:
  std::size_t pread(char* data, std::size_t size, Offset offset) const final;

 protected:
  using Source_File::Source_File;

  // As pread, from there. Fewer bytes than `size` do not mean that the file ends; none do.
  virtual std::size_t fetch(char* data, std::size_t size, Offset offset) const = 0;
  // Bytes that came without being asked for.
  void keep(Offset start, std::vector<char> bytes) const;

  static constexpr std::size_t first_size = std::size_t{1} << 16;

 private:
  static constexpr std::size_t longest_size = std::size_t{1} << 21;
  static constexpr std::size_t most_pieces = 8;

  struct Piece {
    Offset start;
    std::vector<char> bytes;
    Offset end() const { return start + static_cast<Offset>(bytes.size()); }
  };
  const Piece* find(Offset offset) const;
  void fetch_piece(Offset offset) const;

  mutable std::vector<Piece> pieces_;  // the last used one is the last
  mutable Offset expected_ = 0;        // where the last piece that was fetched ends
  mutable std::size_t next_size_ = first_size;
};

}  // namespace joedb::inline v1

#endif
