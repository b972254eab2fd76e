#ifndef DEBIAN_INDEX_READER_H
#define DEBIAN_INDEX_READER_H

#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The index is not what it should be.
class Index_Error : public std::runtime_error {
 public:
  Index_Error(std::int64_t line_number, const std::string& what)
      : std::runtime_error("line " + std::to_string(line_number) + ": " + what) {}
};

// What an index says about one version of a package: lines like "Section: games". A line that
// starts with a space continues the value before it.
struct Paragraph {
  struct Field {
    std::string_view name;
    std::string_view value;
    std::int64_t line;
  };
  std::vector<Field> fields;
  std::int64_t line = 1;

  // Null if there is no such field.
  const Field* find(std::string_view name) const;
  // Empty if there is no such field.
  std::string_view value(std::string_view name) const;
  // Throws Index_Error if there is no such field, or if it is empty.
  std::string_view required_value(std::string_view name) const;
};

// Splits an index into paragraphs, which empty lines separate.
class Index_Reader {
 public:
  explicit Index_Reader(std::istream& in) : in_(in) {}

  // The next paragraph, good until the next call; null at the end. Throws Index_Error.
  const Paragraph* next();

  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  bool skip_empty_lines();
  std::string_view take_paragraph();
  bool read_more();

  std::istream& in_;
  std::string buffer_;
  std::size_t start_ = 0;  // of the next paragraph, in the buffer
  std::int64_t bytes_read_ = 0;
  std::int64_t line_ = 1;  // where start_ is
  Paragraph paragraph_;
};

#endif
