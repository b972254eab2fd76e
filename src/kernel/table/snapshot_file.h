#ifndef JOEDB_SRC_KERNEL_TABLE_SNAPSHOT_FILE_H
#define JOEDB_SRC_KERNEL_TABLE_SNAPSHOT_FILE_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/format/header.h"
#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/column.h"
#include "kernel/io/file_identity.h"

namespace joedb::inline v1 {

// A snapshot file stores the state of a database at one position of its journal, in a form that can
// be used in place. It is valid only for this journal, and only on machines with the same byte
// order.
//
//     0        header: 20 words of 8 bytes, the last of which is a hash of the others
//     4096     sections, each at a multiple of 4096
//              a hash (XXH3-64) for each block of 1 MiB from 4096 to here
//              directory: the groups, and their numbers, texts and section offsets
//
// The header has hashes of the directory and of the table of hashes. The hash of the directory is
// checked whenever the file is opened, so damage of the directory is detected. Damage of sections
// is detected only by verify(). Forged files are not detected.
//
// The header also identifies the journal: it has a hash of all bytes before the position, a hash of
// samples of these bytes, and the identity of the file.

// Returns a hash of 8 pieces of a journal before `position`; the last piece ends at `position`. Two
// different journals rarely have the same hash. Throws Io_Error, and Corruption_Error if the file
// ends before `position`.
std::uint64_t sample_journal(const Abstract_File& journal, Offset position);

// The hash of all bytes of a journal before a position.
struct Journal_Hash {
  std::uint64_t all = 0;
  // Hash of the bytes before the last multiple of 1 MiB. From there, the hash of a later position
  // can be computed.
  std::uint64_t blocks = 0;
};
// Hashes a journal up to `position`. `known` is the hash up to an earlier position,
// `known_position`. Calls `progress` with the offset reached and with `position`. Throws the
// exceptions of sample_journal.
Journal_Hash hash_journal(
    const Abstract_File& journal, Offset position, const Journal_Hash& known = {},
    Offset known_position = journal_start,
    const std::function<void(Offset, Offset)>& progress = [](Offset, Offset) {});

// The marks by which a snapshot recognizes its journal.
struct Journal_Marks {
  std::uint64_t sample = 0;
  Journal_Hash hash;
  File_Identity identity;  // zeros if unknown
};

// Writes a snapshot file. Not thread-safe. Functions throw Io_Error.
class Snapshot_Writer final : public Section_Writer {
 public:
  // `file` must be empty, and outlive this object.
  explicit Snapshot_Writer(Abstract_File& file);

  // Begins a group, to which the following items belong. Names are unique.
  void begin_group(std::string_view name);
  void number(std::int64_t value) override;
  void text(std::string_view value) override;
  void begin_section() override;
  void append(const void* bytes, std::size_t size) override;

  // Completes the file, but does not sync it.
  void finish(const Replay_Place& place, const Journal_Marks& marks);

 private:
  void end_section();
  void add_word(std::uint64_t word);
  void write_block();

  Abstract_File& file_;
  std::vector<char> block_;
  std::size_t block_size_ = 0;  // number of bytes in block_
  Offset written_;              // offset at which the block will be written
  Offset started_;              // end of the bytes passed to start_writeback
  std::vector<std::uint64_t> hashes_;
  std::string directory_;
  // Offset in the directory, after the size of the group; 0 if there is no group.
  std::size_t group_start_ = 0;
  std::size_t section_start_ = 0;  // offset of the section's size in the directory; 0 if none
  Offset section_offset_ = 0;
};

// Limit for comparing all bytes when a snapshot is opened: if the position of a snapshot is not
// past this limit, all bytes of the journal before the position may be compared. For a longer
// journal, the comparison would take too long. The crash laboratory sets it to 0, so that short
// journals are opened like long ones.
inline thread_local Offset compared_at_opening = Offset{4} << 20;

// Reads a snapshot file. Thread-safe if the file is.
class Snapshot_File {
 public:
  // Called with the number of bytes read so far, and the total. Its exceptions pass through.
  using Progress = std::function<void(Offset, Offset)>;
  static void ignore(Offset, Offset) {}

  // Reads the header and the directory. Throws Io_Error, and Corruption_Error with a text that
  // names the mismatch.
  explicit Snapshot_File(std::unique_ptr<Abstract_File> file);

  const Abstract_File& file() const { return *file_; }
  const Replay_Place& place() const { return place_; }
  const Journal_Marks& marks() const { return marks_; }
  // True if the snapshot was made from this journal. The samples must be equal. Equal samples are
  // enough if the file is unchanged since the snapshot was made (is_unchanged), or if the journal
  // is longer than compared_at_opening and is_of_file(). Otherwise all bytes before the position
  // are compared. So it is not detected if a long journal was overwritten in place by another
  // journal with equal samples. Throws Io_Error.
  bool fits(const Abstract_File& journal) const;
  // True if the bytes of the journal before the position are those from which the snapshot was
  // made. Reads all these bytes.
  bool fits_wholly(const Abstract_File& journal, const Progress& progress = ignore) const;
  // True if `journal` is the file from which the snapshot was made, or if the identity of either
  // file is unknown.
  bool is_of_file(const Abstract_File& journal) const;
  // True if `journal` is known to be the file from which the snapshot was made, and to be unchanged
  // since.
  bool is_unchanged(const Abstract_File& journal) const;

  struct Group {
    std::string_view name;
    std::string_view items;
  };
  const std::vector<Group>& groups() const { return groups_; }
  // Returns a reader that is before the first item of a group; null if there is no such group. This
  // object must outlive the reader.
  std::unique_ptr<Section_Reader> open(std::string_view group) const;

  // Reads all sections, and compares their hashes. Throws Io_Error, and Corruption_Error, with the
  // offset of the block, if a block differs from the bytes that were written.
  void verify(const Progress& progress = ignore) const;
  // Number of bytes that verify() reads.
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
