#ifndef JOEDB_INTERPRETER_LINE_SOURCE_H
#define JOEDB_INTERPRETER_LINE_SOURCE_H

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

// What a word may become.
struct Completions {
  struct Candidate {
    std::string word;
    std::string note;  // for the user: the name of a record, for example
    friend bool operator==(const Candidate&, const Candidate&) = default;
  };
  std::vector<Candidate> candidates;
  bool is_cut = false;  // there are more
  // The word that was typed is the beginning of the notes, and what it is replaced by are the
  // words.
  bool is_by_note = false;

  static constexpr std::size_t most = 100;
  // Adds a candidate if it begins with `prefix`.
  void add(std::string_view prefix, std::string_view word, std::string note = "");
};

// Given the beginning of a line, what its last word may become.
using Completer = std::function<Completions(std::string_view line)>;

// A line that does not fit into memory. It was skipped.
class Line_Too_Long : public Exception {
 public:
  using Exception::Exception;
};

// Where commands come from: a terminal, a pipe, a text.
class Line_Source {
 public:
  Line_Source() = default;
  virtual ~Line_Source() = default;
  Line_Source(const Line_Source&) = delete;
  Line_Source& operator=(const Line_Source&) = delete;

  // The next line, without its end and valid until the next call, or nothing at the end of the
  // input. A prompt that is not empty is shown before. Throws Line_Too_Long if the line is longer
  // than longest_line, or than memory; the next call gives the line behind it.
  std::optional<std::string_view> next(const std::string& prompt, const Completer& completer) {
    ++line_number_;
    return read_line(prompt, completer);
  }
  // Number of the line that was read last, from 1.
  std::size_t line_number() const { return line_number_; }

  static constexpr std::size_t longest_line = std::size_t{1} << 30;

 private:
  virtual std::optional<std::string_view> read_line(const std::string& prompt,
                                                    const Completer& completer) = 0;

  std::size_t line_number_ = 0;
};

// Cuts blocks of input into lines. A byte order mark at the beginning is skipped. Prompts go to
// `out`, which is flushed before more input is waited for.
class Block_Line_Source : public Line_Source {
 public:
  explicit Block_Line_Source(std::ostream& out) : out_(out) {}

 protected:
  // Reads at most `size` bytes, as many as are there; 0 at the end of the input.
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
  std::size_t begin_ = 0;  // of what is in the buffer and has not been handed out
  std::size_t end_ = 0;
  bool is_at_end_ = false;
  bool is_first_line_ = true;
};

// The lines of a text, which must outlive this object.
class Text_Line_Source : public Block_Line_Source {
 public:
  Text_Line_Source(std::string_view text, std::ostream& out)
      : Block_Line_Source(out), text_(text) {}

 private:
  std::size_t read(char* data, std::size_t size) override;

  std::string_view text_;
};

// A prompt in colour, as it is sent to a terminal: ESC[36m TEXT> ESC[0m.
std::string prompt_text(const std::string& text);

}  // namespace joedb::inline v1

#endif
