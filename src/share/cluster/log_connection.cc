#include "joedb/cluster/log_connection.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "joedb/io/posix_file.h"
#include "kernel/base/backoff.h"
#include "kernel/base/plain_text.h"
#include "kernel/io/process.h"
#include "share/cluster/log_reader.h"
#include "share/cluster/messages.h"
#include "share/replica/retry.h"

namespace joedb::inline v1 {

using Number = Replicated_Log::Number;

namespace {

constexpr Offset delivered_size = Offset{1} << 24;
constexpr std::size_t max_batch_bytes = std::size_t{1} << 26;
constexpr std::chrono::milliseconds min_lease{100};
// Other clients limit the lease of a lock to this, too (Message::lease).
constexpr std::chrono::hours max_lease{24};
// A deposed leader may keep answering for some seconds.
constexpr int late_answers = 20;
constexpr std::chrono::milliseconds late_answer_pause{500};
// Time limit for opening a connection. The log can replace a failed machine in this time.
constexpr System::Duration opening_time = std::chrono::seconds(15);
// Time limit for reading a message that the log is known to have.
constexpr System::Duration max_read_time = std::chrono::seconds(10);

std::unique_ptr<Abstract_File> open_file(const std::string& path) {
  return std::make_unique<File>(path, Open_Mode::read_existing);
}

}  // namespace

class Log_Connection::Session {
 public:
  Session(Replicated_Log& log, Logger& logger, System& system, const Log_Settings& settings);
  ~Session();

  bool can_push() const { return log_.can_append(); }
  Offset get_checkpoint() const { return checkpoint_; }
  const Replicated_Log::Promise& promise() const { return promise_; }
  void compare(const Abstract_File& local, Offset end, Content_Check check);
  void pull(const Pull& pull, const Receive& receive);
  void push(const Abstract_File& local, Offset end, After_Push after);
  void unlock() noexcept;
  Status status();
  Number append_archive(const Abstract_File& file, Offset end, const std::string& place);

 private:
  // The lock in effect, as last seen.
  struct Lock {
    Number number = 0;  // number of its message; 0: unknown
    std::uint64_t writer = 0;
    std::string owner;
    System::Duration lease{};
    System::Time seen{};  // when its holder last appended a message
  };

  template <class F>
  auto retry(F&& f);
  template <class F>
  void repeat_if_shortened(F&& f);
  bool append(const std::vector<std::string>& messages);
  bool has_appended(const std::string& first_message);
  void require_known_message();
  std::unique_ptr<Received_Message> read(Number number, System::Duration wait);
  std::unique_ptr<Received_Message> read_known(Number number);
  Number newest();
  void read_newest();

  Log_State find(Offset end);
  void compare_content(const Abstract_File& local, Offset end, Content_Check check);
  void compare_push(const Log_State& before, const Abstract_File& local, Offset end);
  void pull_once(const Pull& pull, const Receive& receive);
  void push_content(const Abstract_File& local, Offset end, After_Push after);
  void begin_reading(Offset from, const Abstract_File& local);
  bool take_next(System::Duration wait);
  void take_up_to(Number last);
  Offset deliver(const Receive& receive, Offset from);
  bool is_archived(Offset position);
  struct Archive {
    std::unique_ptr<Abstract_File> file;
    Log_State state;  // at the end of the file
  };
  Archive open_archive(Offset from);
  void require_good(const Archive& archive) const;
  void skip_archive(const Abstract_File& local, Offset from, Offset end, bool is_new);
  Offset pull_archive(const Receive& receive, Offset from);

  const Log_State& state() const { return reader_->state(); }
  Message new_message(Message::Kind kind);
  Message lock_message();
  bool append_message(const Message& message);
  void note(const Message& message);
  Lock lock_of(const Message& message, Number number);
  bool holds_lock() const { return lock_.number != 0 && lock_.writer == writer_; }
  bool is_locked_by_another();
  void take_lock(const std::function<void()>& take_new);
  void release_lock();
  void release_lock_once() noexcept;
  void restore_reader();
  void log_safely(const char* what, const std::exception& error) noexcept;
  bool append_push(const Abstract_File& local, Offset end, bool unlocks);
  bool has_arrived(const Abstract_File& local, Offset from, Offset end, bool is_new);
  void keep_lock();

  Replicated_Log& log_;
  Logger& logger_;
  System& system_;
  const Log_Settings settings_;
  const std::string owner_;
  const std::uint64_t writer_;
  Messages messages_;
  Replicated_Log::Promise promise_;

  std::mutex mutex_;  // guards log_ and the members below
  Log_State known_;   // the newest known state
  Offset checkpoint_ = journal_start;
  std::optional<Log_Reader> reader_;
  std::optional<Log_Reader> compared_;  // contains the last push that was compared
  Lock lock_;
  const Abstract_File* local_ = nullptr;
  bool tries_once_ = false;
  System::Time patience_end_ = System::Time::max();  // then Connection_Lost ends the retries
  bool has_unanswered_append_ = false;  // in this push: an append without an answer may have worked
  bool has_given_lock_ = false;         // the client has the lock, and has not returned it
  std::int64_t reconnections_ = 0;

  std::condition_variable stopping_;
  bool must_stop_ = false;
  std::thread keeper_;
};

// Calls f(), and repeats it after Connection_Lost.
template <class F>
auto Log_Connection::Session::retry(F&& f) {
  Retry retry(log_.name(), settings_, logger_, system_);
  for (;;) {
    try {
      return f();
    } catch (const Connection_Lost& error) {
      if (tries_once_ || system_.now() >= patience_end_) throw;
      retry.wait(error);
    }
  }
}

Log_Connection::Session::Session(Replicated_Log& log, Logger& logger, System& system,
                                 const Log_Settings& settings)
    : log_(log),
      logger_(logger),
      system_(system),
      settings_(settings),
      owner_(settings.owner.empty() ? process_name() : settings.owner),
      writer_(system.random()),
      messages_(log, logger) {
  if (settings_.lease < min_lease || settings_.lease > max_lease)
    throw Exception("the lease of the lock must be 0.1 s to 24 hours");
  reconnections_ = log_.reconnections();
  patience_end_ = System::after(system_.now(), opening_time);
  repeat_if_shortened([&] {
    if (retry([&] { return log_.range().last; }) == 0)
      throw Disconnection(log_.name() + " has no journal; joedb nats create makes it");
    read_newest();
  });
  checkpoint_ = known_.journal.end;
  promise_ = retry([&] { return log_.promise(); });
  patience_end_ = System::Time::max();
  const std::string promised = text_of(promise_.durability) +
                               std::string(promise_.reason.empty() ? "" : ": ") + promise_.reason;
  if (promise_.durability < settings_.required)
    throw Disconnection(log_.name() + " does not promise what is required: what is acknowledged " +
                        promised);
  logger_.log("connected to " + log_.name() + ", message " + std::to_string(known_.number) +
              ", checkpoint " + std::to_string(checkpoint_) + "; what is acknowledged " + promised);
  if (settings_.renews_lock && log_.can_append()) keeper_ = std::thread([this] { keep_lock(); });
}

Log_Connection::Session::~Session() {
  {
    const std::lock_guard lock(mutex_);
    must_stop_ = true;
  }
  stopping_.notify_one();
  if (keeper_.joinable()) keeper_.join();
}

// ---- the log ------------------------------------------------------------------------------------

// Calls f(). If messages that f() needs were moved to an archive meanwhile, repeats it.
template <class F>
void Log_Connection::Session::repeat_if_shortened(F&& f) {
  for (int repetitions = 0;;) {
    try {
      if (repetitions > 0) read_newest();
      return f();
    } catch (const Missing_Message& error) {
      if (retry([&] { return log_.range().first; }) <= error.number) throw;
      logger_.log(std::string(error.what()) + "; the log was shortened");
      reader_.reset();
      constexpr int quick_repetitions = 3;
      if (++repetitions > quick_repetitions) system_.sleep(late_answer_pause);
      if (repetitions > late_answers) throw;
    }
  }
}

// Appends messages after message state().number. Returns false if the log already has other
// messages there, or if it no longer accepts messages of this size. A message is never appended
// twice, even if it is sent repeatedly, because each attempt names the same preceding message.
bool Log_Connection::Session::append(const std::vector<std::string>& messages) {
  bool is_repeated = false;
  return retry([&] {
    require_known_message();
    try {
      if (log_.append(messages, state().number)) return true;
    } catch (const Connection_Lost&) {
      is_repeated = has_unanswered_append_ = true;
      throw;
    } catch (const Message_Too_Large& error) {
      // The log accepts less than before, so the caller must divide the bytes again.
      if (messages.front().size() <= log_.max_message_size()) throw;
      logger_.log(error.what());
    }
    return is_repeated && has_appended(messages.front());
  });
}

bool Log_Connection::Session::has_appended(const std::string& first_message) {
  const auto message = messages_.read(state().number + 1, max_read_time);
  return message && message->bytes == first_message;
}

// After a reconnection, checks that message state().number is unchanged. If the machines lost power
// and were less durable than promised, other clients may have continued a different journal.
void Log_Connection::Session::require_known_message() {
  if (reconnections_ == log_.reconnections()) return;
  const std::int64_t reconnections = log_.reconnections();
  const auto message = read_known(state().number);
  if (Log_State::after(state().number, message->content) != state())
    throw Missing_Message(log_.name() + ": message " + std::to_string(state().number) +
                              " is not what it was: the log has lost what it had acknowledged",
                          state().number);
  reconnections_ = reconnections;
}

std::unique_ptr<Received_Message> Log_Connection::Session::read(Number number,
                                                                System::Duration wait) {
  return retry([&] { return messages_.read(number, wait); });
}

std::unique_ptr<Received_Message> Log_Connection::Session::read_known(Number number) {
  return retry([&] { return messages_.read_known(number); });
}

Number Log_Connection::Session::newest() {
  for (int i = 0; i < late_answers; ++i) {
    const Number last = retry([&] { return log_.range().last; });
    if (last >= known_.number) return last;
    system_.sleep(late_answer_pause);
  }
  throw Missing_Message(log_.name() + ": message " + std::to_string(known_.number) +
                            " was there, and is lost; joedb nats status shows what is there",
                        known_.number);
}

void Log_Connection::Session::read_newest() {
  const Number last = newest();
  known_ = Log_State::after(last, read_known(last)->content);
}

// ---- reading ------------------------------------------------------------------------------------

// Returns the state after a message: the first one whose journal ends at the last end of a push at
// or before `end`. Requires that the journal of the first message in the log ends at or before
// `end`.
Log_State Log_Connection::Session::find(Offset end) {
  const auto state_after = [this](Number number) {
    return Log_State::after(number, read_known(number)->content);
  };
  // Returns the state of the first message for which f(state) is true. f must then be true for all
  // later messages up to `newest`. Searches backwards exponentially, then in halves.
  const auto find_first = [&](Log_State newest, auto f) {
    // The result is in [low, newest.number].
    Number low = retry([&] { return log_.range().first; });
    if (low > newest.number)
      throw Missing_Message(
          log_.name() + ": message " + std::to_string(newest.number) + " is not there any more",
          newest.number);
    for (Number step = 1; newest.number > low; step *= 2) {
      const Number number = std::max(low, newest.number - step);
      const Log_State state = state_after(number);
      if (f(state)) {
        newest = state;
        continue;
      }
      low = number + 1;
      break;
    }
    while (newest.number > low) {
      const Number middle = low + (newest.number - low) / 2;
      const Log_State state = state_after(middle);
      if (f(state))
        newest = state;
      else
        low = middle + 1;
    }
    return newest;
  };
  Log_State last = known_;
  if (known_.journal.end > end) {
    last = find_first(known_, [&](const Log_State& state) { return state.journal.end > end; });
    last = state_after(last.number - 1);
  }
  return find_first(last,
                    [&](const Log_State& state) { return state.journal.end == last.journal.end; });
}

// Positions the reader at the last end of a push at or before `from`. `local` must have all bytes
// before that position.
void Log_Connection::Session::begin_reading(Offset from, const Abstract_File& local) {
  if (reader_ && state().journal.end == from) return reader_->drop_bytes();
  reader_.reset();
  const Log_State found = find(from);
  reader_.emplace(found, Prefix_Hash(found.journal, local));
}

bool Log_Connection::Session::take_next(System::Duration wait) {
  const auto message = read(state().number + 1, wait);
  if (!message) return false;
  try {
    reader_->take(message->content);
  } catch (const Corruption_Error& error) {
    throw Missing_Message(log_.name() + ": " + error.what(), state().number + 1);
  } catch (...) {
    reader_.reset();  // its bytes are incomplete
    throw;
  }
  note(message->content);
  return true;
}

void Log_Connection::Session::take_up_to(Number last) {
  while (state().number < last)
    if (!take_next(max_read_time))
      throw Missing_Message(log_.name() + ": message " + std::to_string(state().number + 1) +
                                " does not come, though there are later ones",
                            state().number + 1);
}

// Passes all whole pushes after `from` to the receiver. Returns the end of the last push.
Offset Log_Connection::Session::deliver(const Receive& receive, Offset from) {
  const Offset end = state().journal.end;
  if (end <= from) return from;
  const Staged_File& bytes = reader_->bytes();
  if (bytes.start() < from && !local_->equal_to(bytes, bytes.start(), from))
    throw Content_Mismatch(local_->get_name(), bytes.start(), from);
  receive(bytes, end);
  reader_->drop_bytes();
  return end;
}

// Returns true if messages with bytes after `position` were removed from the log.
bool Log_Connection::Session::is_archived(Offset position) {
  const Number first = retry([&] { return log_.range().first; });
  return first > 1 && read_known(first)->content.after.end > position;
}

// Opens the file that contains the part of the journal that was removed from the log. Requires
// is_archived(from).
Log_Connection::Session::Archive Log_Connection::Session::open_archive(Offset from) {
  const auto refuse = [&](const std::string& why) {
    throw Disconnection(log_.name() + " begins behind position " + std::to_string(from) + why);
  };
  // Ask repeatedly: the log may give stale answers, and a newer archive may have been announced.
  std::unique_ptr<Received_Message> message;
  for (int i = 0; i < late_answers; ++i) {
    if (i > 0) system_.sleep(late_answer_pause);
    read_newest();
    if (known_.archive != 0) message = read_known(known_.archive);
    if (message && message->content.argument > from && !is_archived(message->content.argument))
      break;
    if (i + 1 == late_answers)
      refuse(message ? ", and the archive " + plain(message->content.text) + " ends before it"
                     : ", and knows no archive of what is before");
  }
  const std::string place(message->content.text);
  const Offset end = message->content.argument;
  const Log_State state = find(end);
  if (state.journal.end != end) refuse(", and the archive " + plain(place) + " ends in a push");
  std::unique_ptr<Abstract_File> file;
  try {
    file = settings_.open_archive ? settings_.open_archive(place) : open_file(place);
  } catch (const Connection_Lost&) {
    throw;
  } catch (const Exception& error) {
    refuse("; what is before was moved to the archive " + plain(place) + ": " +
           plain(error.what()) + ". Copy that file, and use the copy instead of this one");
  }
  logger_.log("what is before position " + std::to_string(end) + " is read from " + plain(place));
  return {std::move(file), state};
}

// Throws Disconnection unless the bytes of the archive are those of the journal.
void Log_Connection::Session::require_good(const Archive& archive) const {
  const Offset end = archive.state.journal.end;
  const bool is_short = archive.file->get_size() < end;
  Prefix_Hash hash;
  if (!is_short) hash.append(*archive.file, end);
  if (!is_short && hash.state() == archive.state.journal) return;
  throw Disconnection(log_.name() + ": the archive of what is before position " +
                      std::to_string(end) + ", " + archive.file->get_name() + ", " +
                      (is_short ? "is too short" : "is damaged, or is another file") +
                      ". Put a good copy in its place, or begin with the copy of another client");
}

// Passes the archive to the receiver, positions the reader at the end of the archive, and returns
// that position. Throws Content_Mismatch if any byte of the local copy differs from the journal.
Offset Log_Connection::Session::pull_archive(const Receive& receive, Offset from) {
  const Archive archive = open_archive(from);
  const Offset end = archive.state.journal.end;
  if (archive.file->get_size() < end) require_good(archive);
  Prefix_Hash hash;
  hash.append(*local_, from);
  hash.append(*archive.file, end);
  if (hash.state() != archive.state.journal) {
    require_good(archive);
    throw Content_Mismatch(local_->get_name(), journal_start, from);
  }
  receive(*archive.file, end);
  reader_.emplace(archive.state, std::move(hash));
  return end;
}

// Compares a push with the archive, and positions the reader at the end of the archive. Throws
// Conflict if the bytes of `local` differ from the archive.
void Log_Connection::Session::skip_archive(const Abstract_File& local, Offset from, Offset end,
                                           bool is_new) {
  // New bytes can be in the archive only if this connection appended them without getting an
  // answer.
  if (is_new && !has_unanswered_append_) throw Conflict(from);
  const Archive archive = open_archive(from);
  const Offset common = std::min(archive.state.journal.end, end);
  if (!local.equal_to(*archive.file, from, common)) {
    require_good(archive);
    throw Conflict(from);
  }
  // Messages name the writer of their bytes; an archive does not.
  if (is_new)
    throw Connection_Lost(log_.name() + ": the append at position " + std::to_string(from) +
                          " was not answered, and the messages there were moved to an archive. It "
                          "has the same bytes, perhaps of another client: pull to see them");
  reader_.emplace(archive.state, Prefix_Hash(archive.state.journal, *archive.file));
}

// ---- the lock -----------------------------------------------------------------------------------

Message Log_Connection::Session::new_message(Message::Kind kind) {
  Message message;
  message.kind = kind;
  message.writer = writer_;
  message.id = system_.random();
  message.after = state().journal;
  message.archive = state().archive;
  return message;
}

Message Log_Connection::Session::lock_message() {
  Message message = new_message(Message::Kind::lock);
  message.argument = settings_.lease.count();
  message.text = owner_;
  return message;
}

bool Log_Connection::Session::append_message(const Message& message) {
  const Prefix_Hash hash = reader_->hash();
  if (!append({encode_message(message)})) return false;
  reader_->skip(Log_State::after(state().number + 1, message), hash);
  note(message);
  return true;
}

// Updates known_ and lock_ for a message that was read or appended.
void Log_Connection::Session::note(const Message& message) {
  if (state().number > known_.number) known_ = state();
  if (message.kind == Message::Kind::lock) lock_ = lock_of(message, state().number);
  if (state().lock == 0)
    lock_ = {};
  else if (message.writer == lock_.writer)
    lock_.seen = system_.now();
}

Log_Connection::Session::Lock Log_Connection::Session::lock_of(const Message& message,
                                                               Number number) {
  const std::string owner = plain(message.text.substr(0, 100));
  return {number, message.writer, owner.empty() ? "another client" : owner, message.lease(),
          system_.now()};
}

bool Log_Connection::Session::is_locked_by_another() {
  if (state().lock == 0) return false;
  if (lock_.number != state().lock) {
    // Only the message of the newest lock is guaranteed to be in the log.
    take_up_to(newest());
    if (state().lock == 0) return false;
  }
  if (lock_.number != state().lock) {
    const auto message = read_known(state().lock);
    if (message->content.kind != Message::Kind::lock)
      throw Missing_Message(
          log_.name() + ": message " + std::to_string(state().lock) + " should be that of a lock",
          state().lock);
    lock_ = lock_of(message->content, state().lock);
  }
  return lock_.writer != writer_;
}

// Takes the lock, waiting for it if necessary. Calls take_new() after reading messages of other
// clients.
void Log_Connection::Session::take_lock(const std::function<void()>& take_new) {
  // Log nothing before this time, because most transactions end earlier.
  constexpr System::Duration quiet_wait = std::chrono::seconds(1);
  const System::Time start = system_.now();
  std::string named_owner;
  for (;;) {
    if (is_locked_by_another()) {
      const System::Time now = system_.now();
      const System::Duration left = System::after(lock_.seen, lock_.lease) - now;
      if (left > System::Duration(0)) {
        const System::Duration quiet = System::after(start, quiet_wait) - now;
        if (quiet <= System::Duration(0) && named_owner != lock_.owner) {
          named_owner = lock_.owner;
          logger_.log("waiting for the lock, which " + lock_.owner + " has");
          if (settings_.on_wait) settings_.on_wait(lock_.owner);
        }
        if (take_next(quiet > System::Duration(0) ? std::min(left, quiet) : left)) take_new();
        continue;
      }
      // The holder's renewal or release may be in the log already.
      if (newest() > state().number) {
        take_up_to(state().number + 1);
        take_new();
        continue;
      }
      logger_.log("the lock of " + lock_.owner + " has expired");
    }
    if (append_message(lock_message())) return;
    take_up_to(newest());
    take_new();
  }
}

void Log_Connection::Session::release_lock() {
  while (holds_lock()) {
    if (append_message(new_message(Message::Kind::unlock))) return;
    take_up_to(newest());
  }
}

// Logs an error. Does not throw if logging fails.
void Log_Connection::Session::log_safely(const char* what, const std::exception& error) noexcept {
  try {
    logger_.log(std::string(what) + ": " + error.what());
  } catch (...) {
  }
}

// After an error, creates a new reader, so that messages can be appended. If the messages were
// archived, there is still no reader.
void Log_Connection::Session::restore_reader() {
  if (reader_ || local_ == nullptr || is_archived(checkpoint_)) return;
  begin_reading(checkpoint_, *local_);
}

// Tries to release the lock. If that fails, the lock expires.
void Log_Connection::Session::release_lock_once() noexcept {
  if (!holds_lock()) return;
  tries_once_ = true;
  try {
    restore_reader();
    if (reader_) release_lock();
  } catch (const std::exception& error) {
    log_safely("unlocking", error);
  }
  tries_once_ = false;
  lock_ = {};
}

void Log_Connection::Session::unlock() noexcept {
  const std::lock_guard lock(mutex_);
  has_given_lock_ = false;
  release_lock_once();
}

// Renews the lock for as long as it is held. Runs in thread keeper_.
void Log_Connection::Session::keep_lock() {
  std::unique_lock lock(mutex_);
  const auto interval = settings_.lease / 3;
  while (!stopping_.wait_for(lock, interval, [this] { return must_stop_; })) {
    if (!holds_lock() || lock_.seen + interval / 2 > system_.now()) continue;
    tries_once_ = true;
    try {
      restore_reader();
      // An earlier renewal may have been appended without an answer.
      while (reader_ && holds_lock() && !append_message(lock_message())) take_up_to(newest());
      if (!holds_lock()) logger_.log("the lock is lost: it was not renewed in time");
    } catch (const std::exception& error) {
      log_safely("renewing the lock", error);
    }
    tries_once_ = false;
  }
}

// ---- pulling and pushing ------------------------------------------------------------------------

void Log_Connection::Session::compare(const Abstract_File& local, Offset end, Content_Check check) {
  const std::lock_guard lock(mutex_);
  local_ = &local;
  if (check != Content_Check::none)
    repeat_if_shortened([&] { compare_content(local, end, check); });
}

void Log_Connection::Session::compare_content(const Abstract_File& local, Offset end,
                                              Content_Check check) {
  if (is_archived(end)) return;  // pull_archive() compares it
  const Log_State found = find(end);
  const Journal_State common = found.journal;
  if (check == Content_Check::full) {
    Prefix_Hash hash;
    hash.append(local, common.end);
    if (hash.state() != common) throw Content_Mismatch(local.get_name(), journal_start, common.end);
  } else {
    Prefix_Hash(common, local);
  }
  if (common.end < end && end < known_.journal.end) compare_push(found, local, end);
}

// Compares `local` with the push that contains `end`, and begins after message `before`. The push
// is kept until the next pull, because a caller that searches for the first difference compares at
// several ends.
void Log_Connection::Session::compare_push(const Log_State& before, const Abstract_File& local,
                                           Offset end) {
  const Offset start = before.journal.end;
  if (!compared_ || compared_->start() != start || compared_->state().journal.end < end) {
    compared_.emplace(before, Prefix_Hash(before.journal, local));
    while (compared_->state().journal.end < end) {
      const Number number = compared_->state().number + 1;
      const auto message = read_known(number);
      try {
        compared_->take(message->content);
      } catch (const Corruption_Error& error) {
        throw Missing_Message(log_.name() + ": " + error.what(), number);
      }
    }
  }
  if (!local.equal_to(compared_->bytes(), start, end))
    throw Content_Mismatch(local.get_name(), start, end);
}

void Log_Connection::Session::pull(const Pull& pull, const Receive& receive) {
  const std::lock_guard lock(mutex_);
  compared_.reset();
  if (local_ == nullptr) throw Exception("compare() must be called before pull()");
  if (pull.takes_lock && !can_push()) throw Disconnection(log_.name() + " can only be pulled from");
  try {
    repeat_if_shortened([&] { pull_once(pull, receive); });
  } catch (...) {
    release_lock_once();
    throw;
  }
  if (pull.takes_lock) has_given_lock_ = true;
  checkpoint_ = state().journal.end;
}

// Pulls once. The caller repeats this after an error, so the receiver may get the same bytes again.
void Log_Connection::Session::pull_once(const Pull& pull, const Receive& receive) {
  const System::Time limit = System::after(system_.now(), pull.wait);
  Offset from = pull.from;
  const bool is_in_place = reader_ && state().journal.end == from;
  if (!is_in_place && is_archived(from))
    from = retry([&] { return pull_archive(receive, pull.from); });
  else
    begin_reading(from, *local_);
  const auto deliver_large = [&] {
    if (reader_->bytes().end() - reader_->start() >= delivered_size) from = deliver(receive, from);
  };
  if (pull.takes_lock) take_lock(deliver_large);
  const Number last = pull.takes_lock ? state().number : newest();
  while (state().number < last) {
    take_up_to(state().number + 1);
    deliver_large();
  }
  from = deliver(receive, from);
  while (from == pull.from && pull.wait > System::Duration(0)) {
    const System::Duration left = limit - system_.now();
    if (left <= System::Duration(0)) break;
    if (take_next(left)) from = deliver(receive, from);
  }
}

// Returns true if the log has all bytes before `end`. Throws Conflict if the log has different
// bytes after `from`.
//
// If the bytes are new (`is_new`), only bytes that this connection appended count, with a lost
// answer: equal bytes of another client are another transaction. If the bytes were in the file
// before, it does not matter who appended them. An earlier connection may have done so, if the log
// gave a stale answer when this connection was opened.
bool Log_Connection::Session::has_arrived(const Abstract_File& local, Offset from, Offset end,
                                          bool is_new) {
  if (state().journal.end <= std::max(from, reader_->start())) return state().journal.end >= end;
  const Offset start = std::max(from, reader_->start());
  const Offset own_end = is_new ? reader_->end_of_pushes_by(writer_) : state().journal.end;
  if (own_end < std::min(state().journal.end, end)) throw Conflict(from);
  const Offset common = std::min(own_end, end);
  if (!local.equal_to(reader_->bytes(), start, common)) throw Conflict(from);
  logger_.log(common < end ? "a part of the push had arrived" : "the push had arrived");
  return own_end >= end;
}

void Log_Connection::Session::push(const Abstract_File& local, Offset end, After_Push after) {
  const std::lock_guard lock(mutex_);
  if (!can_push()) throw Disconnection(log_.name() + " can only be pulled from");
  const bool keeps_lock = after == After_Push::keep_lock;
  const bool had_lock = holds_lock();
  has_unanswered_append_ = false;
  try {
    if (end > checkpoint_) {
      repeat_if_shortened([&] { push_content(local, end, after); });
      checkpoint_ = end;
    } else if (keeps_lock && !had_lock) {
      repeat_if_shortened([&] {
        if (is_archived(end)) throw Conflict(end);
        begin_reading(end, local);
        take_lock([] {});
      });
    }
  } catch (const Conflict&) {
    // With keep_lock, the client keeps the lock even after a Conflict (Connection::push).
    if (!had_lock && !keeps_lock) release_lock_once();
    reader_.reset();  // the local copy does not have the bytes that the reader has read
    throw;
  } catch (...) {
    if (!had_lock) release_lock_once();
    reader_.reset();  // the reader may not know which part of the push has arrived
    throw;
  }
  has_given_lock_ = keeps_lock;
  if (!keeps_lock) release_lock_once();
}

void Log_Connection::Session::push_content(const Abstract_File& local, Offset end,
                                           After_Push after) {
  const Offset from = checkpoint_;
  // True at the end of a transaction that began with the lock, or that needs none.
  const bool is_new = has_given_lock_ || after == After_Push::never_locked;
  const bool is_in_place = reader_ && state().journal.end == from;
  if (!is_in_place && is_archived(from))
    skip_archive(local, from, end, is_new);
  else
    begin_reading(from, local);
  const bool keeps_lock = after == After_Push::keep_lock;
  for (;;) {
    const bool is_blocked = is_locked_by_another();
    if (has_arrived(local, from, end, is_new)) return;
    if (is_blocked && after == After_Push::never_locked) throw Conflict(from);
    if (is_blocked || (keeps_lock && !holds_lock())) {
      take_lock([] {});
      if (has_arrived(local, from, end, is_new)) return;
    }
    if (append_push(local, end, !keeps_lock && holds_lock())) return;
    take_up_to(newest());
  }
}

// Appends the bytes up to `end` as a push. Returns false if other clients have appended, or if the
// log now accepts only smaller messages. Then no part of the push takes effect.
bool Log_Connection::Session::append_push(const Abstract_File& local, Offset end, bool unlocks) {
  const std::size_t piece_size = log_.max_message_size() - message_header_size;
  const std::size_t most =
      std::clamp(max_batch_bytes / piece_size, std::size_t{1}, log_.max_batch());
  Message message = new_message(Message::Kind::data);
  message.lock = state().lock;
  message.is_first = true;
  Prefix_Hash hash = reader_->hash();
  std::string bytes;
  std::vector<std::string> messages;
  while (hash.end() < end) {
    bytes.resize(std::min(piece_size, static_cast<std::size_t>(end - hash.end())));
    message.argument = hash.end();
    local.read_exactly(bytes.data(), bytes.size(), hash.end());
    hash.append(bytes);
    message.text = bytes;
    message.is_last = hash.end() == end;
    if (message.is_last) {
      message.after = hash.state();
      message.unlocks = unlocks;
      if (unlocks) message.lock = 0;
    }
    messages.push_back(encode_message(message));
    message.is_first = false;
    if (!message.is_last && messages.size() < most) continue;
    if (!append(messages)) return false;
    const Number number = state().number + static_cast<Number>(messages.size());
    reader_->skip(Log_State::after(number, message),
                  message.is_last ? hash : Prefix_Hash(reader_->hash()));
    note(message);
    messages.clear();
  }
  return true;
}

// ---- for tools ----------------------------------------------------------------------------------

Log_Connection::Status Log_Connection::Session::status() {
  const std::lock_guard lock(mutex_);
  Status status;
  repeat_if_shortened([&] {
    read_newest();
    status = {known_.number, known_.journal.end, "", "", 0};
    if (known_.lock != 0) {
      lock_ = lock_of(read_known(known_.lock)->content, known_.lock);
      status.lock_owner = lock_.owner;
    }
    if (known_.archive != 0) {
      const auto message = read_known(known_.archive);
      status.archive = message->content.text;
      status.archive_end = message->content.argument;
    }
  });
  return status;
}

Number Log_Connection::Session::append_archive(const Abstract_File& file, Offset end,
                                               const std::string& place) {
  const std::lock_guard lock(mutex_);
  if (is_archived(end))
    throw Disconnection(log_.name() + " begins behind position " + std::to_string(end) +
                        " already: another archive has more");
  read_newest();
  const Log_State archived = find(std::min(end, known_.journal.end));
  if (archived.journal.end == journal_start)
    throw Exception(file.get_name() + " has nothing that could be removed from the log");
  Prefix_Hash hash;
  hash.append(file, archived.journal.end);
  if (hash.state() != archived.journal)
    throw Content_Mismatch(file.get_name(), journal_start, archived.journal.end);
  begin_reading(archived.journal.end, file);
  for (;;) {
    take_up_to(newest());
    reader_->drop_bytes();
    if (state().archive != 0 &&
        read_known(state().archive)->content.argument > archived.journal.end)
      throw Disconnection(log_.name() + ": another archive has more already");
    Message message = new_message(Message::Kind::archive);
    message.lock = state().lock;
    message.archive = 0;
    message.argument = archived.journal.end;
    message.text = place;
    const Number lock_number = state().lock;
    if (!append_message(message)) continue;
    checkpoint_ = state().journal.end;
    // The message of the current lock must stay in the log, too.
    return lock_number == 0 ? archived.number : std::min(archived.number, lock_number);
  }
}

// ---- the public class ---------------------------------------------------------------------------

Log_Connection::Log_Connection(Replicated_Log& log, Logger& logger, System& system,
                               const Log_Settings& settings)
    : session_(std::make_unique<Session>(log, logger, system, settings), log.name()) {}

Log_Connection::~Log_Connection() = default;

void Log_Connection::create(Replicated_Log& log, System& system) {
  Message genesis;
  genesis.writer = system.random();
  genesis.id = system.random();
  // The servers of a new log may not know its leader yet, so repeat this. If only the answer was
  // lost, the message is found below.
  Backoff backoff(system, {std::chrono::milliseconds(100)}, opening_time);
  while (true) {
    try {
      if (log.append(std::vector{encode_message(genesis)}, 0)) return;
      break;
    } catch (const Connection_Lost&) {
      if (!backoff.wait()) throw;
    }
  }
  Messages messages(log, Logger::none());
  const bool is_empty =
      log.range().last == 1 && messages.read_known(1)->content.kind == Message::Kind::genesis;
  if (!is_empty) throw Disconnection(log.name() + " has a journal already");
}

const Replicated_Log::Promise& Log_Connection::promise() const { return session_->promise(); }
bool Log_Connection::can_push() const { return session_->can_push(); }
Offset Log_Connection::get_checkpoint() const { return session_->get_checkpoint(); }

void Log_Connection::compare(const Abstract_File& local, Offset, Offset end, Content_Check check) {
  session_->compare(local, end, check);
}

void Log_Connection::pull(const Pull& pull, const Receive& receive) {
  session_->pull(pull, receive);
}

void Log_Connection::push(const Abstract_File& local, Offset end, Checkpoint_Level,
                          After_Push after) {
  session_->push(local, end, after);
}

void Log_Connection::unlock() noexcept {
  if (!session_.is_inherited()) session_->unlock();
}

Log_Connection::Status Log_Connection::status() { return session_->status(); }

Replicated_Log::Number Log_Connection::append_archive(const Abstract_File& file, Offset end,
                                                      const std::string& place) {
  return session_->append_archive(file, end, place);
}

}  // namespace joedb::inline v1
