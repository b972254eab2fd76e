#ifndef JOEDB_SRC_EXCHANGE_INPUT_H
#define JOEDB_SRC_EXCHANGE_INPUT_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "joedb/base/types.h"
#include "kernel/io/unpacked_file.h"

namespace joedb {

// Returns the unpacker of an archive that begins with these bytes; null if they are none.
using Find_Unpacker = std::function<std::unique_ptr<Unpacker>(std::string_view begin)>;

// Reads a file or standard input line by line. Lines stay in memory until they are dropped; a limit
// on their size bounds the memory. Skips a byte order mark at the beginning, and converts UTF-16
// and UTF-32 that have one to UTF-8. In a text without line feeds, carriage returns become line
// feeds.
class Input {
 public:
  // The name "-" is standard input. A row, which may have several lines, can have at most `max_row`
  // bytes. What `find_unpacker` knows is unpacked while it is read. Throws Io_Error.
  Input(
      const std::string& name, std::size_t max_row,
      Find_Unpacker find_unpacker = [](std::string_view) { return nullptr; });

  // Returns an input whose content is `text`. `name` is for messages.
  static Input of_text(const std::string& name, std::string text, std::size_t max_row);

  // Returns the name for messages: "standard input" for "-".
  const std::string& name() const { return name_; }

  // Returns the next line with its line feed, if it has one; nullopt at the end. Throws Io_Error.
  // Throws Data_Error if the lines since drop() are too long, or if a file is not text
  // (non_text_reason).
  std::optional<std::string_view> next_line();
  // Returns the lines that next_line() has returned since the last drop().
  std::string_view lines() const { return {data_.get() + start_, next_ - start_}; }
  void drop() { start_ = next_; }

  // Number of the first line of lines(), from 1.
  std::int64_t line() const { return line_; }
  // In bytes of the file. The size is nullopt if it is not known.
  Offset position() const {
    if (archive_.unpacker) return archive_.taken;
    return wide_.unpacker ? wide_.taken : read_ - static_cast<Offset>(end_ - next_);
  }
  std::optional<Offset> size() const { return size_; }

  // `check` is called before each block that is read, and when a signal interrupts a read. If it
  // throws, reading ends with this exception. Otherwise, reading continues.
  void set_interrupt_check(std::function<void()> check) { check_interrupt_ = std::move(check); }

  // Restarts at the beginning. Standard input and pipes can be rewound only once. Until then,
  // everything that was read is kept in memory.
  void rewind();
  // Returns true if the input, a file or a text, can be read repeatedly.
  bool can_seek() const { return can_seek_; }

 private:
  explicit Input(std::size_t max_row) : max_row_(max_row) {}

  // Bytes that are unpacked or decoded while they are read.
  struct Stage {
    std::unique_ptr<Unpacker> unpacker = nullptr;  // null: there is nothing to do
    std::string bytes = {};
    std::size_t start = 0;  // bytes from here on were read, and not unpacked
    Offset taken = 0;
  };
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  void require_text(std::string_view begin) const;
  bool fill();
  std::size_t read(char* data, std::size_t size);
  std::size_t read_file(char* data, std::size_t size);
  std::size_t read_unpacked(char* data, std::size_t size);
  template <class F>
  std::size_t unpack(Stage& stage, char* data, std::size_t size, F read_more, const char* problem);

  std::string name_;
  std::function<void()> check_interrupt_ = [] {};
  const std::size_t max_row_;
  bool checks_text_ = false;                // false for of_text()
  bool has_carriage_returns_ = false;       // at the ends of lines, without line feeds
  std::unique_ptr<std::FILE, Close> file_;  // null: read only remembered_
  bool can_seek_ = false;
  bool remembers_ = false;
  std::string remembered_;
  std::size_t replayed_ = 0;  // bytes of remembered_ that were read again since rewind()
  std::optional<Offset> size_;
  Offset read_ = 0;

  Find_Unpacker find_unpacker_;
  Stage archive_;  // if the file is an archive
  Stage wide_;     // if the text is UTF-16 or UTF-32

  // data_[start_, next_) is lines(); data_[next_, end_) was read, and not yet returned.
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
