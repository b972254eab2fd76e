#ifndef JOEDB_SRC_TEXT_TEXT_BUFFER_H
#define JOEDB_SRC_TEXT_TEXT_BUFFER_H

#include <charconv>
#include <concepts>
#include <ostream>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Buffers text, and writes it to a stream in large blocks.
class Text_Buffer {
 public:
  // `out` must outlive the buffer.
  explicit Text_Buffer(std::ostream& out) : out_(out) { text_.reserve(2 * block_size); }
  // Writes the remaining text, and ignores exceptions of the stream. To get these exceptions, call
  // flush() first.
  ~Text_Buffer();
  Text_Buffer(const Text_Buffer&) = delete;
  Text_Buffer& operator=(const Text_Buffer&) = delete;

  // Returns the buffered text. Append to it.
  std::string& text() { return text_; }

  // Appends texts, characters and integers, one after the other.
  template <class... Parts>
  void add(const Parts&... parts) {
    (append(parts), ...);
  }

  // Writes the buffered text if it fills a block. Call this regularly.
  void write_full_block() {
    if (text_.size() >= block_size) [[unlikely]]
      flush();
  }

  void end_line() {
    text_ += '\n';
    write_full_block();
  }

  // Writes the buffered text to the stream. Check the state of the stream to see if this succeeded.
  void flush();

 private:
  static constexpr std::size_t block_size = std::size_t{1} << 16;

  void append(char c) { text_ += c; }
  void append(std::string_view text) { text_ += text; }
  template <std::integral T>
  void append(T number) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }

  std::ostream& out_;
  std::string text_;
};

}  // namespace joedb::inline v1

#endif
