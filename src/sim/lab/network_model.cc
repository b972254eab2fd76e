#include "sim/lab/network_simulation.h"

#include <charconv>

#include "joedb/format/entry.h"

namespace joedb::testing::network_lab {

void append_comment(std::string& bytes, std::string_view text) {
  char size[max_compact_size];
  bytes += '\x0a';
  bytes.append(size, write_compact(size, text.size()));
  bytes += text;
}

std::optional<Owner> owner_of(std::string_view bytes) {
  if (bytes.size() < 3 || bytes[0] != '\x0a' || bytes[2] != '@') return std::nullopt;
  Owner owner;
  const char* const end = bytes.data() + std::min<std::size_t>(bytes.size(), 33);
  const auto client = std::from_chars(bytes.data() + 3, end, owner.client);
  if (client.ec != std::errc() || client.ptr == end || *client.ptr != '.') return std::nullopt;
  const auto number = std::from_chars(client.ptr + 1, end, owner.number);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != ';') return std::nullopt;
  return owner;
}

// ---- the model ----------------------------------------------------------------------------------

// Adds the new bytes of the server's journal to the model. Returns a description of the error; ""
// if there is none.
std::string Network::extend_journal(std::string_view body) {
  std::size_t at = served_.size();
  while (at < body.size()) {
    const std::string_view rest = body.substr(at);
    const auto owner = owner_of(rest);
    if (!owner || owner->client >= clients_.size() ||
        owner->number >= clients_[owner->client].transactions.size())
      return "bytes that nobody has written, at " + std::to_string(at);
    Client& client = clients_[owner->client];
    Transaction& transaction = client.transactions[owner->number];
    const std::string name =
        "transaction " + std::to_string(owner->client) + "." + std::to_string(owner->number);
    if (!rest.starts_with(transaction.bytes)) return "a part of " + name;
    if (transaction.is_cancelled) return name + ", which was cancelled";
    if (transaction.is_refused) return name + ", which was refused";
    if (transaction.end != 0) return name + " twice";
    if (owner->number < client.last_in_journal) return name + " behind a later one";
    client.last_in_journal = owner->number + 1;
    at += transaction.bytes.size();
    transaction.end = at;
    if (is_shared_) ends_.insert(at);  // one step may contain a push, followed by direct writes
  }
  served_ = body;
  ends_.insert(at);
  hub().growth.emplace_back(now_, at);
  return {};
}

void Network::observe() {
  const std::size_t size = body_size(hub().journal->get_checkpoint());
  if (size == served_.size()) return;
  if (size < served_.size()) return fail("the journal of the server has become shorter");
  const std::string_view body = served_body(size);
  if (body.size() < size || !body.starts_with(served_))
    return fail("the journal of the server has changed");
  ++counts_.pushes;
  if (const std::string wrong = extend_journal(body); !wrong.empty())
    fail("in the journal of the server: " + wrong);
}

// Compares the journal of a restarted server with its journal before. Returns a description of the
// error; "" if there is none.
std::string Network::recovered() {
  const std::size_t size = body_size(hub().journal->get_checkpoint());
  const std::string body(served_body(size));
  if (body.size() < size) return "the checkpoint is behind the end of the file";
  if (body.starts_with(served_)) return extend_journal(body);
  if (hub().is_hard || !hub().was_power_cut)
    return "something that was served is lost: " + std::to_string(body.size()) + " bytes of " +
           std::to_string(served_.size());
  if (!std::string_view(served_).starts_with(body) || !ends_.contains(body.size()))
    return "bytes that nobody has written";
  lost_.push_back(std::exchange(served_, body));
  hub().growth.clear();
  acknowledged_ = std::min(acknowledged_, body.size());
  for (Client& client : clients_) {
    client.last_in_journal = 0;
    for (std::size_t i = 0; i < client.transactions.size(); ++i) {
      Transaction& transaction = client.transactions[i];
      if (transaction.end > body.size()) transaction.end = 0;
      transaction.is_refused = false;  // a copy may still have it, and can push it now
      if (transaction.end != 0) client.last_in_journal = i + 1;
    }
  }
  return {};
}

static std::string body_of(const joedb::Client& store, const Abstract_File& file) {
  std::string body(body_size(store.get_journal_checkpoint()), '\0');
  file.read_exactly(body.data(), body.size(), journal_start);
  return body;
}

// Checks that a client's copy is the server's journal at the end of some push, followed by the
// client's own transactions.
void Network::check_copy(Client& client, const joedb::Client& store, const Abstract_File& file) {
  if (client.copy == Copy_Kind::none && (!lost_.empty() || random_.flip())) return;
  const std::string body = body_of(store, file);
  const std::size_t known = body_size(store.get_connection_checkpoint());
  const auto common = std::string_view(body).substr(0, known);
  const auto is_prefix_of = [&](const std::string& journal) {
    return std::string_view(journal).starts_with(common);
  };
  const std::string who = "client " + std::to_string(client.index) + " has ";
  if (!is_prefix_of(served_) && std::none_of(lost_.begin(), lost_.end(), is_prefix_of))
    return fail(who + "bytes that the server never had");
  if (!ends_.contains(known)) return fail(who + "a part of a push");
  for (std::size_t at = common.size(); at < body.size();) {
    const auto rest = std::string_view(body).substr(at);
    const auto owner = owner_of(rest);
    const bool is_known = owner && owner->client < clients_.size() &&
                          owner->number < clients_[owner->client].transactions.size();
    if (!is_known || (owner->client != client.index && lost_.empty()))
      return fail(who + "bytes that neither the server nor this client has written");
    const Transaction& own = clients_[owner->client].transactions[owner->number];
    if (!rest.starts_with(own.bytes)) return fail(who + "a part of its own transaction");
    if (own.is_cancelled) return fail(who + "a transaction that was cancelled");
    at += own.bytes.size();
  }
}

// Called when the server has acknowledged everything in the client's copy.
void Network::acknowledge(Client& client, const joedb::Client& store, const Abstract_File& file) {
  const std::size_t size = body_size(store.get_journal_checkpoint());
  const std::string who = "client " + std::to_string(client.index);
  if (client.epoch != lost_.size()) return;
  if (size > served_.size())
    return fail(who + ": a push was acknowledged that is not in the journal of the server");
  if (client.copy != Copy_Kind::none &&
      !std::string_view(served_).starts_with(body_of(store, file)))
    return fail(who + ": a push was acknowledged, and its copy is not that of the server");
  acknowledged_ = std::max(acknowledged_, size);
  for (Transaction& transaction : client.transactions) {
    if (transaction.is_acknowledged || transaction.is_cancelled || transaction.end == 0 ||
        transaction.end > size)
      continue;
    transaction.is_acknowledged = true;
    ++counts_.acknowledged;
  }
}

}  // namespace joedb::testing::network_lab
