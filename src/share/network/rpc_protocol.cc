#include "share/network/rpc_protocol.h"

#include <algorithm>
#include <utility>

#include "joedb/format/header.h"
#include "kernel/schema/value_text.h"
#include "share/network/protocol.h"

namespace joedb::network {

Content_Hash hash_of(const std::vector<rpc::Signature>& signatures) {
  std::string text;
  for (const rpc::Signature& signature : signatures) {
    append_quoted(text, signature.name);
    append_quoted(text, signature.prolog);
  }
  // content_hash() reads from position journal_start on, so `text` begins there.
  const auto read = [&text](char* data, std::size_t size, Offset offset) {
    text.copy(data, size, static_cast<std::size_t>(offset - journal_start));
  };
  return content_hash(read, journal_start + static_cast<Offset>(text.size()), true);
}

std::string_view cut_error(std::string_view text) {
  if (text.size() <= max_error_size) return text;
  std::size_t size = max_error_size;
  const auto is_inside_sequence = [&] { return (text[size] & 0xC0) == 0x80; };
  while (size > max_error_size - 3 && is_inside_sequence()) --size;
  return text.substr(0, is_inside_sequence() ? max_error_size : size);
}

bool Rpc_Requests::take(Request& request) {
  request = {};
  if (!has_hello_) return take_hello(request);
  return is_in_call_ ? take_body(request) : take_header(request);
}

bool Rpc_Requests::take_hello(Request& request) {
  if (input_.size() < sizeof(Content_Hash)) return false;
  request.kind = Request::Kind::hello;
  request.bytes = input_.substr(0, sizeof(Content_Hash));
  input_.erase(0, sizeof(Content_Hash));
  has_hello_ = true;
  return true;
}

bool Rpc_Requests::take_header(Request& request) {
  constexpr std::size_t header_size = 1 + 8 + 8;
  const auto invalid = [&request](std::string problem) {
    request.kind = Request::Kind::invalid;
    request.problem = std::move(problem);
    return true;
  };
  if (input_.empty()) return false;
  switch (input_.front()) {
    case rpc_code::ping:
      request.kind = Request::Kind::ping;
      input_.erase(0, 1);
      return true;
    case rpc_code::quit:
      request.kind = Request::Kind::quit;
      return true;
    case rpc_code::call:
      break;
    default:
      return invalid("unknown code " + std::to_string(static_cast<unsigned char>(input_.front())));
  }
  if (input_.size() < header_size) return false;
  const std::int64_t procedure = number_at(input_, 1);
  const Offset until = number_at(input_, 9);
  input_.erase(0, header_size);
  if (procedure < 0 || procedure >= static_cast<std::int64_t>(prolog_sizes_.size()))
    return invalid("there is no procedure " + std::to_string(procedure));
  procedure_ = static_cast<std::size_t>(procedure);
  if (until < prolog_sizes_[procedure_])
    return invalid("a message cannot end at " + std::to_string(until));
  if (until > message_limit_)
    return invalid("a message of " + std::to_string(until) + " bytes; at most " +
                   std::to_string(message_limit_) + " are allowed");
  body_size_ = static_cast<std::size_t>(until - prolog_sizes_[procedure_]);
  is_in_call_ = true;
  return take_body(request);
}

bool Rpc_Requests::take_body(Request& request) {
  const std::size_t n = std::min(input_.size(), body_size_ - body_.size());
  body_.append(input_, 0, n);
  input_.erase(0, n);
  if (body_.size() < body_size_) return false;
  request.kind = Request::Kind::call;
  request.procedure = procedure_;
  request.bytes = std::exchange(body_, {});
  is_in_call_ = false;
  return true;
}

}  // namespace joedb::network
