#include "joedb/wal/log.h"

#include "joedb/base/error.h"
#include "kernel/schema/value_text.h"

namespace joedb::inline v1::wal {

void append_text(std::string& out, std::string_view bytes) { append_quoted(out, bytes); }

namespace {

class Text_Parser {
 public:
  explicit Text_Parser(std::string_view line) : line_(line) {}

  std::string parse() {
    if (!line_.starts_with('"')) fail("an entry begins with a double quote");
    std::string bytes;
    for (next_ = 1;;) {
      const std::size_t end = line_.find_first_of("\"\\", next_);
      if (end == line_.npos) {
        next_ = line_.size();
        fail("the double quote at the end is missing");
      }
      bytes.append(line_, next_, end - next_);
      next_ = end + 1;
      if (line_[end] == '"') break;
      bytes += escaped();
    }
    if (next_ < line_.size()) fail("there is something behind the double quote at the end");
    return bytes;
  }

 private:
  // Reads like Line_Reader, but an invalid escape is an error.
  char escaped() {
    const char c = next_ < line_.size() ? line_[next_] : 'a';
    if (c == 'x') {
      ++next_;
      return static_cast<char>(number(2, 16));
    }
    if (c >= '0' && c <= '9') return static_cast<char>(number(3, 8));
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) fail_escape();
    ++next_;
    return c;
  }

  int number(int digits, int base) {
    int value = 0;
    for (int i = 0; i < digits; ++i, ++next_) {
      const int digit = next_ < line_.size() ? value_of(line_[next_]) : base;
      if (digit >= base) fail_escape();
      value = value * base + digit;
    }
    if (value > 0xff) fail_escape();
    return value;
  }

  static int value_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
  }

  [[noreturn]] void fail_escape() const {
    fail(
        "behind \\ stand three octal digits (000 to 377), x and two hexadecimal digits, or a "
        "character that is neither letter nor digit");
  }

  [[noreturn]] void fail(const char* what) const {
    throw Exception("column " + std::to_string(next_ + 1) + ": " + what);
  }

  const std::string_view line_;
  std::size_t next_ = 0;
};

}  // namespace

std::string parse_text(std::string_view line) { return Text_Parser(line).parse(); }

}  // namespace joedb::inline v1::wal
