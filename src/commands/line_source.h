#ifndef JOEDB_SRC_COMMANDS_LINE_SOURCE_H
#define JOEDB_SRC_COMMANDS_LINE_SOURCE_H

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

// The candidates for completing a word.
struct Completions {
  struct Candidate {
    std::string word;
    std::string note;  // shown to the user, for example the name of a record
    friend bool operator==(const Candidate&, const Candidate&) = default;
  };
  std::vector<Candidate> candidates;
  bool is_cut = false;  // true if there are more candidates
  // True if the typed word is a prefix of the notes instead of the words. It is then replaced by
  // the word of a candidate.
  bool is_by_note = false;

  static constexpr std::size_t most = 100;
  // Adds a candidate if it begins with `prefix`.
  void add(std::string_view prefix, std::string_view word, std::string note = "");
};

// Returns candidates for the last word of an incomplete line.
using Completer = std::function<Completions(std::string_view line)>;

// Thrown if a line does not fit into memory. The line has been skipped.
class Line_Too_Long : public Exception {
 public:
  using Exception::Exception;
};

// A source of lines: a terminal, a pipe, or a text.
class Line_Source {
 public:
  Line_Source() = default;
  virtual ~Line_Source() = default;
  Line_Source(const Line_Source&) = delete;
  Line_Source& operator=(const Line_Source&) = delete;

  // Returns the next line without its line end; nullopt at the end of the input. The line is valid
  // until the next call. If `prompt` is not empty, shows it first. Throws Line_Too_Long if the line
  // is longer than max_line_size, or does not fit into memory. After this exception, the next call
  // returns the following line.
  std::optional<std::string_view> next(const std::string& prompt, const Completer& completer) {
    ++line_number_;
    return read_line(prompt, completer);
  }
  // Returns the number of the last line read, counted from 1.
  std::size_t line_number() const { return line_number_; }

  static constexpr std::size_t max_line_size = std::size_t{1} << 30;

 private:
  virtual std::optional<std::string_view> read_line(const std::string& prompt,
                                                    const Completer& completer) = 0;

  std::size_t line_number_ = 0;
};

// Splits blocks of input into lines. Skips a byte order mark at the beginning. Writes prompts to
// `out`, and flushes `out` before it waits for input.
class Block_Line_Source : public Line_Source {
 public:
  explicit Block_Line_Source(std::ostream& out) : out_(out) {}

 protected:
  // Reads the available bytes, up to `size`. Returns the number of bytes read; 0 at the end of the
  // input.
  virtual std::size_t read(char* data, std::size_t size) = 0;

 private:
  std::optional<std::string_view> read_line(const std::string& prompt,
                                            const Completer& completer) final;
  std::string_view take(std::string_view line);
  bool refill();
  bool make_room();
  void skip_line();

  std::ostream& out_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // start of the bytes in the buffer that have not been returned
  std::size_t end_ = 0;
  bool is_at_end_ = false;
  bool is_first_line_ = true;
};

// Reads the lines of a text. The text must outlive this object.
class Text_Line_Source : public Block_Line_Source {
 public:
  Text_Line_Source(std::string_view text, std::ostream& out)
      : Block_Line_Source(out), text_(text) {}

 private:
  std::size_t read(char* data, std::size_t size) override;

  std::string_view text_;
};

// Returns a coloured prompt for a terminal: ESC[36m TEXT> ESC[0m.
std::string prompt_text(const std::string& text);

}  // namespace joedb::inline v1

#endif
