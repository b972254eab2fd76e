#include "share/cluster/log_reader.h"

#include <algorithm>
#include <utility>

#include "joedb/base/error.h"
#include "kernel/io/file_pieces.h"
#include "kernel/io/unnamed_file.h"

namespace joedb::inline v1 {

Log_State Log_State::after(Replicated_Log::Number number, const Message& message) {
  return {number, message.after, message.kind == Message::Kind::lock ? number : message.lock,
          message.kind == Message::Kind::archive ? number : message.archive};
}

Log_Reader::Log_Reader(const Log_State& state, Prefix_Hash hash)
    : state_(state), hash_(std::move(hash)), bytes_(stage()) {}

std::unique_ptr<Staged_File> Log_Reader::stage() const {
  constexpr std::size_t max_in_memory = std::size_t{1} << 26;
  return std::make_unique<Staged_File>("what was pulled", state_.journal.end, max_in_memory, [] {
    return std::make_unique<Unnamed_File>("what was pulled");
  });
}

void Log_Reader::refuse(const std::string& reason) const {
  throw Corruption_Error("message " + std::to_string(state_.number + 1) + ' ' + reason,
                         state_.journal.end);
}

void Log_Reader::take(const Message& message) {
  if ((message.kind == Message::Kind::genesis) != (state_.number == 0))
    refuse("should be the first one, or is none");
  const Log_State next = Log_State::after(state_.number + 1, message);
  const bool is_piece = message.kind == Message::Kind::data;
  const bool ends_push = is_piece && message.is_last;
  if (!ends_push && next.journal != state_.journal)
    refuse("does not continue the journal of the messages before");
  const bool changes_lock = message.kind == Message::Kind::lock ||
                            message.kind == Message::Kind::unlock || message.unlocks;
  if (changes_lock ? message.lock != 0 : next.lock != state_.lock)
    refuse("does not know the lock that is in force");
  if (message.kind != Message::Kind::archive && next.archive != state_.archive)
    refuse("does not know the archive that is in force");
  if (is_piece) return take_piece(message);
  abandon_push();
  state_ = next;
}

void Log_Reader::take_piece(const Message& message) {
  const bool continues =
      push_ && push_->writer == message.writer && push_->id == message.id && !message.is_first;
  if (!continues && !message.is_first) refuse("is a piece of a push that has not begun");
  const Prefix_Hash& before = continues ? push_->hash : hash_;
  if (message.argument != before.end())
    refuse("has bytes for position " + std::to_string(message.argument) + " instead of " +
           std::to_string(before.end()));
  Prefix_Hash hash = before;
  hash.append(message.text);
  if (message.is_last && hash.state() != message.after)
    refuse("has the hash of another journal: the machines of the log have lost what they had");
  if (!continues) abandon_push();
  bytes_->append(message.text);
  const Offset push_start = state_.journal.end;
  state_ = Log_State::after(state_.number + 1, message);
  if (!message.is_last) {
    push_ = {message.writer, message.id, continues ? push_->pieces + 1 : 1, std::move(hash)};
    return;
  }
  push_.reset();
  hash_ = std::move(hash);
  if (!first_writer_) {
    first_writer_ = message.writer;
    first_writer_end_ = start();
  }
  if (first_writer_ == message.writer && first_writer_end_ == push_start)
    first_writer_end_ = state_.journal.end;
  ++pushes_;
}

void Log_Reader::abandon_push() {
  if (!push_) return;
  abandoned_pieces_ += push_->pieces;
  push_.reset();
  bytes_->drop_after(state_.journal.end);
}

void Log_Reader::skip(const Log_State& state, Prefix_Hash hash) {
  abandon_push();
  const bool is_push = state.journal != state_.journal;
  state_ = state;
  hash_ = std::move(hash);
  if (!is_push) return;
  bytes_ = stage();
  first_writer_.reset();
}

void Log_Reader::drop_bytes() {
  if (!has_bytes()) return;
  auto rest = stage();
  for_each_piece(*bytes_, rest->end(), bytes_->end(), std::size_t{1} << 20,
                 [&](std::string_view bytes, Offset) { rest->append(bytes); });
  bytes_ = std::move(rest);
  first_writer_.reset();
}

}  // namespace joedb::inline v1
