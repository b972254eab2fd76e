#ifndef CLUSTER_LOG_READER_H
#define CLUSTER_LOG_READER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cluster/record.h"
#include "io/staged_file.h"

namespace joedb::inline v1 {

// What is known after a message of a log.
struct Log_State {
  Replicated_Log::Number number = 0;
  Journal_State journal;
  Replicated_Log::Number lock = 0;
  Replicated_Log::Number archive = 0;

  bool operator==(const Log_State&) const = default;
  // Each record has it.
  static Log_State after(Replicated_Log::Number number, const Record& record);
};

// Reads the records of a log in their order, from any state on, and checks that each continues the
// one before. Collects the bytes of the pushes that are whole.
//
// The pieces of a push are neighbours: where another record follows a piece that is not the last
// one, its writer has ended in the middle, and nothing of that push counts.
class Log_Reader {
 public:
  // `hash` must be that of `state`.
  Log_Reader(const Log_State& state, Prefix_Hash hash);

  const Log_State& state() const { return state_; }
  const Prefix_Hash& hash() const { return hash_; }

  // The record of message state().number + 1. Throws Corruption_Error, with a text that begins with
  // "message N", if it does not continue the journal; nothing has changed then.
  void take(const Record& record);
  // After own messages: the state after the last one, and the hash. What was collected before an
  // own push is dropped.
  void skip(const Log_State& state, Prefix_Hash hash);

  // The bytes from where this began, or take_bytes was called last, up to state().journal.end, and
  // perhaps some behind it, of a push that is not whole.
  Offset start() const { return bytes_->start(); }
  const Staged_File& bytes() const { return *bytes_; }
  bool has_bytes() const { return state_.journal.end > start(); }
  void drop_bytes();

  // Up to where the pushes from start() on are all of this writer.
  Offset end_of_pushes_of(std::uint64_t writer) const {
    return first_writer_ == writer ? first_writer_end_ : start();
  }
  std::int64_t pushes() const { return pushes_; }
  std::int64_t abandoned_pieces() const { return abandoned_pieces_; }

 private:
  struct Push {
    std::uint64_t writer;
    std::uint64_t id;
    std::int64_t pieces;
    Prefix_Hash hash;
  };
  void take_piece(const Record& record);
  void abandon_push();
  std::unique_ptr<Staged_File> stage() const;
  [[noreturn]] void refuse(const std::string& reason) const;

  Log_State state_;
  Prefix_Hash hash_;
  std::optional<Push> push_;
  std::unique_ptr<Staged_File> bytes_;
  std::optional<std::uint64_t> first_writer_;  // of the pushes that were collected
  Offset first_writer_end_ = 0;                // so far the next ones are of the same
  std::int64_t pushes_ = 0;
  std::int64_t abandoned_pieces_ = 0;
};

}  // namespace joedb::inline v1

#endif
