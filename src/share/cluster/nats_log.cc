#include "joedb/cluster/nats_connection.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/split.h"
#include "share/cluster/nats_answer.h"
#include "share/cluster/nats_client.h"
#include "share/cluster/nats_monitor.h"

namespace joedb::inline v1 {

using nlohmann::json;
using Number = Replicated_Log::Number;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t min_message_limit = std::size_t{64} << 10;
// NATS advises against larger messages. Besides, the leader sends messages as base64.
constexpr std::size_t max_message_limit = std::size_t{512} << 10;
constexpr std::int64_t room_for_headers = 1024;
// Messages per batch. The server allows 1000.
constexpr std::size_t batch_size = 500;

// Returns the sequence number of a message that a consumer has delivered, which is in the reply
// subject of the message; nullopt for any other message. The subject has one of these forms:
//
//     $JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE...
//     $JS.ACK.DOMAIN.ACCOUNT.STREAM....
std::optional<Number> sequence_of(const natsMsg& message) {
  const char* const reply = natsMsg_GetReply(&message);
  const std::vector<std::string_view> words = split(reply ? reply : "", ".");
  constexpr std::size_t words_without_domain = 9;
  if (words.size() < words_without_domain || words[0] != "$JS" || words[1] != "ACK")
    return std::nullopt;
  return parse_number<Number>(words[words.size() == words_without_domain ? 5 : 7]);
}

}  // namespace

class Nats_Log::Reader {
 public:
  Reader(const Nats_Address& address, const Nats_Settings& settings, Logger& logger)
      : client_(address, settings, logger), stream_(address.stream) {
    // Retry: the leader of the log may be in the process of being replaced.
    const Nats_Stream_State state = retry_for(15s, [this] { return state_of_stream(); });
    check_kind(state);
    can_append_ = state.mirror_of.empty();
    subject_ = can_append_ ? state.subjects[0] : address.subject + ".>";
    max_batch_ = can_append_ && state.allows_atomic ? batch_size : 1;
    if (state.max_message_size) stream_limit_ = *state.max_message_size;
    set_message_limit();
  }

  ~Reader() { unsubscribe(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Nats_Client& client() { return client_; }
  std::int64_t reconnections() {
    known_reconnections_ = client_.reconnections();
    return *known_reconnections_;
  }
  bool can_append() const { return can_append_; }
  std::size_t max_message_size() const { return max_message_size_; }
  std::size_t max_batch() const { return max_batch_; }

  Nats_Stream_State state_of_stream() {
    auto state = ask_for_state(client_);
    if (state) return *state;
    throw Disconnection(client_.name() + ": there is no stream " + stream_ +
                        (stream_ == client_.address().origin()
                             ? ": `joedb nats create " + client_.name() +
                                   "` makes it. If there was one: docs/cluster.md, Repair"
                             : ": `joedb nats mirror " + client_.name() + "` makes it"));
  }
  Range range();

  // Calls f(). After Connection_Lost, checks whether the stream was removed, and perhaps recreated,
  // and if so throws Disconnection.
  template <class F>
  auto check_loss(F f) {
    try {
      return f();
    } catch (const Connection_Lost&) {
      require_same_stream();
      throw;
    }
  }

  // Throws Disconnection if the stream was removed or recreated.
  Nats_Stream_State require_same_stream() {
    Nats_Stream_State state = state_of_stream();
    if (can_append_ && state.subjects != std::vector<std::string>{subject_})
      throw Disconnection(client_.name() +
                          ": the journal was removed and made again: connect again");
    return state;
  }

  bool append(std::span<const std::string> messages, Number last);
  std::optional<std::string> read(Number number, System::Duration wait);
  std::optional<std::string> read_elsewhere(Number number);
  Promise promise();

 private:
  void check_kind(const Nats_Stream_State& state) const;

  void set_message_limit();
  void require_size(std::span<const std::string> messages);

  // Returns false if the stream has messages after `last`, or may get some from requests in flight.
  bool send(std::span<const std::string> messages, Number last);

  // Reads a message from any server. Returns nullopt if the stream ends before `number`.
  std::optional<std::string> get(Number number);
  // Asks all servers, up to search_time, for a message that is in the stream according to the
  // leader.
  std::optional<std::string> search(Number number);
  // Reads a message from any server with a replica. Returns nullopt if that server does not have
  // the message. Its replica may be out of date.
  std::optional<std::string> get_directly(Number number);
  std::optional<std::string> get_directly_from(const std::string& server, Number number);
  Nats_Message next_of(const std::string& consumer);
  // Reads from a server that is not in `asked`, and adds its name to `asked`. Returns nullopt if
  // this server does not have the message. If no such server is found, clears `asked`, and returns
  // nullopt.
  std::optional<std::string> get_from_other_server(Number number, std::vector<std::string>& asked);
  std::optional<std::string> direct_message(natsMsg& message, Number number) const;
  std::optional<std::string> get_from_leader(Number number);
  std::string direct_subject() const { return "$JS.API.DIRECT.GET." + stream_; }
  static std::string direct_body(Number number) {
    return "{\"seq\":" + std::to_string(number) + "}";
  }

  // Sequential reads use a subscription.
  void subscribe(Number number);
  void unsubscribe();
  bool is_subscribed_at(Number number) {
    if (subscription_ && generation_ != client_.generation()) unsubscribe();
    return subscription_ && next_ == number;
  }
  // Returns nullopt if the message does not arrive in time, if a later message arrives (has_gap),
  // or if the subscription fails, and is then ended.
  std::optional<std::string> take(Number number, System::Duration time);
  bool has_gap() const { return ahead_.has_value(); }
  std::optional<std::string> wait_for(Number number, System::Time end);
  std::string delivered(Number number, std::string message);

  Nats_Client client_;
  const std::string stream_;
  std::string subject_;
  bool can_append_ = false;
  std::int64_t stream_limit_ = std::numeric_limits<std::int64_t>::max();
  std::size_t max_message_size_ = 0;
  std::size_t max_batch_ = 1;

  // The number of reconnections that the caller knows. After a reconnection, append() throws until
  // the caller has asked for the new number, so that it checks the log first.
  std::optional<std::int64_t> known_reconnections_;
  Number last_ = 0;  // number of the last message known to be in the stream
  Number after_last_read_ = 0;
  int sequential_reads_ = 0;  // length of the current series of sequential reads, up to 2
  Nats_Subscription subscription_;
  int generation_ = 0;  // generation of the client when subscription_ was made
  Number next_ = 0;     // number of the next message that subscription_ delivers
  std::optional<std::pair<Number, std::string>> ahead_;  // received out of order

  Number elsewhere_ = 0;            // the number in the last call of read_elsewhere
  std::vector<std::string> asked_;  // names of the servers asked for elsewhere_
};

void Nats_Log::Reader::check_kind(const Nats_Stream_State& state) const {
  const Nats_Address& address = client_.address();
  const auto refuse = [this](const std::string& reason) {
    throw Disconnection(client_.name() + ": the stream " + stream_ + " " + reason);
  };
  if (!state.mirror_of.empty()) {
    if (state.mirror_of != address.origin())
      refuse("is a mirror of " + state.mirror_of + ", not of " + address.origin());
  } else if (state.subjects.size() != 1 || !state.subjects[0].starts_with(address.subject + '.') ||
             state.subjects[0].find_first_of("*>") != std::string::npos) {
    refuse("does not have one subject " + address.subject + ".ID" +
           (stream_ == address.origin() ? "" : ", and is no mirror"));
  }
  if (state.has_limits) refuse("has limits (age, size or number): it may drop messages");
}

Replicated_Log::Range Nats_Log::Reader::range() {
  Backoff backoff(System::real(), {50ms}, client_.settings().search_time);
  while (true) {
    const Nats_Stream_State state = require_same_stream();
    // A former leader that was restarted may still answer as the leader for a moment. If all
    // answers stay below last_, messages have been lost, and the caller must learn this.
    if (state.last >= last_ || !backoff.wait()) {
      last_ = state.last;
      return {state.first, state.last};
    }
  }
}

// The limit is the smaller of two: that of the connected server, which may have been lowered, and
// that of the stream.
void Nats_Log::Reader::set_message_limit() {
  const std::int64_t size = std::min(client_.max_payload(), stream_limit_) - room_for_headers;
  if (size < static_cast<std::int64_t>(min_message_limit))
    throw Disconnection(client_.name() + ": the servers take messages of " + std::to_string(size) +
                        " bytes only, and 64 KiB are needed: raise max_payload");
  max_message_size_ = std::min(static_cast<std::size_t>(size), max_message_limit);
}

// ---- appending ----------------------------------------------------------------------------------

bool Nats_Log::Reader::append(std::span<const std::string> messages, Number last) {
  if (!can_append_)
    throw Disconnection(client_.name() + ": this is a mirror, which cannot be written");
  if (messages.empty() || messages.size() > max_batch_)
    throw Exception(client_.name() + ": " + std::to_string(messages.size()) +
                    " messages cannot be appended at once");
  client_.jetstream();  // waits for a connection
  if (known_reconnections_ && *known_reconnections_ != client_.reconnections())
    throw Connection_Lost(client_.name() + ": the connection was made again");
  require_size(messages);
  Backoff backoff(System::real(), {5ms}, client_.settings().answer_time);
  while (true) {
    if (send(messages, last)) {
      last_ = last + static_cast<Number>(messages.size());
      return true;
    }
    // The leader also refuses because of messages in flight, perhaps from an earlier call. These
    // messages may still fail.
    const Number current_last = range().last;
    if (current_last > last) return false;
    if (!backoff.wait()) {
      if (current_last < last)
        throw Disconnection(client_.name() + ": the stream ends with message " +
                            std::to_string(current_last) + ", where " + std::to_string(last) +
                            " was there: it has lost messages, or is another one");
      throw Connection_Lost(client_.name() + ": other messages are on their way");
    }
  }
}

void Nats_Log::Reader::require_size(std::span<const std::string> messages) {
  set_message_limit();
  for (const std::string& message : messages)
    if (message.size() > max_message_size_)
      throw Message_Too_Large(client_.name() + ": the servers take messages of " +
                              std::to_string(max_message_size_) + " bytes now, not of " +
                              std::to_string(message.size()));
}

bool Nats_Log::Reader::send(std::span<const std::string> messages, Number last) {
  // Set the header for the expected sequence here, because the library omits it if the sequence is
  // 0. Do not use Nats-Msg-Id: a repeated message is refused by its expected sequence, and must not
  // count as a duplicate.
  Nats_Client::Headers headers = {{"Nats-Expected-Last-Sequence", std::to_string(last)}};
  std::size_t size = 0;
  for (const std::string& message : messages) size += message.size();
  // Allows 4 MiB/s for sending and writing a large batch.
  const System::Duration time =
      client_.settings().answer_time + std::chrono::milliseconds(size / 4096);
  const std::string& subject = subject_;

  Nats_Message reply;
  if (messages.size() == 1) {
    reply = client_.request(subject, messages[0], headers, time);
  } else {
    const std::string id = hex(System::real().random()) + hex(System::real().random());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      headers.emplace_back("Nats-Batch-Id", id);
      headers.emplace_back("Nats-Batch-Sequence", std::to_string(i + 1));
      if (i + 1 < messages.size()) {
        client_.publish(subject, messages[i], headers);
      } else {
        headers.emplace_back("Nats-Batch-Commit", "1");
        reply = client_.request(subject, messages[i], headers, time);
      }
      headers.clear();
    }
  }

  const json answer = nats_answer(client_, *reply);
  if (const Nats_Error error = nats_error(answer); error.error_code != 0) {
    if (error.error_code == nats_wrong_last || error.error_code == nats_wrong_last_pending)
      return false;
    // A part of the batch went to a deposed leader, or over a connection that was lost.
    if (error.error_code == nats_batch_incomplete)
      throw Connection_Lost(client_.name() + ": " + error.description);
    fail(client_, error, "the message is refused");
  }
  const auto sequence = answer.find("seq");
  const Number number =
      sequence != answer.end() && sequence->is_number_integer() ? sequence->get<Number>() : 0;
  // JetStream reports a duplicate while the first attempt of a repeated message is in flight.
  const auto duplicate = answer.find("duplicate");
  if (number == 0 || (duplicate != answer.end() && *duplicate != false))
    throw Connection_Lost(client_.name() + ": the answer does not say that it was appended");
  if (number != last + static_cast<Number>(messages.size()))
    throw Disconnection(client_.name() + ": a message has been appended as number " +
                        std::to_string(number) + " behind number " + std::to_string(last));
  return true;
}

// ---- one message --------------------------------------------------------------------------------

std::optional<std::string> Nats_Log::Reader::direct_message(natsMsg& message, Number number) const {
  const std::string status = nats_header(message, "Status");
  if (status == "404") return std::nullopt;
  if (!status.empty())
    throw Connection_Lost(client_.name() + ": message " + std::to_string(number) + ": " +
                          plain(nats_header(message, "Description") + " (" + status) + ")");
  if (nats_header(message, "Nats-Sequence") != std::to_string(number)) return std::nullopt;
  // A mirror may still have messages of a removed stream that had the same name.
  if (can_append_ && nats_header(message, "Nats-Subject") != subject_) return std::nullopt;
  return std::string(nats_data(message));
}

std::optional<std::string> Nats_Log::Reader::get_directly(Number number) {
  const Nats_Message message = client_.request(direct_subject(), direct_body(number));
  return direct_message(*message, number);
}

std::optional<std::string> Nats_Log::Reader::get_directly_from(const std::string& server,
                                                               Number number) {
  const auto message = client_.request_from(server, direct_subject(), direct_body(number));
  return message ? direct_message(**message, number) : std::nullopt;
}

std::optional<std::string> Nats_Log::Reader::get_from_leader(Number number) {
  natsMsg* pointer = nullptr;
  jsErrCode error = static_cast<jsErrCode>(0);
  const natsStatus status = js_GetMsg(&pointer, &client_.jetstream(), stream_.c_str(),
                                      static_cast<std::uint64_t>(number), nullptr, &error);
  const Nats_Message message(pointer);
  if (static_cast<int>(error) == nats_no_message || status == NATS_NOT_FOUND) return std::nullopt;
  if (status != NATS_OK)
    client_.fail(error == 0 ? status : NATS_TIMEOUT, "message " + std::to_string(number));
  if (natsMsg_GetSequence(message.get()) != static_cast<std::uint64_t>(number)) return std::nullopt;
  return std::string(nats_data(*message));
}

std::optional<std::string> Nats_Log::Reader::get(Number number) {
  std::optional<std::string> message;
  try {
    message = get_directly(number);
  } catch (const Connection_Lost&) {
    // The replica that was asked may be down while the leader is up, so ask the leader.
  }
  if (!message) message = get_from_leader(number);
  if (!message && range().last >= number) message = search(number);
  return message;
}

Nats_Message Nats_Log::Reader::next_of(const std::string& consumer) {
  const auto request = [&] {
    return client_.request("$JS.API.CONSUMER.MSG.NEXT." + consumer,
                           "{\"batch\":1,\"no_wait\":true}");
  };
  // Retry: the connected server may not yet know about a consumer on another server.
  return retry_for(client_.settings().answer_time, request, 5ms);
}

// A client cannot choose the server that replies to a direct get. Instead, create a consumer: the
// cluster places it on any server that has a replica; the consumer names this server, and reads
// from its replica.
std::optional<std::string> Nats_Log::Reader::get_from_other_server(
    Number number, std::vector<std::string>& asked) {
  constexpr int tries = 20;  // finds each of three servers almost certainly
  const std::string action = "message " + std::to_string(number);
  for (int i = 0; i < tries; ++i) {
    const json body = {{"stream_name", stream_},
                       {"config",
                        {{"deliver_policy", "by_start_sequence"},
                         {"opt_start_seq", number},
                         {"ack_policy", "none"},
                         {"replay_policy", "instant"},
                         {"num_replicas", 1},
                         {"mem_storage", true},
                         {"inactive_threshold", std::chrono::nanoseconds(5s).count()}}}};
    const Nats_Message reply = client_.request("$JS.API.CONSUMER.CREATE." + stream_, body.dump());
    const json answer = nats_answer(client_, *reply);
    if (const Nats_Error error = nats_error(answer); error.error_code != 0)
      fail(client_, error, action);
    const json empty = json::object();
    const std::string server = answer.value("cluster", empty).value("leader", "");
    const std::string consumer = stream_ + "." + answer.value("name", "");
    const bool is_new = std::ranges::find(asked, server) == asked.end();
    Nats_Message message;
    if (is_new) message = next_of(consumer);
    client_.publish("$JS.API.CONSUMER.DELETE." + consumer, "", {});
    if (!is_new) continue;
    asked.push_back(server);
    if (sequence_of(*message) != number) return std::nullopt;  // none, or one after a gap
    return std::string(nats_data(*message));
  }
  asked.clear();
  return std::nullopt;
}

std::optional<std::string> Nats_Log::Reader::search(Number number) {
  Backoff backoff(System::real(), {100ms}, client_.settings().search_time);
  while (true) {
    for (const std::string& server : client_.servers())
      if (auto message = get_directly_from(server, number)) return message;
    const Nats_Stream_State state = state_of_stream();
    if (state.last < number) return std::nullopt;  // only a deposed leader had counted the message
    if (number < state.first)
      throw Missing_Message(client_.name() + ": message " + std::to_string(number) +
                                " has been removed: the first one is " +
                                std::to_string(state.first),
                            number);
    if (auto message = get_from_leader(number)) return message;
    std::vector<std::string> asked = {state.leader};
    for (const auto& peer : state.peers)
      if (!peer.is_offline)
        if (auto message = get_from_other_server(number, asked)) return message;
    if (!backoff.wait()) {
      std::string offline;
      for (const auto& peer : state.peers)
        if (peer.is_offline) offline += (offline.empty() ? "" : ", ") + peer.name;
      throw Missing_Message(
          client_.name() + ": message " + std::to_string(number) +
              " is missing on all servers that could be asked, and later ones are there: " +
              (offline.empty() ? "" : "perhaps " + offline + " has it, which is offline; ") +
              "`joedb nats verify` tells more",
          number);
    }
  }
}

std::optional<std::string> Nats_Log::Reader::read_elsewhere(Number number) {
  if (elsewhere_ != number) asked_.clear();
  elsewhere_ = number;
  const Nats_Stream_State state = state_of_stream();
  if (number > state.last) return std::nullopt;
  if (!asked_.empty() && asked_.size() < state.peers.size() + 1)
    if (auto message = get_from_other_server(number, asked_); message || !asked_.empty())
      return message;
  asked_ = {state.leader};
  return get_from_leader(number);
}

// ---- messages in their order --------------------------------------------------------------------

void Nats_Log::Reader::unsubscribe() {
  client_.end(std::move(subscription_));
  ahead_.reset();
}

void Nats_Log::Reader::subscribe(Number number) {
  unsubscribe();
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream_.c_str();
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverByStartSequence;
  options.Config.OptStartSeq = static_cast<std::uint64_t>(number);
  natsSubscription* pointer = nullptr;
  jsCtx& jetstream = client_.jetstream();
  const natsStatus status =
      js_SubscribeSync(&pointer, &jetstream, subject_.c_str(), nullptr, &options, nullptr);
  if (status != NATS_OK) return;  // messages are then read one by one
  subscription_.reset(pointer);
  natsSubscription_SetPendingLimits(pointer, -1, -1);  // flow control limits them instead
  next_ = number;
  generation_ = client_.generation();
}

std::optional<std::string> Nats_Log::Reader::take(Number number, System::Duration time) {
  System& system = System::real();
  const System::Time end = System::after(system.now(), time);
  while (true) {
    if (ahead_) {
      if (ahead_->first > number) return std::nullopt;
      const std::pair<Number, std::string> message = std::move(*ahead_);
      ahead_.reset();
      if (message.first == number) return delivered(number, message.second);
    }
    const auto rest =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - system.now()).count();
    natsMsg* pointer = nullptr;
    // Wait at least 1 ms, because some versions of the library take 0 to mean no timeout. Messages
    // that have arrived are returned immediately.
    const natsStatus status =
        natsSubscription_NextMsg(&pointer, subscription_.get(), std::max<std::int64_t>(rest, 1));
    const Nats_Message message(pointer);
    if (status == NATS_TIMEOUT) return std::nullopt;
    jsMsgMetaData* data = nullptr;
    if (status != NATS_OK || natsMsg_GetMetaData(&data, pointer) != NATS_OK) {
      unsubscribe();
      return std::nullopt;
    }
    const auto sequence = static_cast<Number>(data->Sequence.Stream);
    jsMsgMetaData_Destroy(data);
    ahead_ = {sequence, std::string(nats_data(*message))};
  }
}

std::string Nats_Log::Reader::delivered(Number number, std::string message) {
  sequential_reads_ = number == after_last_read_ ? std::min(sequential_reads_ + 1, 2) : 0;
  after_last_read_ = number + 1;
  last_ = std::max(last_, number);
  if (subscription_ && next_ == number) next_ = number + 1;
  return message;
}

std::optional<std::string> Nats_Log::Reader::read(Number number, System::Duration wait) {
  if (number < 1) throw Exception(client_.name() + ": messages have numbers from 1 on");
  System& system = System::real();
  const System::Time end = System::after(system.now(), wait);
  if (!is_subscribed_at(number) && sequential_reads_ >= 2 && number == after_last_read_)
    subscribe(number);
  if (is_subscribed_at(number)) {
    if (auto message = take(number, {})) return message;
    if (subscription_ && !has_gap()) {
      if (number > last_) {
        if (wait > System::Duration{}) return wait_for(number, end);
        if (range().last < number) return std::nullopt;
      }
      // Either the message is in flight, or the server of the subscription hangs, which the library
      // notices late.
      if (auto message = take(number, client_.settings().answer_time)) return message;
      if (!has_gap()) unsubscribe();
    }
  }
  if (auto message = get(number)) return delivered(number, std::move(*message));
  if (wait <= System::Duration{}) return std::nullopt;
  if (!is_subscribed_at(number)) subscribe(number);
  return wait_for(number, end);
}

std::optional<std::string> Nats_Log::Reader::wait_for(Number number, System::Time end) {
  System& system = System::real();
  // The subscription delivers messages without requests. But it may fail unnoticed, so a reader
  // also asks the leader: after this time without a message, after a reconnection, and after a gap.
  // This is rare, because there may be thousands of readers.
  constexpr System::Duration quiet_time = 20s;
  while (true) {
    const System::Time start = system.now();
    const std::int64_t reconnections = client_.reconnections();
    do {
      const System::Duration slice = std::min<System::Duration>(end - system.now(), 1s);
      if (slice <= System::Duration{}) return std::nullopt;
      if (is_subscribed_at(number)) {
        if (auto message = take(number, slice)) return message;
      } else {
        system.sleep(std::min<System::Duration>(slice, 100ms));
      }
    } while (is_subscribed_at(number) && !has_gap() && system.now() - start < quiet_time &&
             reconnections == client_.reconnections());
    // The subscription may have failed, or its server may have lost the message.
    if (range().last < number) continue;
    if (!has_gap() && is_subscribed_at(number))
      if (auto message = take(number, 100ms)) return message;
    if (auto message = get(number)) return delivered(number, std::move(*message));
  }
}

// ---- durability ---------------------------------------------------------------------------------

Replicated_Log::Promise Nats_Log::Reader::promise() {
  const Nats_Stream_State state = state_of_stream();
  const Nats_Settings& settings = client_.settings();
  const std::string replicas =
      state.replicas == 1 ? "one replica" : std::to_string(state.replicas) + " replicas";
  if (!state.has_file_storage)
    return {Durability::unknown, replicas + ", in memory: nothing is written to a disk"};

  const auto add = [](std::string& list, const std::string& name) {
    list += (list.empty() ? "" : ", ") + name;
  };
  std::string down;
  std::vector<std::string> holders;
  for (const auto& peer : state.peers) {
    const bool is_down = peer.is_offline || peer.is_silent();
    if (is_down) add(down, peer.name);
    if (!is_down || settings.asked == Nats_Settings::Asked::all) holders.push_back(peer.name);
  }
  if (!state.leader.empty()) holders.push_back(state.leader);
  std::vector<Nats_Server_State> answers;
  const std::vector<std::string> urls = monitor_urls(settings.monitor, client_.servers());
  for (const std::string& url : urls)
    if (auto answer = ask_monitor(url, settings.answer_time)) answers.push_back(std::move(*answer));

  std::string silent;
  std::string late;
  if (holders.empty()) {  // the server is not in a cluster
    for (const auto& answer : answers)
      if (!answer.syncs_always) add(late, answer.name);
    if (answers.empty()) silent = "the server";
  }
  for (const std::string& holder : holders) {
    const auto answer = std::find_if(answers.begin(), answers.end(),
                                     [&holder](const auto& a) { return a.name == holder; });
    if (answer == answers.end())
      add(silent, holder);
    else if (!answer->syncs_always)
      add(late, holder);
  }

  std::string reason = replicas + (down.empty() ? "; " : ", of which " + down + " is down; ");
  if (state.persists_late) {
    reason += "the stream acknowledges before it writes (persist_mode: async)";
  } else if (!late.empty()) {
    reason += "without sync_interval: always on " + late;
  } else if (!silent.empty()) {
    reason += "whether they sync is not known of " + silent + " (no answer at the monitoring port)";
  } else if (state.replicas >= 3) {
    return {Durability::power, reason + (holders.size() > state.peers.size()
                                             ? "all servers sync before they acknowledge"
                                             : "the others sync before they acknowledge")};
  } else {
    return {Durability::process, reason + "it syncs before it acknowledges, and may be lost"};
  }
  if (state.replicas >= 3) return {Durability::machine, reason};
  if (state.persists_late) return {Durability::unknown, reason};
  return {late.empty() ? Durability::unknown : Durability::process, reason};
}

// ---- the log ------------------------------------------------------------------------------------

Nats_Log::Nats_Log(const Nats_Address& address, const Nats_Settings& settings, Logger& logger)
    : reader_(std::make_unique<Reader>(address, settings, logger), address.url()) {}
Nats_Log::~Nats_Log() = default;

std::string Nats_Log::name() const { return reader_->client().name(); }
bool Nats_Log::can_append() const { return reader_->can_append(); }
std::size_t Nats_Log::max_message_size() const { return reader_->max_message_size(); }
std::size_t Nats_Log::max_batch() const { return reader_->max_batch(); }
Replicated_Log::Range Nats_Log::range() { return reader_->range(); }
bool Nats_Log::append(std::span<const std::string> messages, Number last) {
  return reader_->check_loss([&] { return reader_->append(messages, last); });
}
std::optional<std::string> Nats_Log::read(Number number, System::Duration wait) {
  return reader_->check_loss([&] { return reader_->read(number, wait); });
}
std::optional<std::string> Nats_Log::read_elsewhere(Number number) {
  return reader_->read_elsewhere(number);
}
std::int64_t Nats_Log::reconnections() const { return reader_->reconnections(); }
Replicated_Log::Promise Nats_Log::promise() { return reader_->promise(); }
Nats_Stream_State Nats_Log::state() { return reader_->state_of_stream(); }

}  // namespace joedb::inline v1
