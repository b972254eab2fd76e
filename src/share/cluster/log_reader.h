#ifndef JOEDB_SRC_SHARE_CLUSTER_LOG_READER_H
#define JOEDB_SRC_SHARE_CLUSTER_LOG_READER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernel/io/staged_file.h"
#include "share/cluster/message.h"

namespace joedb::inline v1 {

// The state of a log after a message, and of the journal that the log carries.
struct Log_State {
  Replicated_Log::Number number = 0;
  Journal_State journal;
  Replicated_Log::Number lock = 0;
  Replicated_Log::Number archive = 0;

  bool operator==(const Log_State&) const = default;
  // Returns the state after `message`, which is message `number`.
  static Log_State after(Replicated_Log::Number number, const Message& message);
};

// Reads the messages of a log in order, starting after any state, and checks that each message
// continues the one before it. Collects the bytes of complete pushes.
//
// The pieces of a push are consecutive messages. If any other message follows a piece that is not
// the last piece of its push, the writer died during the push, and the push is ignored.
class Log_Reader {
 public:
  // `hash` must be the hash of `state`.
  Log_Reader(const Log_State& state, Prefix_Hash hash);

  const Log_State& state() const { return state_; }
  const Prefix_Hash& hash() const { return hash_; }

  // Processes message state().number + 1. If the message does not continue the journal, throws
  // Corruption_Error, whose text begins with "message N", and changes nothing.
  void take(const Message& message);
  // Skips messages that the caller has appended itself: `state` and `hash` are those after the last
  // of them. If they contain a push, drops all collected bytes.
  void skip(const Log_State& state, Prefix_Hash hash);

  // The collected bytes begin at start(): the end of the first state, or of the bytes that
  // drop_bytes() dropped. They extend to state().journal.end; bytes of an incomplete push may
  // follow.
  Offset start() const { return bytes_->start(); }
  const Staged_File& bytes() const { return *bytes_; }
  bool has_bytes() const { return state_.journal.end > start(); }
  // Drops the bytes of complete pushes.
  void drop_bytes();

  // Returns the end of the consecutive pushes of `writer` that begin at start(); start() if there
  // are none.
  Offset end_of_pushes_by(std::uint64_t writer) const {
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
  void take_piece(const Message& message);
  void abandon_push();
  std::unique_ptr<Staged_File> stage() const;
  [[noreturn]] void refuse(const std::string& reason) const;

  Log_State state_;
  Prefix_Hash hash_;
  std::optional<Push> push_;
  std::unique_ptr<Staged_File> bytes_;
  std::optional<std::uint64_t> first_writer_;  // the writer of the first collected push
  Offset first_writer_end_ = 0;                // the end of the leading pushes of first_writer_
  std::int64_t pushes_ = 0;
  std::int64_t abandoned_pieces_ = 0;
};

}  // namespace joedb::inline v1

#endif
