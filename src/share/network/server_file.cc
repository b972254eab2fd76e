#include "joedb/network/server_connection.h"

#include <algorithm>

#include "joedb/format/header.h"

namespace joedb::inline v1 {

// The first read is short, because often only the first entries are needed. Sequential reads become
// longer.
static constexpr Offset first_read = 4096;
static constexpr Offset max_block_size = Offset{1} << 20;

Server_File::Server_File(Connector& connector, Logger& log, System& system)
    : Abstract_File(connector.name(), Open_Mode::shared_write),
      connection_(connector, log, system) {
  set_end(connection_.get_checkpoint());
}

// Sets the end of the server's journal. The header in memory shows a hard checkpoint at this end,
// because durability is the responsibility of the server.
void Server_File::set_end(Offset checkpoint) {
  if (checkpoint < end_)
    throw Disconnection(get_name() + ": the server has lost what was behind position " +
                        std::to_string(checkpoint));
  end_ = checkpoint;
  tail_.clear();
  Header header;
  header.checkpoints[0] = header.checkpoints[1] = checkpoint;
  const auto bytes = encode_header(header);
  header_.assign(bytes.begin(), bytes.end());
}

// ---- the file -----------------------------------------------------------------------------------

Offset Server_File::get_size() const { return end_ + static_cast<Offset>(tail_.size()); }

std::size_t Server_File::pread(char* data, std::size_t size, Offset offset) const {
  std::size_t done = 0;
  while (done < size) {
    const Offset position = offset + static_cast<Offset>(done);
    const std::size_t wanted = size - done;
    std::size_t n = 0;
    if (position < journal_start) {
      n = std::min(wanted, static_cast<std::size_t>(journal_start - position));
      std::copy_n(header_.data() + position, n, data + done);
    } else if (position < end_) {
      n = read_body(data + done, std::min(wanted, static_cast<std::size_t>(end_ - position)),
                    position);
    } else if (position < get_size()) {
      n = std::min(wanted, static_cast<std::size_t>(get_size() - position));
      std::copy_n(tail_.data() + (position - end_), n, data + done);
    }
    if (n == 0) break;
    done += n;
  }
  return done;
}

std::size_t Server_File::read_body(char* data, std::size_t size, Offset offset) const {
  if (offset < cache_start_ || offset >= cache_end()) fill_cache(offset);
  if (offset >= cache_end()) throw Disconnection(get_name() + ": the server has lost entries");
  const std::size_t n = std::min(size, static_cast<std::size_t>(cache_end() - offset));
  std::copy_n(cache_.data() + (offset - cache_start_), n, data);
  return n;
}

void Server_File::fill_cache(Offset offset) const {
  Offset length = first_read;
  if (offset == cache_end())
    length = std::min({std::max(read_ahead_ * 16, first_read), max_block_size, end_ - offset});
  else if (end_ - journal_start <= first_read)
    offset = journal_start;
  read_ahead_ = length;
  std::vector<char> piece(static_cast<std::size_t>(length));
  piece.resize(connection_.read(piece.data(), piece.size(), offset));
  cache_ = std::move(piece);
  cache_start_ = offset;
}

void Server_File::pwrite(const char* data, std::size_t size, Offset offset) {
  const Offset end = offset + static_cast<Offset>(size);
  if (end <= journal_start) {
    std::copy_n(data, size, header_.data() + offset);
    return;
  }
  if (offset < end_) return require_same(data, size, offset);
  tail_.resize(std::max(tail_.size(), static_cast<std::size_t>(end - end_)));
  std::copy_n(data, size, tail_.data() + (offset - end_));
}

// Called when the client, after a push, writes the pushed bytes to its file.
void Server_File::require_same(const char* data, std::size_t size, Offset offset) const {
  std::vector<char> known(size);
  if (pread(known.data(), size, offset) < size || !std::equal(known.begin(), known.end(), data))
    throw Exception(get_name() + ": what the server has cannot be written");
}

bool Server_File::truncate(Offset size) {
  if (size < end_) throw Exception(get_name() + ": what the server has cannot be cut off");
  tail_.resize(static_cast<std::size_t>(size - end_));
  return true;
}

// ---- the connection -----------------------------------------------------------------------------

void Server_File::require_this(const Abstract_File& file) const {
  if (&file != this)
    throw Exception(get_name() + ": a Server_File is the file and the connection of one client");
}

void Server_File::compare(const Abstract_File& local, Offset, Offset, Content_Check) {
  require_this(local);
}

void Server_File::pull(const Pull& pull, const Receive& receive) {
  if (!tail_.empty())
    throw Exception(get_name() + ": there is something that was not pushed; push it first");
  connection_.pull_checkpoint(pull);
  try {
    set_end(get_checkpoint());
    if (end_ > pull.from) receive(*this, end_);
  } catch (...) {
    if (pull.takes_lock) connection_.unlock();
    throw;
  }
}

void Server_File::push(const Abstract_File& local, Offset end, Checkpoint_Level level,
                       After_Push after) {
  const std::size_t old_size = tail_.size();
  try {
    take_tail(local, end);
    connection_.push(*this, end, level, after);
  } catch (...) {
    tail_.resize(old_size);
    throw;
  }
  keep_tail();
  set_end(get_checkpoint());
}

// Copies to tail_ the bytes that are not yet in the file, but in a buffer of `local`.
void Server_File::take_tail(const Abstract_File& local, Offset end) {
  const Offset start = get_size();
  if (&local == this || end <= start) return;
  tail_.resize(static_cast<std::size_t>(end - end_));
  local.read_exactly(tail_.data() + (start - end_), static_cast<std::size_t>(end - start), start);
}

// Copies the pushed bytes to the cache, because the end of a journal is often read again soon.
void Server_File::keep_tail() {
  if (cache_end() != end_) {
    cache_.clear();
    cache_start_ = end_;
  }
  cache_.insert(cache_.end(), tail_.begin(), tail_.end());
  const auto size = static_cast<Offset>(cache_.size());
  const Offset surplus = std::max<Offset>(size - max_block_size, 0);
  cache_.erase(cache_.begin(), cache_.begin() + surplus);
  cache_start_ += surplus;
}

}  // namespace joedb::inline v1
