#include "joedb/network/rpc.h"

#include <algorithm>
#include <cassert>

#include "kernel/base/plain_text.h"
#include "share/network/protocol.h"
#include "share/network/request_runner.h"
#include "share/network/rpc_protocol.h"

namespace joedb::inline v1::rpc {

namespace code = network::rpc_code;
using network::append_number;

Client::Client(Channel& channel, std::vector<Signature> signatures,
               std::chrono::milliseconds interval)
    : channel_(channel),
      signatures_(std::move(signatures)),
      input_(channel),
      requests_(std::make_unique<Request_Runner>()) {
  requests_->run([this] { say_hello(); });
  // Ignore the exceptions of a ping, because the next call throws the same exception.
  requests_->start_pings(
      interval, [this] { send_ping(); }, [](const std::exception&) {});
}

Client::~Client() {
  requests_->end([this] { channel_.write(&code::quit, 1); });
}

void Client::say_hello() {
  const network::Content_Hash hash = network::hash_of(signatures_);
  channel_.write(hash.data(), hash.size());
  const char reply = input_.read_byte();
  if (reply != code::hello && reply != code::mismatch)
    throw Protocol_Error("failed handshake: the server does not speak the protocol");
  session_ = input_.read_number();
  if (reply == code::mismatch)
    throw Protocol_Error("failed handshake: the server has other procedures, or other messages");
}

void Client::send_ping() {
  channel_.write(&code::ping, 1);
  if (input_.read_byte() != code::ping) throw Protocol_Error("unexpected reply to a ping");
}

void Client::ping() {
  requests_->run([this] { send_ping(); });
}

std::string Client::exchange(std::size_t procedure, std::string_view file) {
  const std::size_t start = signatures_[procedure].prolog.size();
  const auto until = static_cast<Offset>(file.size());
  assert(file.size() >= start);
  if (until > message_limit_)
    throw Exception("the message has " + std::to_string(until) + " bytes; the limit is " +
                    std::to_string(message_limit_));
  std::string result;
  bool has_failed = false;
  requests_->run([&] {
    std::string out(1, code::call);
    append_number(out, static_cast<std::int64_t>(procedure));
    append_number(out, until);
    out.append(file.substr(start));
    channel_.write(out.data(), out.size());

    const char reply = input_.read_byte();
    const std::int64_t number = input_.read_number();
    if (reply == code::failure) {
      if (number < 0 || number > static_cast<std::int64_t>(network::max_error_size))
        throw Protocol_Error("an error text of " + std::to_string(number) + " bytes");
      result = receive(static_cast<std::size_t>(number));
      has_failed = true;
      return;
    }
    if (reply != code::call) throw Protocol_Error("unexpected reply to a call");
    if (number < until || number > message_limit_)
      throw Protocol_Error("a message of " + std::to_string(until) + " bytes was returned with " +
                           std::to_string(number) + "; the limit is " +
                           std::to_string(message_limit_));
    result = receive(static_cast<std::size_t>(number - until));
  });
  if (has_failed) throw Error(plain_lines(result));
  return result;
}

// Receives `size` bytes. Allocates memory only as bytes arrive, whatever `size` the server claims.
std::string Client::receive(std::size_t size) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string bytes;
  while (bytes.size() < size) {
    const std::size_t start = bytes.size();
    bytes.resize(std::min(size, start + piece));
    input_.read_exactly(bytes.data() + start, bytes.size() - start);
  }
  return bytes;
}

}  // namespace joedb::inline v1::rpc
