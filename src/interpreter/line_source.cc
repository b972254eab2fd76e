#include "interpreter/line_source.h"

#include <algorithm>
#include <cstring>

namespace joedb::inline v1 {

static constexpr std::size_t block_size = std::size_t{1} << 16;

std::string prompt_text(const std::string& text) { return "\x1b[36m" + text + "> \x1b[0m"; }

std::optional<std::string_view> Block_Line_Source::next(const std::string& prompt,
                                                        const Completer&) {
  out_ << prompt;
  std::size_t searched = 0;
  do {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t size = rest.find('\n', searched);
    if (size != rest.npos) {
      begin_ += size + 1;
      return rest.substr(0, size);
    }
    searched = rest.size();
  } while (refill());
  if (begin_ == end_) return std::nullopt;
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  return rest;
}

// Moves the rest of the buffer to its start and reads more behind it.
bool Block_Line_Source::refill() {
  if (is_at_end_) return false;
  if (end_ > begin_) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() - end_ < block_size) buffer_.resize(2 * buffer_.size() + block_size);
  out_.flush();
  const std::size_t n = read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += n;
  is_at_end_ = n == 0;
  return !is_at_end_;
}

std::size_t Text_Line_Source::read(char* data, std::size_t size) {
  const std::size_t n = std::min(size, text_.size());
  std::copy_n(text_.data(), n, data);
  text_.remove_prefix(n);
  return n;
}

}  // namespace joedb::inline v1
