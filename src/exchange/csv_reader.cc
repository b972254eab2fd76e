#include "exchange/csv_reader.h"

#ifndef JOEDB_HAS_LIBCSV

namespace joedb {

class Csv_Reader::Parser {};

Csv_Reader::Csv_Reader(Input& input, const Csv_Format& format) : input_(input), format_(format) {
  throw Exception(
      "this program was built without libcsv, which reads CSV. Install it (Debian: apt-get install "
      "libcsv-dev), and build joedb again");
}
Csv_Reader::~Csv_Reader() = default;
bool Csv_Reader::next() { return false; }
std::span<const Cell> Csv_Reader::cells() const { return {}; }
void Csv_Reader::fail(std::optional<std::size_t>, const std::string& text) {
  throw Data_Error(text);
}
void Csv_Reader::rewind() {}

}  // namespace joedb

#else

#include <csv.h>

#include <algorithm>
#include <new>
#include <utility>

#include "exchange/identifiers.h"
#include "exchange/text_check.h"
#include "kernel/base/counted.h"

namespace joedb {

// The parser of libcsv, with the row that it has read.
class Csv_Reader::Parser {
 public:
  Parser(const Csv_Format& format, char separator) {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_EMPTY_IS_NULL) != 0)
      throw std::bad_alloc();
    csv_set_delim(&parser_, static_cast<unsigned char>(separator));
    if (!format.trims) csv_set_space_func(&parser_, [](unsigned char) { return 0; });
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void start_row() {
    text_.clear();
    values_.clear();
    rows_ = 0;
  }
  // Returns the number of bytes parsed. If it is less than the number given, the next byte is
  // invalid.
  std::size_t parse(std::string_view bytes) {
    const std::size_t n =
        csv_parse(&parser_, bytes.data(), bytes.size(), take_value, take_row, this);
    require_memory();
    return n;
  }
  // Ends the input. Returns false if a quote is not closed.
  bool finish() {
    const bool is_good = csv_fini(&parser_, take_value, take_row, this) == 0;
    require_memory();
    return is_good;
  }
  int rows() const { return rows_; }
  std::size_t value_count() const { return values_.size(); }

  // Creates `count` cells. Cells without a value are null, as are values in `missing`.
  void make_cells(std::size_t count, const std::set<std::string, std::less<>>& missing) {
    cells_.clear();
    for (const Value& value : values_) {
      const auto word = std::string_view(text_).substr(value.start, value.size);
      const bool is_null = value.is_null || (!missing.empty() && missing.contains(word));
      cells_.push_back(is_null ? Cell::null() : Cell::of(Cell::Kind::word, word));
    }
    cells_.resize(count, Cell::null());
  }
  std::span<const Cell> cells() const { return cells_; }

 private:
  struct Value {
    std::size_t start;
    std::size_t size;
    bool is_null;
  };

  // Must not throw, because libcsv is C.
  static void take_value(void* text, std::size_t size, void* self) noexcept {
    auto& parser = *static_cast<Parser*>(self);
    if (parser.values_.size() > max_columns) return;  // such a row is refused
    try {
      parser.values_.push_back({parser.text_.size(), size, text == nullptr});
      if (size > 0) parser.text_.append(static_cast<const char*>(text), size);
    } catch (const std::bad_alloc&) {
      parser.is_out_of_memory_ = true;
    }
  }
  static void take_row(int, void* self) noexcept { ++static_cast<Parser*>(self)->rows_; }

  void require_memory() {
    if (is_out_of_memory_ || csv_error(&parser_) > CSV_EPARSE) throw std::bad_alloc();
  }

  csv_parser parser_;
  bool is_out_of_memory_ = false;
  std::string text_;
  std::vector<Value> values_;
  std::vector<Cell> cells_;
  int rows_ = 0;
};

Csv_Reader::Csv_Reader(Input& input, const Csv_Format& format) : input_(input), format_(format) {
  start();
}

Csv_Reader::~Csv_Reader() = default;

// Reads the first line. If it names the separator, uses this separator.
void Csv_Reader::read_separator() {
  unread_.reset();
  separator_ = format_.separator.value_or(',');
  constexpr std::string_view word = "sep=";
  unread_ = input_.next_line();
  if (!unread_ || !unread_->starts_with(word)) return;
  const std::string_view rest = unread_->substr(word.size());
  if (rest.find_first_of("\r\n") != 1 || rest.find_last_not_of("\r\n") != 0) return;
  if (format_.separator && *format_.separator != rest[0]) return;
  separator_ = rest[0];
  unread_.reset();
}

bool Csv_Reader::is_skipped(std::string_view line) const {
  return line.find_first_not_of("\r\n") == line.npos ||
         (!format_.comment.empty() && line.starts_with(format_.comment));
}

bool Csv_Reader::read_row() {
  if (!unread_) input_.drop();
  parser_->start_row();
  while (parser_->rows() == 0) {
    const std::optional<std::string_view> line =
        unread_ ? std::exchange(unread_, std::nullopt) : input_.next_line();
    if (!line) {
      if (!parser_->finish())
        fail(parser_->value_count(), "the quote that opens here is not closed");
      return parser_->rows() > 0;
    }
    if (input_.lines().size() == line->size() && is_skipped(*line)) {
      input_.drop();
      continue;
    }
    const std::size_t n = parser_->parse(*line);
    if (n < line->size()) {
      const std::size_t place = input_.lines().size() - line->size() + n;
      throw Data_Error(place_in(input_, place) +
                       ((*line)[n] == '"'
                            ? "a quote in a value without quotes: the value must be in quotes, and "
                              "this one doubled"
                            : "separator or end of line expected after the closing quote"));
    }
    if (parser_->rows() > 1)
      fail({},
           "a carriage return in a value must be in quotes; at the end of a line, a line feed "
           "must follow");
  }
  return true;
}

void Csv_Reader::start() {
  read_separator();
  parser_ = std::make_unique<Parser>(format_, separator_);
  headers_ = columns_ = format_.columns;
  if (!columns_.empty()) return;
  if (!read_row()) throw Data_Error(input_.name() + ": the file is empty; a header is expected");
  parser_->make_cells(parser_->value_count(), {});
  if (parser_->value_count() > max_columns)
    fail({}, "there can be at most " + std::to_string(max_columns) + " columns");
  for (const Cell& cell : parser_->cells()) {
    if (has_control_characters(cell.text()))
      fail(columns_.size(), "there are control characters in the header: the file is no text");
    columns_.emplace_back(cell.text());
  }
  headers_ = columns_;
  std::ranges::replace(columns_, std::string(), std::string("column"));
  columns_ = to_different(columns_);
}

bool Csv_Reader::next() {
  if (!read_row()) return false;
  require_width();
  parser_->make_cells(columns_.size(), format_.missing);
  return true;
}

void Csv_Reader::require_width() {
  const std::size_t count = parser_->value_count();
  if (count == columns_.size() || (count < columns_.size() && format_.fills)) return;
  const std::string text =
      counted(columns_.size(), "value") + " expected, got " + std::to_string(count);
  if (count > columns_.size()) fail(columns_.size(), text);
  fail({}, text + "; --fill takes the others as missing");
}

std::span<const Cell> Csv_Reader::cells() const { return parser_->cells(); }

// Parses the row again, byte by byte, to find the start of the value in `column`.
void Csv_Reader::fail(std::optional<std::size_t> column, const std::string& text) {
  std::size_t offset = 0;
  if (column) {
    const std::string_view row = input_.lines();
    Parser parser(format_, separator_);
    while (offset < row.size() && parser.value_count() < *column)
      parser.parse(row.substr(offset++, 1));
  }
  const bool has_name = column && *column < columns_.size();
  throw Data_Error(place_in(input_, offset) +
                   (has_name ? "column " + columns_[*column] + ": " : "") + text);
}

void Csv_Reader::rewind() {
  input_.rewind();
  start();
}

}  // namespace joedb

#endif
