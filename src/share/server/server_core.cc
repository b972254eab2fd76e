#include "share/server/server_core.h"

#include <algorithm>
#include <utility>

#include "joedb/base/error.h"
#include "kernel/io/unnamed_file.h"
#include "share/network/content_hash.h"
#include "share/network/protocol.h"

namespace joedb::server {

using namespace network;

static constexpr std::size_t max_input = std::size_t{1} << 16;
static constexpr std::chrono::seconds refresh_pause{1};
static constexpr Offset block_size = Offset{1} << 16;

// Minimum rate, in bytes per second, of requests and replies of a client that holds the lock.
static constexpr double min_lock_rate = 1024;

// Larger pushes are checked and written in the journal lane, so that other sessions need not wait.
static constexpr Offset quick_push = Offset{1} << 16;

// Larger pushes are staged in a file.
static constexpr std::size_t max_in_memory = std::size_t{1} << 20;

static std::shared_ptr<Staged_File> stage_push(Offset start, std::string path) {
  return std::make_shared<Staged_File>("push", start, max_in_memory, [path = std::move(path)] {
    return Unnamed_File::make_at(path);
  });
}

static network::Read_Bytes bytes_of(const Served_Journal& journal) {
  return
      [&journal](char* data, std::size_t size, Offset offset) { journal.read(data, size, offset); };
}

Server_Core::Server_Core(Served_Journal& journal, Server_Host& host, System& system, Logger& log,
                         Limits limits, std::string scratch, std::string database)
    : journal_(journal),
      host_(host),
      system_(system),
      log_(log),
      limits_(limits),
      scratch_(std::move(scratch)),
      database_(std::move(database)),
      samples_(false, bytes_of(journal)),
      full_hashes_(true, bytes_of(journal)),
      checkpoint_(journal.get_checkpoint()),
      can_push_(journal.can_push()),
      could_push_(can_push_) {}

void Server_Core::log(const Session& session, std::string_view event, std::string_view error) {
  std::vector<Log_Field> fields{{"session", session.id}};
  if (!session.name.empty()) fields.push_back({"client", session.name});
  if (!database_.empty()) fields.push_back({"database", database_});
  if (!error.empty()) fields.push_back({"error", error});
  log_.event(event, fields);
}

template <class Work_Function>
static std::string failure_of(const Work_Function& work) {
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "unknown error" : text;
  }
}

// Without a lane, nothing is allocated: most pushes and locks take this way.
template <class Work_Function, class Done_Function>
void Server_Core::run(Work_Function work, Done_Function done, bool is_long) {
  const auto result_of = [this](const Work_Function& f) -> Result {
    std::string error = failure_of(f);
    return {std::move(error), journal_.get_checkpoint(), journal_.can_push()};
  };
  if (!needs_lane(is_long)) {
    const Result result = result_of(work);
    accept(result);
    return done(result.error);
  }
  ++journal_works_;
  const auto result = std::make_shared<Result>();
  host_.run(
      Server_Host::Lane::journal,
      [result, result_of, work = std::move(work)] { *result = result_of(work); },
      [this, result, done = std::move(done)] {
        --journal_works_;
        accept(*result);
        done(result->error);
      });
}

void Server_Core::accept(const Result& result) {
  if (can_push_ && !result.can_push) log_.log("the journal can only be read from now on");
  checkpoint_ = result.checkpoint;
  can_push_ = result.can_push;
  could_push_ = could_push_ || can_push_;
}

// ---- sessions -----------------------------------------------------------------------------------

std::optional<Session_Id> Server_Core::connected(const std::string& name, Role role) {
  if (!can_connect(name)) {
    log_.log("a connection was refused: there are " + std::to_string(sessions_.size()));
    return std::nullopt;
  }
  if (sessions_.size() >= limits_.max_sessions || strangers_.size() >= limits_.max_strangers)
    end_oldest_stranger();
  const Session_Id id = next_session_++;
  Session& session = sessions_[id];
  session.id = id;
  session.name = name;
  session.role = role;
  if (name.empty()) strangers_.insert(id);
  set_deadline(session, limits_.hello_time);
  session.last_progress = system_.now();
  if (!idle_check_ && limits_.idle_time > System::Duration(0))
    idle_check_ = system_.now() + limits_.idle_time;
  log(session, "connected");
  receive(session);
  return id;
}

bool Server_Core::end_oldest_stranger() {
  if (strangers_.empty()) return false;
  end(*strangers_.begin(), "has not said hello, and makes room for another");
  return true;
}

bool Server_Core::can_connect(const std::string& name) const {
  if (sessions_.size() >= limits_.max_sessions && strangers_.empty()) return false;
  const std::size_t share = std::max<std::size_t>(limits_.max_sessions / 2, 1);
  if (name.empty() || sessions_.size() < share) return true;
  const auto count = std::count_if(sessions_.begin(), sessions_.end(),
                                   [&](const auto& entry) { return entry.second.name == name; });
  return static_cast<std::size_t>(count) < share;
}

Server_Core::Session* Server_Core::find(Session_Id id) {
  const auto session = sessions_.find(id);
  return session == sessions_.end() ? nullptr : &session->second;
}

void Server_Core::received(Session_Id id, std::string_view bytes) {
  Session* const session = find(id);
  if (session == nullptr) return;
  session->is_receiving = false;
  session->input.append(bytes);
  process(id);
}

void Server_Core::sent(Session_Id id) {
  Session* const session = find(id);
  if (session == nullptr) return;
  note_progress(*session);
  if (session->position < session->until) return send_block(*session, {});
  if (session->must_end) return end(id, "has its answer");
  session->phase = Phase::ready;
  if (holder_ == id) restart_lock_time();
  process(id);
}

void Server_Core::closed(Session_Id id) {
  Session* const session = find(id);
  if (session == nullptr) return;
  log(*session, "disconnected");
  forget(id);
}

void Server_Core::end(Session_Id id, std::string_view why, std::string_view error) {
  log(*find(id), why, error);
  host_.close(id);
  forget(id);
}

void Server_Core::forget(Session_Id id) {
  const Session& session = *find(id);
  clear_deadline(session);
  for (Lane_State& lane : lanes_)
    lane.queue.remove(session.name, [id](const Work& work) { return work.session == id; });
  sessions_.erase(id);
  strangers_.erase(id);
  std::erase(lock_queue_, id);
  // If the lock is being acquired for this session, grant() notices that the session is gone, and
  // releases the lock.
  if (holder_ == id && !is_lock_changing_) release();
}

// Keeps one receive pending, to notice the end of the connection at any time. Does not receive
// while there is enough input.
void Server_Core::receive(Session& session) {
  if (session.is_receiving || session.input.size() >= max_input) return;
  session.is_receiving = true;
  host_.receive(session.id);
}

void Server_Core::process(Session_Id id) {
  for (;;) {
    Session* const session = find(id);
    if (session == nullptr) return;
    if (!take_one(*session)) break;
  }
  if (Session* const session = find(id)) receive(*session);
}

// Processes one step of the input. Returns true if there may be more to process.
bool Server_Core::take_one(Session& session) {
  switch (session.phase) {
    case Phase::hello:
      return take_hello(session);
    case Phase::ready:
      return take_request(session);
    case Phase::pushing:
      return take_pushed(session);
    case Phase::working:
    case Phase::waiting:
    case Phase::locking:
    case Phase::sending:
      break;
  }
  return false;
}

// Extracts a message of `size` bytes. Returns false if it has not arrived completely.
static bool take(std::string& input, std::size_t size, std::string& message) {
  if (input.size() < size) return false;
  message = input.substr(0, size);
  input.erase(0, size);
  return true;
}

// Takes a word that is sent instead of a hello. Replies with lines of text, then ends the
// connection. (A server of joedb 10 ends it without a reply.)
bool Server_Core::take_question(Session& session, std::string_view word) {
  std::string request;
  if (!take(session.input, word.size(), request)) return false;
  clear_deadline(session);
  strangers_.erase(session.id);
  session.must_end = true;
  reply(session, word == status_word ? status_text() : break_lock(session));
  return false;
}

std::string Server_Core::status_text() const {
  const Status now = status();
  std::string text = "checkpoint " + std::to_string(now.checkpoint) + "\nsessions " +
                     std::to_string(now.sessions) + "\nwaiting " +
                     std::to_string(now.waiting_for_lock) + '\n';
  if (now.lock_holder)
    text +=
        "lock " + std::to_string(*now.lock_holder) + ' ' +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now.lock_held).count()) +
        ' ' + now.lock_holder_name + '\n';
  return text;
}

bool Server_Core::take_hello(Session& session) {
  const std::string_view input = session.input;
  for (const std::string_view word : {status_word, break_lock_word})
    if (!input.empty() && input.starts_with(word.substr(0, input.size())))
      return take_question(session, word);
  const std::size_t known = std::min(session.input.size(), protocol_word.size());
  if (session.input.compare(0, known, protocol_word.substr(0, known)) != 0) {
    end(session.id, "its first message is not that of a client");
    return false;
  }
  std::string hello;
  if (!take(session.input, hello_size, hello)) return false;
  clear_deadline(session);
  strangers_.erase(session.id);
  const std::int64_t version = number_at(hello, protocol_word.size());
  const bool is_supported = version >= protocol_version;
  if (!is_supported) log(session, "its version is not supported", std::to_string(version));
  std::string out(protocol_word);
  session.has_extensions = version == extended_version;
  append_number(out, session.has_extensions ? version : is_supported ? protocol_version : 0);
  append_number(out, session.id);
  append_number(out, checkpoint_);
  out += can_push(session) ? 'W' : 'R';
  reply(session, std::move(out));
  return false;
}

bool Server_Core::take_request(Session& session) {
  if (session.input.empty()) return false;
  const char c = session.input.front();
  const bool is_check = c == code::check_fast || c == code::check_full;
  const bool is_push = c == code::push || c == code::push_unlock;
  std::size_t size = 1;
  if (is_check) size += 8 + std::tuple_size_v<Content_Hash>;
  if (is_pull(c) || is_push || c == code::read) size += 16;
  std::string request;
  if (!take(session.input, size, request)) return false;
  session.code = c;
  note_progress(session);
  if (holder_ == session.id && is_locked_) restart_lock_time();
  if (is_check) {
    check(session, number_at(request, 1), request.substr(9));
  } else if (c == code::read) {
    read(session, number_at(request, 1), number_at(request, 9));
  } else if (is_pull(c)) {
    session.wait = number_at(request, 1);
    session.from = number_at(request, 9);
    pull(session);
  } else if (is_push) {
    session.from = number_at(request, 1);
    session.until = number_at(request, 9);
    begin_push(session);
  } else if (c == code::unlock) {
    unlock(session);
  } else {
    end(session.id, c == code::quit ? "quits" : "unknown request");
    return false;
  }
  return true;
}

// ---- replies ------------------------------------------------------------------------------------

// Sends `bytes`, followed by the bytes [from, until) of the journal, in blocks.
void Server_Core::reply(Session& session, std::string bytes, Offset from, Offset until) {
  session.phase = Phase::sending;
  session.position = from;
  session.until = until;
  send_block(session, std::move(bytes));
}

void Server_Core::send_block(Session& session, std::string bytes) {
  const Offset left = std::clamp(session.until - session.position, Offset{0}, block_size);
  const auto size = static_cast<std::size_t>(left);
  const std::size_t start = bytes.size();
  bytes.resize(start + size);
  bool is_read = size == 0;
  try {
    is_read = is_read || journal_.read_cached(bytes.data() + start, size, session.position);
  } catch (const std::exception& error) {
    return end(session.id, "reading has failed", error.what());
  }
  if (is_read)
    send(session, std::move(bytes), size);
  else
    read_and_send(session, std::move(bytes), size);
}

// Fills the last `size` bytes of `bytes` from the journal, then sends `bytes`.
void Server_Core::read_and_send(Session& session, std::string bytes, std::size_t size) {
  const auto block = std::make_shared<std::string>(std::move(bytes));
  run(
      Server_Host::Lane::disk, session,
      [this, block, size, position = session.position] {
        journal_.read(block->data() + (block->size() - size), size, position);
      },
      [this, block, size](Session& found, const std::string& error) {
        if (!error.empty()) return end(found.id, "reading has failed", error);
        found.phase = Phase::sending;
        note_progress(found);
        send(found, std::move(*block), size);
      });
}

// Sends bytes, of which the last `size` are from the journal.
void Server_Core::send(Session& session, std::string bytes, std::size_t size) {
  session.position += static_cast<Offset>(size);
  counters_.bytes_sent += size;
  note_lock_traffic(session, size);
  host_.send(session.id, std::move(bytes));
}

void Server_Core::reply_number(Session& session, char c, std::int64_t number, Offset from,
                               Offset until) {
  std::string out(1, c);
  append_number(out, number);
  reply(session, std::move(out), from, until);
}

// ---- reading ------------------------------------------------------------------------------------

void Server_Core::check(Session& session, Offset checkpoint, const std::string& hash) {
  if (checkpoint < journal_start || checkpoint > checkpoint_)
    return reply(session, std::string(1, code::mismatch));
  const bool is_full = session.code == code::check_full;
  const auto own = std::make_shared<std::optional<Content_Hash>>();
  run(
      is_full ? Server_Host::Lane::hashes : Server_Host::Lane::samples, session,
      [this, own, checkpoint, is_full] {
        *own = (is_full ? full_hashes_ : samples_).step(checkpoint);
      },
      [this, own, checkpoint, hash](Session& found, const std::string& error) {
        if (!error.empty()) return end(found.id, "reading has failed", error);
        if (!*own) return check(found, checkpoint, hash);
        const bool is_equal = hash == std::string_view((*own)->data(), (*own)->size());
        reply(found, std::string(1, is_equal ? found.code : code::mismatch));
      });
}

void Server_Core::read(Session& session, Offset from, Offset until) {
  if (from < 0) return end(session.id, "reads from a negative position");
  until = std::min(until, checkpoint_);
  const bool has_data = from < until;  // the difference might overflow
  reply_number(session, code::read, until, has_data ? from : 0, has_data ? until : 0);
}

void Server_Core::pull(Session& session) {
  ++counters_.pulls;
  if (pulls_data(session.code) && session.from < 0)
    return end(session.id, "pulls from a negative position");
  // While a relay waits for the lock of its hub, readers get what it has.
  if (!journal_.has_other_writers() || is_locked_ ||
      (is_lock_changing_ && journal_.has_other_copy()))
    return wait_or_lock(session);
  session.phase = Phase::working;
  run([this] { journal_.refresh(); },
      [this, id = session.id](const std::string& error) {
        wake();
        Session* const found = find(id);
        if (found == nullptr) return;
        if (!error.empty()) return end(id, "looking at the file has failed", error);
        wait_or_lock(*found);
      });
}

void Server_Core::wait_or_lock(Session& session) {
  if (session.wait > 0 && session.from == checkpoint_) {
    session.phase = Phase::waiting;
    constexpr std::int64_t longest = std::int64_t{1} << 40;  // in ms: about 35 years
    return set_deadline(session, std::chrono::milliseconds(std::min(session.wait, longest)));
  }
  lock_or_answer(session);
}

void Server_Core::lock_or_answer(Session& session) {
  if (!pulls_lock(session.code) || session.role == Role::pull) return answer_pull(session);
  if (holder_ == session.id) return end(session.id, "locks twice");
  ask_for_lock(session);
}

void Server_Core::answer_pull(Session& session) {
  const char c = pulls_lock(session.code) && !can_push(session) ? code::readonly : session.code;
  const bool has_data = pulls_data(session.code) && session.from < checkpoint_;
  reply_number(session, c, checkpoint_, has_data ? session.from : 0, has_data ? checkpoint_ : 0);
}

void Server_Core::refresh() {
  must_refresh_ = true;
  refresh_if_free();
}

// must_refresh_ stays set until no client holds the lock and no refresh is running: both may have
// read the journal before the new entries arrived.
void Server_Core::refresh_if_free() {
  if (!must_refresh_ || is_locked_ || is_lock_changing_ || is_refreshing_) return;
  must_refresh_ = false;
  is_refreshing_ = true;
  run([this] { journal_.refresh(); },
      [this](const std::string& error) {
        is_refreshing_ = false;
        if (!error.empty()) {
          if (error != refresh_error_) log_.log(error);
          refresh_time_ = system_.now() + refresh_pause;
        }
        refresh_error_ = error;
        wake();
        refresh_if_free();
      });
}

Server_Core::Status Server_Core::status() const {
  Status status = counters_;
  status.checkpoint = checkpoint_;
  status.can_push = can_push_;
  status.sessions = sessions_.size();
  status.waiting_for_lock = lock_queue_.size();
  const auto holder = holder_ ? sessions_.find(*holder_) : sessions_.end();
  if (holder == sessions_.end()) return status;
  status.lock_holder = holder_;
  status.lock_holder_name = holder->second.name;
  status.lock_held = system_.now() - locked_since_;
  return status;
}

// Replies to the sessions that wait for new entries.
void Server_Core::wake() {
  std::vector<Session_Id> woken;
  for (const auto& [time, id] : deadlines_) woken.push_back(id);
  for (const Session_Id id : woken) {
    Session* const session = find(id);
    if (session == nullptr || session->phase != Phase::waiting || session->from == checkpoint_)
      continue;
    clear_deadline(*session);
    lock_or_answer(*session);
  }
}

// ---- pushing ------------------------------------------------------------------------------------

void Server_Core::begin_push(Session& session) {
  if (session.from < 0 || session.until < 0)
    return end(session.id, "pushes at a negative position");
  session.refusal = can_push(session) ? '\0' : code::readonly;
  if (session.refusal != 0 || (holder_ == session.id && is_locked_)) return start_push(session);
  if (session.has_extensions && (holder_ || !lock_queue_.empty())) {
    session.refusal = code::busy;
    return start_push(session);
  }
  // Clients without extensions do not know the code `busy`.
  if (holder_) return end(session.id, "pushes while somebody else has the lock");
  ask_for_lock(session);
}

void Server_Core::start_push(Session& session) {
  session.phase = Phase::pushing;
  session.position = session.from;
  if (session.refusal == 0 && !can_push(session)) session.refusal = code::readonly;
  if (session.refusal == 0 && session.from != checkpoint_) session.refusal = code::conflict;
  if (session.refusal == 0 && session.until > session.from)
    session.staged = stage_push(session.from, scratch_ + "push-" + std::to_string(++staged_count_));
}

bool Server_Core::take_pushed(Session& session) {
  const Offset wanted = session.until - session.position;
  if (wanted <= 0) {
    end_push(session);
    return true;
  }
  if (session.input.empty()) return false;
  const std::size_t size =
      std::min(session.input.size(), static_cast<std::size_t>(std::max<Offset>(wanted, 0)));
  note_lock_traffic(session, size);
  note_progress(session);
  const std::string bytes = session.input.substr(0, size);
  session.input.erase(0, size);
  session.position += static_cast<Offset>(size);
  if (!session.staged) return true;
  if (!session.staged->fits_into_memory(size)) {
    stage_on_disk(session, bytes);
    return false;
  }
  session.staged->append(bytes);
  return true;
}

// Appends to the staged push in the disk lane. The push continues afterwards.
void Server_Core::stage_on_disk(Session& session, std::string bytes) {
  run(
      Server_Host::Lane::disk, session,
      [staged = session.staged, bytes = std::move(bytes)] { staged->append(bytes); },
      [this](Session& found, const std::string& error) {
        if (!error.empty()) return end(found.id, "keeping its push has failed", error);
        found.phase = Phase::pushing;
        process(found.id);
      });
}

void Server_Core::end_push(Session& session) {
  if (!session.staged) return finish_push(session);
  session.phase = Phase::working;
  pause_lock_time();
  const std::shared_ptr<Staged_File> staged = std::move(session.staged);
  const auto refusal = std::make_shared<char>('\0');
  const Offset size = session.until - session.from;
  const bool is_in_lane = needs_lane(size > quick_push);
  run(
      [this, staged, refusal, is_in_lane] {
        try {
          push_staged(*staged, *refusal);
        } catch (...) {
          if (is_in_lane && journal_.must_restore()) journal_.restore();
          throw;
        }
      },
      [this, refusal, size, is_in_lane, id = session.id](const std::string& error) {
        if (!is_in_lane && !error.empty()) restore_in_lane();
        if (Session* const pusher = find(id); pusher != nullptr && !error.empty())
          log(*pusher, "its push was refused", error);
        if (error.empty()) counters_.bytes_pushed += static_cast<std::uint64_t>(size);
        wake();
        Session* const found = find(id);
        if (found == nullptr) return;
        if (!error.empty() && *refusal == 0) return end(id, "its push has failed");
        found->refusal = *refusal;
        if (holder_ == id) restart_lock_time();
        finish_push(*found);
        process(id);
      },
      is_in_lane);
}

// If this throws, `refusal` is the code of the reply; 0: the connection ends.
void Server_Core::push_staged(const Staged_File& staged, char& refusal) {
  try {
    journal_.push(staged);
  } catch (const Corruption_Error&) {
    refusal = code::conflict;
    throw;
  } catch (const Conflict&) {  // the other copy has changed: its lock was lost
    refusal = code::conflict;
    throw;
  } catch (const Content_Mismatch&) {
    refusal = code::conflict;
    throw;
  } catch (const Disconnection&) {  // the other copy has become read-only
    if (!journal_.can_push()) refusal = code::readonly;
    throw;
  } catch (const std::exception&) {
    // Another copy may have the push: the connection ends instead, since the outcome is unknown.
    if (!journal_.can_push() && !journal_.has_other_copy()) refusal = code::readonly;
    throw;
  }
}

// After a quick push was refused: removes its entries, while the sessions go on. Later work with
// the journal waits in the same lane.
void Server_Core::restore_in_lane() {
  if (!journal_.must_restore()) return;
  run([this] { journal_.restore(); },
      [this](const std::string& error) {
        if (!error.empty()) log_.log(error);
      },
      true);
}

void Server_Core::finish_push(Session& session) {
  const bool must_release = session.code == code::push_unlock && holder_ == session.id;
  session.staged.reset();
  ++(session.refusal == 0 ? counters_.pushes : counters_.pushes_refused);
  const Session_Id id = session.id;
  if (must_release) release();  // release first: the next holder has more work to do
  if (Session* const found = find(id))
    reply(*found, std::string(1, found->refusal != 0 ? found->refusal : found->code));
}

// ---- the lock -----------------------------------------------------------------------------------

void Server_Core::unlock(Session& session) {
  reply(session, std::string(1, code::unlock));
  if (holder_ == session.id) release();
}

void Server_Core::ask_for_lock(Session& session) {
  session.phase = Phase::locking;
  lock_queue_.push_back(session.id);
  grant();
}

// Gives the lock, if it is free, to the first session in the queue.
void Server_Core::grant() {
  if (holder_ || is_lock_changing_ || lock_queue_.empty()) return refresh_if_free();
  const Session_Id id = lock_queue_.front();
  lock_queue_.pop_front();
  holder_ = id;
  locked_since_ = system_.now();
  is_lock_changing_ = true;
  lock_for(id, true);
}

// Another process may have the file for long. Readers are answered between the tries, and the
// client decides how long it waits.
void Server_Core::lock_for(Session_Id id, bool is_first_try) {
  const auto timeout = std::make_shared<std::string>();
  run(
      [this, timeout] {
        try {
          journal_.begin();
        } catch (const Lock_Timeout& error) {
          *timeout = error.what();
        }
      },
      [this, timeout, id, is_first_try](const std::string& error) {
        is_lock_changing_ = false;
        if (timeout->empty()) return granted(id, error);
        Session* const session = find(id);
        if (session == nullptr) return release();
        if (is_first_try) log(*session, "waits for another program", *timeout);
        refresh_if_free();
        is_lock_changing_ = true;
        lock_for(id, false);
      });
}

void Server_Core::granted(Session_Id id, const std::string& error) {
  is_locked_ = error.empty();
  wake();  // begin() has already read new entries
  Session* const session = find(id);
  if (!error.empty() && session != nullptr) return end(id, "locking has failed", error);
  if (session == nullptr) return release();
  restart_lock_time();
  // If no push was ever possible, the lock is given all the same, as by joedb 10.
  const bool is_refused = could_push_ && !can_push(*session);
  if (is_pull(session->code))
    answer_pull(*session);
  else
    start_push(*session);
  if (is_refused && holder_ == id) release();
  process(id);
}

void Server_Core::release() {
  holder_.reset();
  lock_deadline_.reset();
  lock_left_.reset();
  if (!is_locked_) return grant();
  is_locked_ = false;
  is_lock_changing_ = true;
  run([this] { journal_.end(); },
      [this](const std::string&) {
        is_lock_changing_ = false;
        grant();
      });
}

void Server_Core::take_lock_from(Session& session, std::string_view why) {
  ++counters_.locks_lost;
  log(session, why);
  if (session.phase == Phase::pushing || session.staged) {
    // The rest of the push is received, and dropped.
    session.refusal = code::time_out;
    session.staged.reset();
  }
  release();
}

// Takes the lock from the session that holds it. Returns the reply to the client that requested
// this.
std::string Server_Core::break_lock(const Session& session) {
  if (session.role != Role::admin) return "no the role admin is needed\n";
  if (is_lock_changing_) return "no the server itself waits for its file or its connection\n";
  Session* const holder = holder_ ? find(*holder_) : nullptr;
  if (holder == nullptr) return "ok nobody has the lock\n";
  const Status now = status();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.lock_held).count();
  log(session, "takes the lock of session " + std::to_string(holder->id));
  const std::string name = holder->name.empty() ? "" : " (" + holder->name + ")";
  const std::string answer = "ok session " + std::to_string(holder->id) + name + " had it for " +
                             std::to_string(seconds) + " s\n";
  take_lock_from(*holder, "has lost the lock to an admin");
  return answer;
}

void Server_Core::restart_lock_time() {
  lock_left_.reset();
  lock_bytes_ = 0;
  if (limits_.lock_time > System::Duration(0)) lock_deadline_ = system_.now() + limits_.lock_time;
}

// Pauses the lock time: it must not pass while the server works and the client waits.
void Server_Core::pause_lock_time() {
  if (!lock_deadline_) return;
  lock_left_ = *lock_deadline_ - system_.now();
  lock_deadline_.reset();
}

void Server_Core::resume_lock_time() {
  if (lock_left_) lock_deadline_ = system_.now() + *lock_left_;
  lock_left_.reset();
}

// A client must not keep the lock by sending a byte now and then, so it must reach a minimum rate.
void Server_Core::note_lock_traffic(const Session& session, std::size_t size) {
  if (holder_ != session.id) return;
  lock_bytes_ += size;
  const double seconds = std::chrono::duration<double>(limits_.lock_time).count();
  if (static_cast<double>(lock_bytes_) >= min_lock_rate * seconds) restart_lock_time();
}

// ---- time ---------------------------------------------------------------------------------------

std::optional<System::Time> Server_Core::next_deadline() const {
  std::optional<System::Time> first = lock_deadline_;
  if (!first || (idle_check_ && *idle_check_ < *first)) first = idle_check_;
  if (!first || (refresh_time_ && *refresh_time_ < *first)) first = refresh_time_;
  if (deadlines_.empty() || (first && *first < deadlines_.begin()->first)) return first;
  return deadlines_.begin()->first;
}

void Server_Core::set_deadline(Session& session, System::Duration duration) {
  session.deadline = system_.now() + duration;
  deadlines_.emplace(session.deadline, session.id);
}

void Server_Core::clear_deadline(const Session& session) {
  deadlines_.erase({session.deadline, session.id});
}

void Server_Core::tick() {
  const System::Time now = system_.now();
  if (lock_deadline_ && *lock_deadline_ <= now) {
    lock_deadline_.reset();
    if (Session* const session = holder_ ? find(*holder_) : nullptr)
      take_lock_from(*session, "has had the lock without a sign of life, and has lost it");
  }
  if (idle_check_ && *idle_check_ <= now) end_idle_sessions();
  if (refresh_time_ && *refresh_time_ <= now) {
    refresh_time_.reset();
    refresh();
  }
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Session& session = *find(deadlines_.begin()->second);
    clear_deadline(session);
    if (session.phase == Phase::hello)
      end(session.id, "has not said hello in time");
    else
      lock_or_answer(session);
  }
}

void Server_Core::note_progress(Session& session) {
  if (idle_check_) session.last_progress = system_.now();
}

// Called at intervals, so that requests need not update a deadline.
void Server_Core::end_idle_sessions() {
  const System::Time now = system_.now();
  std::vector<Session_Id> idle;
  for (const auto& [id, session] : sessions_) {
    const bool can_expire = session.phase == Phase::ready || session.phase == Phase::sending ||
                            session.phase == Phase::pushing;
    if (can_expire && session.last_progress + limits_.idle_time <= now) idle.push_back(id);
  }
  for (const Session_Id id : idle)
    if (find(id) != nullptr) end(id, "was idle for too long");
  idle_check_ = now + limits_.idle_time / 4;
  if (sessions_.empty()) idle_check_.reset();
}

// ---- work ---------------------------------------------------------------------------------------

void Server_Core::run(Server_Host::Lane lane, Session& session, std::function<void()> work,
                      Done done) {
  session.phase = Phase::working;
  if (holder_ == session.id) pause_lock_time();
  lanes_[static_cast<std::size_t>(lane)].queue.push(session.name,
                                                    {session.id, std::move(work), std::move(done)});
  start_next(lane);
}

void Server_Core::start_next(Server_Host::Lane lane) {
  Lane_State& state = lanes_[static_cast<std::size_t>(lane)];
  if (state.is_busy) return;
  std::optional<Work> next = state.queue.pop();
  if (!next) return;
  state.is_busy = true;
  const auto error = std::make_shared<std::string>();
  host_.run(
      lane, [error, work = std::move(next->work)] { *error = failure_of(work); },
      [this, error, lane, &state, id = next->session, done = std::move(next->done)] {
        state.is_busy = false;
        if (Session* const session = find(id)) {
          if (holder_ == id) resume_lock_time();
          done(*session, *error);
        }
        start_next(lane);
      });
}

}  // namespace joedb::server
