#ifndef JOEDB_EXCHANGE_INPUT_H
#define JOEDB_EXCHANGE_INPUT_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "joedb/base/ids.h"

namespace joedb {

// The bytes of a file, or of standard input, line by line. Lines stay in memory until they are
// dropped; a limit of their size bounds the memory. A byte order mark at the beginning is skipped.
class Input {
 public:
  // "-" is standard input. Throws Io_Error. A row, which may have several lines, can have at most
  // `max_row` bytes.
  Input(const std::string& name, std::size_t max_row);

  // What reads this text. `name` is for messages.
  static Input of_text(const std::string& name, std::string text, std::size_t max_row);

  // For messages: "-" becomes "standard input".
  const std::string& name() const { return name_; }

  // The next line, with its line feed, if it has one; nothing at the end. Throws Io_Error, and
  // Data_Error if the lines since drop() are too long, or a file is no text (why_no_text).
  std::optional<std::string_view> next_line();
  // The lines that next_line() has returned since the last drop().
  std::string_view lines() const { return {data_.get() + start_, next_ - start_}; }
  void drop() { start_ = next_; }

  // The number of the first line of lines(), from 1.
  std::int64_t line() const { return line_; }
  // In bytes; of the end only if it is known, else 0.
  Offset position() const { return read_ - static_cast<Offset>(end_ - next_); }
  Offset size() const { return size_; }

  // Called when a signal has interrupted a read. What it throws ends the read; otherwise reading
  // continues.
  void set_interrupt_check(std::function<void()> check) { check_interrupt_ = std::move(check); }

  // From the beginning again. Standard input and pipes: only once, for which all that was read is
  // kept in memory.
  void rewind();
  // Whether it is a file, which can be read any number of times.
  bool can_seek() const { return can_seek_; }

 private:
  explicit Input(std::size_t max_row) : max_row_(max_row) {}

  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  void require_text(std::string_view begin) const;
  bool fill();
  std::size_t read(char* data, std::size_t size);

  std::string name_;
  std::function<void()> check_interrupt_ = [] {};
  const std::size_t max_row_;
  bool checks_text_ = false;                // of a file
  std::unique_ptr<std::FILE, Close> file_;  // null: there is only what is remembered
  bool can_seek_ = false;
  bool remembers_ = false;
  std::string remembered_;
  std::size_t replayed_ = 0;  // of it, after rewind()
  Offset size_ = 0;
  Offset read_ = 0;

  // data_[start_, next_): lines(); [next_, end_): what was read and not yet returned.
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t start_ = 0;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::int64_t line_ = 1;
  std::int64_t next_number_ = 1;
};

}  // namespace joedb

#endif
