#include "share/cluster/nats_client.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>

#include "joedb/base/threads.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "kernel/io/secret_file.h"

namespace joedb::inline v1 {

using std::chrono::milliseconds;

namespace {

std::int64_t in_ms(System::Duration time) {
  return std::max<std::int64_t>(1, std::chrono::duration_cast<milliseconds>(time).count());
}

// The events of a connection. Threads of the NATS library report them.
struct Events {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  std::string refusal;  // the reason why a request got no reply
  bool is_closed = false;

  void add(std::string line) {
    const std::lock_guard lock(mutex);
    constexpr std::size_t most = 100;  // the caller may stop making requests
    if (lines.size() < most) lines.push_back(std::move(line));
    changed.notify_all();
  }
};

std::string server_of(natsConnection* connection) {
  char url[512];
  if (natsConnection_GetConnectedUrl(connection, url, sizeof url) != NATS_OK) return "";
  const std::string text(url);
  const std::size_t host = std::max(text.rfind('/') + 1, text.rfind('@') + 1);
  return text.substr(host);
}

void on_disconnected(natsConnection*, void* events) {
  static_cast<Events*>(events)->add("the connection is lost");
}
void on_reconnected(natsConnection* connection, void* events) {
  static_cast<Events*>(events)->add("connected again, to " + plain(server_of(connection)));
}
void on_closed(natsConnection*, void* closure) {
  Events& events = *static_cast<Events*>(closure);
  const std::lock_guard lock(events.mutex);
  events.is_closed = true;
  events.changed.notify_all();
}
// When connections are closed, threads of the library release the last ones, and their OpenSSL
// objects. At exit, this must happen before OpenSSL cleans up. Therefore this object is created
// after the first connection: it is destroyed before the cleanup.
struct Library_End {
  ~Library_End() {
    if (!process_.is_inherited()) nats_CloseAndWait(1000);
  }

 private:
  const Process_Mark process_;
};

// Replaces the default handler, which writes to standard error. Replies show all errors that matter
// except missing permissions: then the server drops the message without a reply.
void on_error(natsConnection* connection, natsSubscription*, natsStatus, void* closure) {
  const char* text = nullptr;
  natsConnection_GetLastError(connection, &text);
  if (text == nullptr || std::string_view(text).find("ermissions") == std::string_view::npos)
    return;
  Events& events = *static_cast<Events*>(closure);
  const std::lock_guard lock(events.mutex);
  events.refusal = plain(text);
}

}  // namespace

std::string_view nats_data(const natsMsg& message) {
  return {natsMsg_GetData(&message), static_cast<std::size_t>(natsMsg_GetDataLength(&message))};
}

std::string nats_header(natsMsg& message, const char* key) {
  const char* value = nullptr;
  return natsMsgHeader_Get(&message, key, &value) == NATS_OK && value ? value : "";
}

// ---- one connection -----------------------------------------------------------------------------

class Nats_Client::Connection {
 public:
  // Connects to one of `servers`. If `reconnects`, later reconnects to any server of the cluster.
  Connection(const Nats_Client& client, const std::vector<std::string>& servers, bool reconnects) {
    reserve_standard_descriptors();
    natsOptions* options = nullptr;
    client.check(natsOptions_Create(&options), "options");
    const Nats_Pointer<natsOptions, natsOptions_Destroy> owner(options);
    set(client, *options, servers, reconnects);
    client.check(natsConnection_Connect(&connection_, options),
                 reconnects ? "no server can be used" : "the server cannot be used");
    static const Library_End library_end;
    jsOptions js_options;
    jsOptions_Init(&js_options);
    js_options.Wait = in_ms(client.settings_.answer_time);
    const natsStatus status = natsConnection_JetStream(&jetstream_, connection_, &js_options);
    if (status == NATS_OK) return;
    close();
    client.fail(status, "JetStream");
  }
  ~Connection() {
    jsCtx_Destroy(jetstream_);
    close();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  natsConnection* get() const { return connection_; }
  jsCtx* jetstream() const { return jetstream_; }
  Events& events() { return *events_; }

 private:
  void set(const Nats_Client& client, natsOptions& options, const std::vector<std::string>& servers,
           bool reconnects) {
    const Nats_Address& address = client.address_;
    const Nats_Settings& settings = client.settings_;
    const auto check = [&client](natsStatus status, const std::string& what) {
      if (status == NATS_OK) return;
      const char* const text = nats_GetLastError(nullptr);
      throw Exception(client.name_ + ": " + what + ": " +
                      plain(text && *text ? text : natsStatus_GetText(status)));
    };
    std::vector<std::string> urls;
    for (const std::string& server : servers)
      urls.push_back((address.has_tls ? "tls://" : "nats://") + server);
    std::vector<const char*> pointers;
    for (const std::string& url : urls) pointers.push_back(url.c_str());
    check(natsOptions_SetServers(&options, pointers.data(), static_cast<int>(pointers.size())),
          "servers");
    if (!address.user.empty() && address.password.empty())
      check(natsOptions_SetToken(&options, address.user.c_str()), "token");
    else if (!address.user.empty())
      check(natsOptions_SetUserInfo(&options, address.user.c_str(), address.password.c_str()),
            "user");
    if (!settings.credentials_file.empty()) {
      require_secret(settings.credentials_file);
      check(natsOptions_SetUserCredentialsFromFiles(&options, settings.credentials_file.c_str(),
                                                    nullptr),
            settings.credentials_file);
    }
    if (address.has_tls) {
      check(natsOptions_SetSecure(&options, true), "TLS");
      if (!settings.authority_file.empty())
        check(natsOptions_LoadCATrustedCertificates(&options, settings.authority_file.c_str()),
              settings.authority_file);
      if (!settings.certificate_file.empty()) {
        require_secret(settings.key_file);
        check(natsOptions_LoadCertificatesChain(&options, settings.certificate_file.c_str(),
                                                settings.key_file.c_str()),
              settings.certificate_file);
      }
    }
    const std::int64_t time = in_ms(settings.answer_time);
    natsOptions_SetName(&options, "joedb");
    natsOptions_SetTimeout(&options, time);
    natsOptions_SetWriteDeadline(&options, time);  // the server may not read
    natsOptions_SetFailRequestsOnDisconnect(&options, true);
    natsOptions_SetAllowReconnect(&options, reconnects);
    natsOptions_SetMaxReconnect(&options, -1);
    natsOptions_SetReconnectWait(&options, 100);
    // Pings detect a stopped server or a cut cable, neither of which closes the connection.
    natsOptions_SetPingInterval(&options, std::max<std::int64_t>(time, 1000));
    natsOptions_SetMaxPingsOut(&options, 2);
    natsOptions_SetErrorHandler(&options, on_error, events_.get());
    natsOptions_SetDisconnectedCB(&options, on_disconnected, events_.get());
    natsOptions_SetReconnectedCB(&options, on_reconnected, events_.get());
    natsOptions_SetClosedCB(&options, on_closed, events_.get());
  }

  void close() {
    if (!connection_) return;
    natsConnection_Close(connection_);
    natsConnection_Destroy(connection_);
    connection_ = nullptr;
    // Threads of the library may still use events_. The last function that they call is on_closed.
    // If it is not called in time, events_ is leaked.
    std::unique_lock lock(events_->mutex);
    if (events_->changed.wait_for(lock, std::chrono::seconds(5),
                                  [this] { return events_->is_closed; }))
      return;
    lock.unlock();
    static_cast<void>(events_.release());
  }

  std::unique_ptr<Events> events_ = std::make_unique<Events>();
  natsConnection* connection_ = nullptr;
  jsCtx* jetstream_ = nullptr;
};

// ---- the client ---------------------------------------------------------------------------------

Nats_Client::Nats_Client(const Nats_Address& address, const Nats_Settings& settings, Logger& logger)
    : address_(address), settings_(settings), logger_(logger), name_(address.url()) {
  connect();
}

Nats_Client::~Nats_Client() = default;

void Nats_Client::connect() {
  connection_ = std::make_unique<Connection>(*this, address_.servers, true);
  ++generation_;
}

std::int64_t Nats_Client::reconnections() const {
  std::uint64_t count = 0;
  natsStatistics* pointer = nullptr;
  if (natsStatistics_Create(&pointer) == NATS_OK) {
    const Nats_Pointer<natsStatistics, natsStatistics_Destroy> statistics(pointer);
    if (natsConnection_GetStats(connection_->get(), pointer) == NATS_OK)
      natsStatistics_GetCounts(pointer, nullptr, nullptr, nullptr, nullptr, &count);
  }
  return (std::int64_t{generation_} << 32) + static_cast<std::int64_t>(count);
}

void Nats_Client::check(natsStatus status, std::string_view action) const {
  if (status != NATS_OK) fail(status, action);
}

void Nats_Client::fail(natsStatus status, std::string_view action) const {
  std::string text = name_ + ": " + std::string(action) + ": " + natsStatus_GetText(status);
  switch (status) {
    case NATS_CONNECTION_AUTH_FAILED:
      throw Disconnection(text + ": check user, password and credentials");
    case NATS_SSL_ERROR:
    case NATS_SECURE_CONNECTION_WANTED:
    case NATS_SECURE_CONNECTION_REQUIRED: {
      const char* const reason = nats_GetLastError(nullptr);
      if (reason && *reason) text.append(": ").append(plain(reason));
      throw Disconnection(text + ": check tls:// and the certificates");
    }
    case NATS_NOT_PERMITTED:
    case NATS_MAX_PAYLOAD:
    case NATS_NO_SERVER_SUPPORT:
    case NATS_INVALID_ARG:
    case NATS_INVALID_SUBJECT:
      throw Disconnection(text);
    case NATS_NO_MEMORY:
      throw std::bad_alloc();
    default:
      throw Connection_Lost(text);
  }
}

void Nats_Client::log_events() {
  std::vector<std::string> lines;
  {
    Events& events = connection_->events();
    const std::lock_guard lock(events.mutex);
    lines.swap(events.lines);
  }
  for (const std::string& line : lines) logger_.log(name_ + ": " + line);
}

natsConnection* Nats_Client::connected() {
  if (connection_) {
    Events& events = connection_->events();
    std::unique_lock lock(events.mutex);
    natsConnection* const connection = connection_->get();
    events.changed.wait_for(lock, settings_.answer_time, [connection] {
      const natsConnStatus status = natsConnection_Status(connection);
      return status == NATS_CONN_STATUS_CONNECTED || status == NATS_CONN_STATUS_CLOSED;
    });
    lock.unlock();
    log_events();
    const natsConnStatus status = natsConnection_Status(connection);
    if (status == NATS_CONN_STATUS_CONNECTED) return connection;
    if (status != NATS_CONN_STATUS_CLOSED)
      throw Connection_Lost(name_ + ": no server of the cluster can be reached");
  }
  // The library gave up, because a server refused the connection twice.
  connect();
  return connection_->get();
}

Nats_Message Nats_Client::request_on(natsConnection* connection, const std::string& subject,
                                     std::string_view body, const Headers& headers,
                                     System::Duration time, natsStatus& status) const {
  natsMsg* message = nullptr;
  status = natsMsg_Create(&message, subject.c_str(), nullptr, body.data(),
                          static_cast<int>(body.size()));
  const Nats_Message owner(message);
  for (const auto& [key, value] : headers)
    if (status == NATS_OK) status = natsMsgHeader_Set(message, key, value.c_str());
  natsMsg* answer = nullptr;
  if (status == NATS_OK)
    status =
        natsConnection_RequestMsg(&answer, connection, message,
                                  in_ms(time > System::Duration{} ? time : settings_.answer_time));
  return Nats_Message(answer);
}

Nats_Message Nats_Client::request(const std::string& subject, std::string_view body,
                                  const Headers& headers, System::Duration time) {
  natsStatus status = NATS_OK;
  Nats_Message answer = request_on(connected(), subject, body, headers, time, status);
  const std::string refusal = take_refusal();
  if (status != NATS_OK && !refusal.empty()) throw Disconnection(name_ + ": " + refusal);
  check(status, subject);
  return answer;
}

std::string Nats_Client::take_refusal() {
  Events& events = connection_->events();
  const std::lock_guard lock(events.mutex);
  return std::exchange(events.refusal, {});
}

void Nats_Client::publish(const std::string& subject, std::string_view body,
                          const Headers& headers) {
  natsConnection* const connection = connected();
  natsMsg* message = nullptr;
  check(natsMsg_Create(&message, subject.c_str(), nullptr, body.data(),
                       static_cast<int>(body.size())),
        subject);
  const Nats_Message owner(message);
  for (const auto& [key, value] : headers)
    check(natsMsgHeader_Set(message, key, value.c_str()), subject);
  check(natsConnection_PublishMsg(connection, message), subject);
}

void Nats_Client::end(Nats_Subscription subscription) {
  if (!subscription) return;
  natsSubscription_Unsubscribe(subscription.get());
  // The reply to the flush arrives after all messages.
  if (connection_) natsConnection_FlushTimeout(connection_->get(), in_ms(settings_.answer_time));
}

jsCtx& Nats_Client::jetstream() {
  connected();
  return *connection_->jetstream();
}

std::int64_t Nats_Client::max_payload() { return natsConnection_GetMaxPayload(connected()); }

std::vector<std::string> Nats_Client::servers() {
  natsConnection* const connection = connected();
  char** urls = nullptr;
  int count = 0;
  check(natsConnection_GetServers(connection, &urls, &count), "servers");
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) {
    const std::string url(urls[i]);
    std::free(urls[i]);
    result.push_back(url.substr(std::max(url.rfind('/') + 1, url.rfind('@') + 1)));
  }
  std::free(urls);
  const std::string own = server_of(connection);
  std::stable_partition(result.begin(), result.end(),
                        [&own](const std::string& server) { return server == own; });
  return result;
}

std::optional<Nats_Message> Nats_Client::request_from(const std::string& server,
                                                      const std::string& subject,
                                                      std::string_view body) {
  auto known = std::find_if(others_.begin(), others_.end(),
                            [&server](const auto& other) { return other.first == server; });
  if (known != others_.end() && natsConnection_IsClosed(known->second->get())) {
    others_.erase(known);
    known = others_.end();
  }
  if (known == others_.end()) {
    try {
      others_.emplace_back(
          server, std::make_unique<Connection>(*this, std::vector<std::string>{server}, false));
      known = std::prev(others_.end());
    } catch (const Connection_Lost&) {
      return std::nullopt;
    } catch (const Disconnection&) {
      return std::nullopt;
    }
  }
  natsStatus status = NATS_OK;
  Nats_Message answer = request_on(known->second->get(), subject, body, {}, {}, status);
  if (status == NATS_OK) return answer;
  others_.erase(known);
  return std::nullopt;
}

}  // namespace joedb::inline v1
