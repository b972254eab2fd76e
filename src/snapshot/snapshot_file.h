#ifndef JOEDB_SRC_SNAPSHOT_SNAPSHOT_FILE_H
#define JOEDB_SRC_SNAPSHOT_SNAPSHOT_FILE_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_identity.h"
#include "joedb/format/header.h"
#include "joedb/io/file.h"
#include "joedb/journal/replay.h"
#include "joedb/snapshot/sections.h"

namespace joedb::inline v1 {

// A snapshot file has what somebody saved of a database at one position of its journal, so that it
// can be used in place. It is good for one journal only, and for machines with this byte order.
//
//     0        header: 20 words of 8 bytes, the last of which is a hash of the others
//     4096     sections, each at a multiple of 4096
//              a hash (XXH3-64) for each block of 1 MiB from 4096 to here
//              directory: the groups, and their numbers, texts and places of sections
//
// The header has hashes of the directory and of the table of hashes. So the directory can be
// believed as soon as it has been read, which is always checked; sections when verify() has been
// called. Neither protects from a file that somebody made by hand.
//
// The header also says of which journal it was made: a hash of all bytes before the position, a
// hash of samples of them, and the identity of the file.

// A hash of 8 pieces of a journal before the position, the last one up to there: it differs from
// that of nearly every other journal. Throws Corruption_Error if the file ends before, Io_Error.
std::uint64_t sample_journal(const Abstract_File& journal, Offset position);

// A hash of all bytes of a journal before a position.
struct Journal_Hash {
  std::uint64_t all = 0;
  // Of those before the last multiple of 1 MiB: the hash of a later position goes on there.
  std::uint64_t blocks = 0;
};
// `known` is that of an earlier position, `known_position`. Throws as sample_journal does.
Journal_Hash hash_journal(
    const Abstract_File& journal, Offset position, const Journal_Hash& known = {},
    Offset known_position = journal_start,
    const std::function<void(Offset, Offset)>& progress = [](Offset, Offset) {});

// What a snapshot says of its journal.
struct Journal_Marks {
  std::uint64_t sample = 0;
  Journal_Hash hash;
  File_Identity identity;  // zeros where it is not known
};

// Writes such a file. Not thread-safe.
class Snapshot_Writer final : public Section_Writer {
 public:
  // `file` must be empty, and outlive this object.
  explicit Snapshot_Writer(Abstract_File& file);

  // What follows belongs to this group. Names are unique.
  void begin_group(std::string_view name);
  void number(std::int64_t value) override;
  void text(std::string_view value) override;
  void begin_section() override;
  void append(const void* bytes, std::size_t size) override;

  // The file is complete then, but not synced.
  void finish(const Replay_Place& place, const Journal_Marks& marks);

 private:
  void end_section();
  void add_word(std::uint64_t word);
  void write_block();

  Abstract_File& file_;
  std::vector<char> block_;
  std::size_t block_size_ = 0;  // bytes of it
  Offset written_;              // where the block goes
  Offset started_;              // up to where the disk has begun
  std::vector<std::uint64_t> hashes_;
  std::string directory_;
  std::size_t group_start_ = 0;    // in the directory, behind its size; 0: no group
  std::size_t section_start_ = 0;  // in the directory, where its size goes; 0: none
  Offset section_offset_ = 0;
};

// A snapshot at this position or before: opening may compare all bytes of the journal before it.
// Behind it, that would take too long. The laboratory sets it to 0: short journals are then opened
// like long ones.
inline thread_local Offset compared_at_opening = Offset{4} << 20;

// Reads one. Thread-safe where the file is.
class Snapshot_File {
 public:
  // Is told of the bytes that were read so far, and of those in all. What it throws passes through.
  using Progress = std::function<void(Offset, Offset)>;
  static void ignore(Offset, Offset) {}

  // Reads header and directory. Throws Corruption_Error, with a text that says what does not fit;
  // Io_Error.
  explicit Snapshot_File(std::unique_ptr<Abstract_File> file);

  const Abstract_File& file() const { return *file_; }
  const Replay_Place& place() const { return place_; }
  const Journal_Marks& marks() const { return marks_; }
  // Whether it was made of this journal. The samples must be equal. A file that nobody has changed
  // since needs no more; nor does a long journal (compared_at_opening) in the same file. Else all
  // bytes before the position are compared. So a long journal with equal samples that was written
  // into the same file is not told apart. Throws Io_Error.
  bool fits(const Abstract_File& journal) const;
  // Whether it was made of the bytes that this journal has. Reads all of them before the position.
  bool fits_wholly(const Abstract_File& journal, const Progress& progress = ignore) const;
  // Whether it is the file that it was made of, as far as that is known.
  bool is_of_file(const Abstract_File& journal) const;
  // The same, and nobody has changed it since.
  bool is_unchanged(const Abstract_File& journal) const;

  struct Group {
    std::string_view name;
    std::string_view items;
  };
  const std::vector<Group>& groups() const { return groups_; }
  // Null if there is none. The items of a group, from the first one on. Refers to this object.
  std::unique_ptr<Section_Reader> open(std::string_view group) const;

  // Reads all sections. Throws Corruption_Error, with the offset of the block, if one is not what
  // was written; Io_Error.
  void verify(const Progress& progress = ignore) const;
  // How many bytes that are.
  Offset size_of_sections() const;

 private:
  void read_directory(Offset offset, Offset size, std::uint64_t hash);

  const std::unique_ptr<Abstract_File> file_;
  Replay_Place place_;
  Journal_Marks marks_;
  Offset sections_end_ = 0;
  std::uint64_t hash_of_hashes_ = 0;
  std::string directory_;
  std::vector<Group> groups_;
};

}  // namespace joedb::inline v1

#endif
