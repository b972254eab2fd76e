#ifndef JOEDB_JOURNAL_REPLAY_H
#define JOEDB_JOURNAL_REPLAY_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "joedb/format/decoder.h"
#include "joedb/format/integrity.h"
#include "joedb/io/file.h"
#include "joedb/journal/checkpoint_reader.h"

namespace joedb::inline v1 {

// Reads the bytes of a file in blocks as they are decoded. `file` must outlive it.
//
// With a verifier, it compares the bytes with the integrity entries among them that are not covered
// yet (Checkpoint_Reader::covered). Bytes that were skipped are not compared: blobs of 64 KiB or
// more, and vectors of that size that no handler reads, unless they are in memory already.
class File_Decoder_Input final : public Decoder_Input {
 public:
  explicit File_Decoder_Input(const Abstract_File& file, Checkpoint_Reader* verifier = nullptr)
      : file_(file), verifier_(verifier) {}
  void start(Offset offset, Offset limit);

  // Called when all entries before the checkpoint were decoded. Throws Corruption_Error if the last
  // bytes are an integrity entry that was not among them, because a damaged length led past it.
  void require_last_entry();

 private:
  void refill(std::size_t size) override;
  void read_at(char* out, std::size_t size, Offset offset) override;
  void note_integrity(std::string_view payload) override;

  void compare(std::string_view payload);
  void hash_to(Offset end);
  std::optional<std::uint64_t> hash_of(Offset start, Offset end);

  const Abstract_File& file_;
  std::vector<char> buffer_;
  // buffer_ holds the bytes [buffer_start_, buffer_end_) of the file.
  Offset buffer_start_ = 0;
  Offset buffer_end_ = 0;

  Checkpoint_Reader* verifier_;
  Integrity_Hasher hasher_;  // not running if no hash is wanted, or if some bytes were skipped
  Offset read_again_ = 0;    // number of bytes read a second time
};

// A position between two entries up to which a journal was replayed, and the context of the next
// entry.
struct Replay_Place {
  Offset position = journal_start;
  Context context = {};
  // End of the last transaction that has an end; journal_start if there is none.
  Offset transaction_end = journal_start;
  // End of the bytes that integrity entries cover; 0 if unknown.
  Offset covered = 0;
};

// Decodes the entries of a journal in order, and remembers its position.
//
// Not thread-safe.
class Replay {
 public:
  // Both must outlive this object.
  Replay(const Abstract_File& file, Checkpoint_Reader& header)
      : header_(header), input_(file, &header) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // End of the entries that were replayed.
  Offset position() const { return input_.position(); }
  // True if all entries before the checkpoint were replayed.
  bool is_complete() const { return !is_broken_ && position() == header_.checkpoint(); }

  // The context of short forms, after the last entry that was replayed or appended.
  Context& context() { return context_; }

  // End of the last Timestamp or Valid_Data that was replayed or appended; journal_start if there
  // is none.
  Offset transaction_end() const { return transaction_end_; }
  void set_transaction_end(Offset position) { transaction_end_ = position; }

  // Calls handler(entry) for each entry that starts before `end`. No entry may extend past `limit`.
  // Throws Corruption_Error if an entry is invalid, or if the handler throws Data_Error; passes on
  // other exceptions of the handler. Earlier entries have been handled then, and later runs throw
  // Exception until rewind().
  template <class Handler>
  void run(Handler& handler, Offset limit, Offset end);

  // Makes the next run start at `position`, where the present context must apply.
  void start_at(Offset position) { input_.start(position, header_.checkpoint()); }
  Replay_Place place() const {
    return {position(), context_, transaction_end_, std::min(header_.covered(), position())};
  }
  // Makes the next run start at `place`, when the state before it comes from elsewhere, such as a
  // snapshot.
  void resume(const Replay_Place& place);
  // Makes the next run start at the first entry.
  void rewind() { resume({}); }

 private:
  [[noreturn]] void fail(const char* what) {
    header_.fail_in_file(Corruption_Error(what + input_.entry_description(), input_.entry_offset()),
                         false);
  }

  Checkpoint_Reader& header_;
  File_Decoder_Input input_;
  Context context_;
  Offset transaction_end_ = journal_start;
  bool is_broken_ = false;
};

template <class Handler>
void Replay::run(Handler& handler, Offset limit, Offset end) {
  if (is_broken_) throw Exception("this journal could not be replayed");
  if (input_.limit() != limit) input_.start(input_.position(), limit);
  is_broken_ = true;
  try {
    decode_entries(input_, context_, handler, end,
                   [this](Offset position) { transaction_end_ = position; });
    is_broken_ = false;  // after an Io_Error of the next line, the next run tries again
    input_.require_last_entry();
  } catch (const Data_Error& error) {
    is_broken_ = true;
    fail(error.what());
  } catch (const Corruption_Error& error) {
    is_broken_ = true;
    header_.fail_in_file(error, error.offset >= header_.hard_checkpoint());
  }
}

}  // namespace joedb::inline v1

#endif
