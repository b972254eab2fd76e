#ifndef JOEDB_JOURNAL_REPLAY_H
#define JOEDB_JOURNAL_REPLAY_H

#include <vector>

#include "joedb/format/decoder.h"
#include "joedb/io/file.h"
#include "joedb/journal/checkpoint_reader.h"

namespace joedb::inline v1 {

// The bytes of a file, read in blocks as they are decoded. `file` must outlive it.
class File_Decoder_Input final : public Decoder_Input {
 public:
  explicit File_Decoder_Input(const Abstract_File& file) : file_(file) {}
  void start(Offset offset, Offset limit) { reset(offset, limit); }

 private:
  void refill(std::size_t size) override;
  void read_at(char* out, std::size_t size, Offset offset) override;

  const Abstract_File& file_;
  std::vector<char> buffer_;
};

// Up to where a journal was replayed, between two entries, and what the next one refers to.
struct Replay_Place {
  Offset position = journal_start;
  Context context = {};
  // Where the last transaction that has an end ends; journal_start if there is none.
  Offset transaction_end = journal_start;
};

// Decodes the entries of a journal in their order, and remembers up to where.
//
// Not thread-safe.
class Replay {
 public:
  // Both must outlive this object.
  Replay(const Abstract_File& file, const Checkpoint_Reader& header)
      : header_(header), input_(file) {}

  // Up to where entries have been replayed.
  Offset position() const { return input_.position(); }
  // Whether they have been replayed up to the checkpoint.
  bool is_complete() const { return !is_broken_ && position() == header_.checkpoint(); }

  // What short forms refer to, behind the last entry that was replayed or appended.
  Context& context() { return context_; }

  // Behind the last Timestamp or Valid_Data that was replayed or appended; journal_start: none was.
  Offset transaction_end() const { return transaction_end_; }
  void set_transaction_end(Offset position) { transaction_end_ = position; }

  // Calls handler(entry) for each entry that starts before `end`. None may go beyond `limit`.
  // Throws Corruption_Error for an invalid entry, or where the handler throws Data_Error, and what
  // else the handler throws. The entries before have been handled then, and every later run throws
  // Exception until rewind().
  template <class Handler>
  void run(Handler& handler, Offset limit, Offset end);

  // The next run starts at this entry, where the context is that of the last one.
  void start_at(Offset position) { input_.start(position, header_.checkpoint()); }
  Replay_Place place() const { return {position(), context_, transaction_end_}; }
  // The next run starts there: what is before has come from elsewhere.
  void resume(const Replay_Place& place);
  // The next run starts at the first entry.
  void rewind() { resume({}); }

 private:
  [[noreturn]] void fail(const char* what) {
    header_.fail_in_file(Corruption_Error(what + input_.entry_description(), input_.entry_offset()),
                         false);
  }

  const Checkpoint_Reader& header_;
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
  } catch (const Data_Error& error) {
    fail(error.what());
  } catch (const Corruption_Error& error) {
    header_.fail_in_file(error, error.offset >= header_.hard_checkpoint());
  }
  is_broken_ = false;
}

}  // namespace joedb::inline v1

#endif
