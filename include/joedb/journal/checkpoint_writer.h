#ifndef JOEDB_JOURNAL_CHECKPOINT_WRITER_H
#define JOEDB_JOURNAL_CHECKPOINT_WRITER_H

#include <cstdint>
#include <string_view>

#include "joedb/io/fail_stop_file.h"
#include "joedb/journal/checkpoint_reader.h"

namespace joedb::inline v1 {

// Writes the checkpoint words of a journal's header. No other code writes them. Their invariants, 1
// to 9, are listed in checkpoint_writer.cc.
//
// All functions require the tail lock of the file, and that the entries before a checkpoint have
// been written to the file. If one throws, the previous checkpoint still counts, in the file and in
// memory.
//
// Not thread-safe. The caller does the last sync of a hard checkpoint (Sync_Group), and may let
// other threads append meanwhile.
class Checkpoint_Writer {
 public:
  // `out` is the file that `header` reads. Both must outlive this object. `has_seals` is
  // Journal_Options::has_seals.
  Checkpoint_Writer(Fail_Stop_File& out, Checkpoint_Reader& header, bool has_seals = true)
      : out_(out), header_(header), has_seals_(has_seals) {}
  Checkpoint_Writer(const Checkpoint_Writer&) = delete;
  Checkpoint_Writer& operator=(const Checkpoint_Writer&) = delete;

  // ---- opening

  // Writes the header of a new file, without a checkpoint.
  void create_header();
  // Called after Checkpoint_Reader::open has read the header of an existing file.
  void open();
  // Reads the words again, which other processes may have changed. Returns the size of the file.
  Offset update();
  // Notes that all bytes of the file from `position` on were written through `out`.
  void set_written_from(Offset position) { written_from_ = position; }

  // ---- checkpoints

  // Writes a soft checkpoint: the entries before `position` survive a killed process. `position`
  // must not be before the last checkpoint.
  void write_soft(Offset position);

  // Writes a hard checkpoint except for its last sync. `position` must be past the last hard
  // checkpoint. `entries` are the last bytes before it, as many as are in memory. Returns true if
  // the checkpoint is sealed.
  bool begin_hard(Offset position, std::string_view entries);
  // Called after that sync: the checkpoint counts in memory from here on.
  void finish_hard(Offset position);
  // Called after finish_hard() if the checkpoint is sealed: replaces the seal by the position. If
  // that fails, `out` remembers it, and the next writer does it (replace_seal).
  void replace_own_seal() noexcept;

  // Writes a hard checkpoint without its last sync: if the power fails before the system has
  // written both words, the previous checkpoint counts.
  void write_half(Offset position);

  // Makes the last hard checkpoint durable if another process has written it, or if it is a half
  // checkpoint.
  void sync_hard();
  // Syncs the file, and with it the last hard checkpoint.
  void sync();
  // True if a hard checkpoint at or after `position` is durable.
  bool is_durable(Offset position) const {
    return header_.hard_checkpoint() >= position && is_hard_durable();
  }

  // ---- recovery

  // Replaces the seal left by a writer that died first.
  void replace_seal();
  // Writes a hard checkpoint at the first entry if the header has none.
  void create_hard_slot();
  // Invalidates the words that claim more than `file_size` bytes.
  void invalidate_words_beyond(Offset file_size);
  // Writes the last checkpoint to the spare words, too, before the file is closed or unlocked.
  void fill_spare_words();

 private:
  bool is_hard_durable() const { return synced_hard_checkpoint_ == header_.hard_checkpoint(); }
  // True if the header is on disk, or was written by this object.
  bool is_header_proven() const { return durable_end_ > 0 || written_from_ == 0; }
  bool is_header_behind(const Checkpoint_Words& words) const;
  void write_word(int slot, int copy, std::int64_t word);
  void write_slot(std::int64_t copy_0, std::int64_t copy_1);
  void write_unsealed(Offset position);
  void claim_hard(Offset position);
  void find_durable_end(const Checkpoint_Words& words);
  void rewrite(Offset start, Offset end);
  void rewrite_unproven_entries(Offset end);
  void rewrite_hard_slot();
  void rewrite_words();

  Fail_Stop_File& out_;
  Checkpoint_Reader& header_;
  const bool has_seals_;
  bool is_filled_ = false;  // this object has written the last hard checkpoint to both slots
  Offset synced_hard_checkpoint_ = journal_start;  // the last one known to be on disk
  Offset own_hard_checkpoint_ = journal_start;     // the last one that this object has written
  // Bytes of the file before durable_end_ are known to be on disk. Bytes from written_from_ on were
  // written by this object. Bytes in between may never reach the disk, even if a sync succeeds
  // (rewrite_unproven_entries).
  Offset durable_end_ = 0;
  Offset written_from_ = 0;
};

}  // namespace joedb::inline v1

#endif
