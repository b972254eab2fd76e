#include "commands/line_source.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "kernel/base/byte_order_mark.h"

namespace joedb::inline v1 {

static constexpr std::size_t block_size = std::size_t{1} << 16;

void Completions::add(std::string_view prefix, std::string_view word, std::string note) {
  if (!word.starts_with(prefix)) return;
  if (candidates.size() == most)
    is_cut = true;
  else
    candidates.push_back({std::string(word), std::move(note)});
}

std::string prompt_text(const std::string& text) { return "\x1b[36m" + text + "> \x1b[0m"; }

std::optional<std::string_view> Block_Line_Source::read_line(const std::string& prompt,
                                                             const Completer&) {
  out_ << prompt;
  std::size_t searched = 0;
  do {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t size = rest.find('\n', searched);
    if (size != rest.npos) {
      begin_ += size + 1;
      return take(rest.substr(0, size));
    }
    searched = rest.size();
  } while (refill());
  if (begin_ == end_) return std::nullopt;
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  return take(rest);
}

std::string_view Block_Line_Source::take(std::string_view line) {
  return std::exchange(is_first_line_, false) ? without_mark(line) : line;
}

// Moves the rest of the buffer to its start, and reads more bytes after it. Returns false at the
// end of the input.
bool Block_Line_Source::refill() {
  if (is_at_end_) return false;
  if (end_ > begin_) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (!make_room()) {
    skip_line();
    throw Line_Too_Long("the line is too long: there is no memory for it, or it has more than " +
                        std::to_string(max_line_size >> 20) + " MiB");
  }
  out_.flush();
  const std::size_t n = read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += n;
  is_at_end_ = n == 0;
  return !is_at_end_;
}

// Makes room for another block. Returns false if the line is too long.
bool Block_Line_Source::make_room() {
  if (buffer_.size() - end_ >= block_size) return true;
  if (end_ > max_line_size) return false;
  try {
    buffer_.resize(std::min(2 * buffer_.size(), max_line_size + block_size) + block_size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// Skips the rest of a line that fills the buffer, and frees the buffer.
void Block_Line_Source::skip_line() {
  buffer_.clear();
  buffer_.shrink_to_fit();
  buffer_.resize(block_size);
  while (!is_at_end_) {
    end_ = read(buffer_.data(), block_size);
    is_at_end_ = end_ == 0;
    const std::string_view block(buffer_.data(), end_);
    begin_ = std::min(block.find('\n'), end_ - 1) + 1;
    if (begin_ > 0 && block[begin_ - 1] == '\n') return;
  }
}

std::size_t Text_Line_Source::read(char* data, std::size_t size) {
  const std::size_t n = std::min(size, text_.size());
  std::copy_n(text_.data(), n, data);
  text_.remove_prefix(n);
  return n;
}

}  // namespace joedb::inline v1
