#ifndef JOEDB_JOURNAL_CHECKPOINT_WRITER_H
#define JOEDB_JOURNAL_CHECKPOINT_WRITER_H

#include <cstdint>
#include <string_view>

#include "joedb/io/fail_stop_file.h"
#include "joedb/journal/checkpoint_reader.h"

namespace joedb::inline v1 {

// Writes the checkpoint words of a journal's header. No other code writes them. What is always true
// of them is listed in checkpoint_writer.cc: invariants 1 to 9.
//
// All functions require the tail lock of the file, and that the entries which a checkpoint claims
// have been written to the file. Where one throws, the checkpoint before counts, in the file and in
// memory.
//
// Not thread-safe. The last sync of a hard checkpoint is left to the caller (Sync_Group), who may
// let other threads append meanwhile.
class Checkpoint_Writer {
 public:
  // `out` is the file that `header` reads. Both must outlive this object. `has_seals`:
  // Journal_Options.
  Checkpoint_Writer(Fail_Stop_File& out, Checkpoint_Reader& header, bool has_seals = true)
      : out_(out), header_(header), has_seals_(has_seals) {}
  Checkpoint_Writer(const Checkpoint_Writer&) = delete;
  Checkpoint_Writer& operator=(const Checkpoint_Writer&) = delete;

  // ---- opening

  // A new file gets a header without a checkpoint.
  void create_header();
  // The header was read from the file.
  void open();
  // Others may have written the file: reads its words again. Returns the size of the file.
  Offset update();
  // What stands in the file from there on was written through `out`.
  void set_written_from(Offset position) { written_from_ = position; }

  // ---- checkpoints

  // Entries up to `position`, which is not before the last checkpoint, survive a killed process.
  void write_soft(Offset position);

  // Writes a hard checkpoint but for its last sync. `entries` are the last bytes before `position`,
  // as many as are at hand. Returns whether it is sealed.
  bool begin_hard(Offset position, std::string_view entries);
  // After that sync: the checkpoint counts.
  void finish_hard(Offset position);
  // If it is sealed, after finish_hard: the position takes the place of the seal. If that fails,
  // which `out` remembers, the next writer does it (replace_seal).
  void replace_own_seal() noexcept;

  // A hard checkpoint without its last sync: if the power fails before the system has written both
  // words, the checkpoint before it counts.
  void write_half(Offset position);

  // Makes the last hard checkpoint durable, if another process has written it, or half a commit.
  void sync_hard();
  // Syncs the file, and with it the last hard checkpoint.
  void sync();
  // Whether a hard checkpoint at or behind `position` is durable.
  bool is_durable(Offset position) const {
    return header_.hard_checkpoint() >= position && is_hard_durable();
  }

  // ---- recovery

  // Replaces the seal of a process that did not live to do it.
  void replace_seal();
  // Gives a header without a hard checkpoint one at the first entry.
  void create_hard_slot();
  // Invalidates the words that claim more than `file_size` bytes.
  void invalidate_words_beyond(Offset file_size);
  // Writes the last checkpoint to the words that are left, at closing and unlocking.
  void fill_spare_words();

 private:
  bool is_hard_durable() const { return synced_hard_checkpoint_ == header_.hard_checkpoint(); }
  // The header is on disk, or was written by this object.
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
  Offset synced_hard_checkpoint_ = journal_start;  // this one is known to be on disk
  Offset own_hard_checkpoint_ = journal_start;     // the last one that this object wrote
  // The bytes of the file before durable_end_ are known to be on disk. Those from written_from_ on
  // were written by this object. Those in between may never reach the disk, even if a sync succeeds
  // (rewrite_unproven_entries).
  Offset durable_end_ = 0;
  Offset written_from_ = 0;
};

}  // namespace joedb::inline v1

#endif
