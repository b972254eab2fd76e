#include "joedb/network/rpc_client.h"

#include <algorithm>
#include <cassert>

#include "share/network/protocol.h"
#include "share/network/rpc_protocol.h"

namespace joedb::inline v1::rpc {

namespace code = network::rpc_code;
using network::append_number;

// Runs every request, one at a time. state_ is `lost` while f() runs: if f() ends early, its reply
// may still arrive, and no other request may use the channel.
template <class F>
auto Client::request(F&& f) {
  process_.require_own("the connection to the server");
  const std::lock_guard lock(using_);
  if (state_ == State::lost) throw Connection_Lost(failure_);
  if (state_ == State::refused) throw Disconnection(failure_);
  last_use_ = std::chrono::steady_clock::now();
  state_ = State::lost;
  failure_ = "the connection was given up in a request";
  try {
    auto result = f();
    state_ = State::working;
    return result;
  } catch (const Error&) {
    state_ = State::working;
    throw;
  } catch (const Disconnection& error) {
    state_ = State::refused;
    failure_ = error.what();
    throw;
  } catch (const Connection_Lost& error) {
    failure_ = error.what();
    throw;
  }
}

Client::Client(Channel& channel, std::vector<Signature> signatures,
               std::chrono::milliseconds interval)
    : channel_(channel), signatures_(std::move(signatures)), input_(channel) {
  request([this] {
    say_hello();
    return 0;
  });
  if (interval > interval.zero()) keeper_ = std::thread([this, interval] { keep_alive(interval); });
}

Client::~Client() {
  if (process_.is_inherited()) {
    // The thread exists only in the parent process: it cannot be joined here.
    keep_until_exit(std::make_shared<std::thread>(std::move(keeper_)));
    return;
  }
  if (keeper_.joinable()) {
    {
      const std::lock_guard lock(using_);
      must_stop_ = true;
    }
    stopping_->notify_one();
    keeper_.join();
  }
  if (state_ != State::working) return;
  try {
    channel_.write(&code::quit, 1);
  } catch (const std::exception&) {  // the server is gone already
  }
}

void Client::say_hello() {
  const network::Content_Hash hash = network::hash_of(signatures_);
  channel_.write(hash.data(), hash.size());
  const char reply = input_.read_byte();
  if (reply != code::hello && reply != code::mismatch)
    throw Disconnection("failed handshake: the server does not speak the protocol");
  session_ = input_.read_number();
  if (reply == code::mismatch)
    throw Disconnection("failed handshake: the server has other procedures, or other messages");
}

void Client::send_ping() {
  channel_.write(&code::ping, 1);
  if (input_.read_byte() != code::ping) throw Disconnection("unexpected reply to a ping");
}

void Client::ping() {
  request([this] {
    send_ping();
    return 0;
  });
}

std::string Client::exchange(std::size_t procedure, std::string_view file) {
  const std::size_t start = signatures_[procedure].prolog.size();
  const auto until = static_cast<Offset>(file.size());
  assert(file.size() >= start);
  if (until > message_limit_)
    throw Exception("the message has " + std::to_string(until) + " bytes; the limit is " +
                    std::to_string(message_limit_));
  return request([&] {
    std::string out(1, code::call);
    append_number(out, static_cast<std::int64_t>(procedure));
    append_number(out, until);
    out.append(file.substr(start));
    channel_.write(out.data(), out.size());

    const char reply = input_.read_byte();
    const std::int64_t number = input_.read_number();
    if (reply == code::failure) {
      if (number < 0 || number > static_cast<std::int64_t>(network::max_error_size))
        throw Disconnection("an error text of " + std::to_string(number) + " bytes");
      throw Error(receive(static_cast<std::size_t>(number)));
    }
    if (reply != code::call) throw Disconnection("unexpected reply to a call");
    if (number < until || number > message_limit_)
      throw Disconnection("a message of " + std::to_string(until) + " bytes was returned with " +
                          std::to_string(number) + "; the limit is " +
                          std::to_string(message_limit_));
    return receive(static_cast<std::size_t>(number - until));
  });
}

// Receives `size` bytes. Memory grows with the bytes received, whatever `size` the server claims.
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

void Client::keep_alive(std::chrono::milliseconds interval) {
  for (;;) {
    {
      std::unique_lock lock(using_);
      const auto next = last_use_ + interval;
      if (stopping_->wait_until(lock, next, [this] { return must_stop_; })) return;
      if (last_use_ + interval > next) continue;  // the connection was used meanwhile
      if (state_ != State::working) return;
    }
    try {
      ping();
    } catch (const std::exception&) {  // the next call throws it
      return;
    }
  }
}

}  // namespace joedb::inline v1::rpc
