#include "exchange/jsonl_reader.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/escaping.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace joedb {

namespace {

using nlohmann::json;

// Removes the prefix of a message like "[json.exception.parse_error.101] parse error at line 1,
// column 5: TEXT".
std::string reason_of(const std::string& text) {
  for (const char* const end : {": ", "] "})
    if (const std::size_t start = text.find(end); start != text.npos) return text.substr(start + 2);
  return text;
}

// An iterator that counts the bytes it has read.
class Counting_Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Counting_Iterator(const char* place, std::size_t& count) : place_(place), count_(&count) {}
  reference operator*() const { return *place_; }
  Counting_Iterator& operator++() {
    ++place_;
    ++*count_;
    return *this;
  }
  friend bool operator==(const Counting_Iterator& a, const Counting_Iterator& b) {
    return a.place_ == b.place_;
  }

 private:
  const char* place_;
  std::size_t* count_;
};

}  // namespace

// Converts the events of nlohmann's parser to the cells of a row.
class Jsonl_Reader::Parser : public json::json_sax_t {
 public:
  struct Error {
    std::string text;
    std::size_t offset = 0;  // if known
    bool has_offset = false;
  };

  const std::vector<std::string>& columns() const { return columns_; }
  std::span<const Cell> cells() const { return cells_; }
  const Error& error() const { return error_; }

  // Returns false if the line is invalid. error() then has the reason.
  bool parse(std::string_view line) {
    start();
    if (!json::sax_parse(line.data(), line.data() + line.size(), this)) return false;
    for (const auto& [column, start, size] : texts_)
      cells_[column] = cells_[column].written_as(std::string_view(text_).substr(start, size));
    return true;
  }

  // Returns the start of the value in `column`. If `column` is nullopt, returns where the parser
  // stops.
  std::size_t offset_of(std::string_view line, std::optional<std::size_t> column) {
    std::size_t offset = 0;
    start();
    wanted_ = column;
    const char* const end = line.data() + line.size();
    json::sax_parse(Counting_Iterator(line.data(), offset), Counting_Iterator(end, offset), this);
    wanted_.reset();
    if (!column) return offset > 0 ? offset - 1 : 0;
    return std::min(line.find_first_not_of(": \t", offset), line.size());
  }

  // Returns the index of a column. Adds the column if it is new.
  std::size_t column_named(std::string name) {
    const auto [entry, is_new] = numbers_.try_emplace(name, columns_.size());
    if (is_new) columns_.push_back(std::move(name));
    return entry->second;
  }

  // ---- events; false stops the parser

  bool null() override { return is_nested() ? nest("null") : take(Cell::null()); }
  bool boolean(bool value) override {
    return is_nested() ? nest(value ? "true" : "false") : take(Cell::of(value));
  }
  bool number_integer(std::int64_t value) override {
    return is_nested() ? nest(std::to_string(value)) : take(Cell::of(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    if (is_nested()) return nest(std::to_string(value));
    const auto integer = static_cast<std::int64_t>(value);
    return integer < 0 ? take_digits(std::to_string(value)) : take(Cell::of(integer));
  }
  bool number_float(double value, const std::string& text) override {
    if (is_nested()) return nest(text);
    return text.find_first_of(".eE") == text.npos ? take_digits(text)
                                                  : take_real(Cell::of(value), text);
  }
  bool string(std::string& value) override {
    if (!is_nested()) return take_text(Cell::Kind::text, value);
    if (nested_ == base64_start) base64_ = value;
    return nest(json(value).dump());
  }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    if (depth_ == 0) return ++depth_ == 1;
    return begin_nested('{');
  }
  bool key(std::string& name) override {
    if (is_nested()) {
      begin_value();
      nested_ += json(name).dump() + ':';
      needs_comma_ = false;
      return true;
    }
    column_ = find_column(name);
    if (column_ >= max_columns) return refuse("there are more than 65535 columns");
    if (column_ >= cells_.size()) cells_.resize(column_ + 1);
    if (cells_[column_].kind() != Cell::Kind::absent) return refuse("the key comes twice");
    return wanted_ != column_;
  }
  bool end_object() override { return is_nested() ? end_nested('}') : --depth_ == 0; }
  bool start_array(std::size_t) override {
    return depth_ == 0 ? refuse(not_object) : begin_nested('[');
  }
  bool end_array() override { return end_nested(']'); }
  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& error) override {
    constexpr int overflow = 406;
    const char* const advice = error.id == overflow ? ". In quotes, it is imported as a text" : "";
    error_ = {"this is not JSON: " + reason_of(error.what()) + advice,
              position > 0 ? position - 1 : 0, true};
    return false;
  }

 private:
  struct Text {
    std::size_t column;
    std::size_t start;
    std::size_t size;
  };

  static constexpr const char* not_object =
      "an object in each line expected; jq -c '.[]' makes such lines of an array";

  // ---- arrays and objects become their text; {"base64": "…"} becomes bytes

  static constexpr std::string_view base64_start = "{\"base64\":";

  bool is_nested() const { return depth_ > 1; }
  void begin_value() {
    if (needs_comma_) nested_ += ',';
    needs_comma_ = true;
  }
  bool nest(std::string_view text) {
    begin_value();
    nested_ += text;
    return true;
  }
  bool begin_nested(char bracket) {
    if (depth_ == 1) {
      nested_.clear();
      base64_.reset();
      needs_comma_ = false;
    }
    begin_value();
    nested_ += bracket;
    needs_comma_ = false;
    ++depth_;
    return true;
  }
  bool end_nested(char bracket) {
    nested_ += bracket;
    needs_comma_ = true;
    if (--depth_ > 1) return true;
    if (!base64_ || nested_ != std::string(base64_start) + json(*base64_).dump() + '}')
      return take_text(Cell::Kind::json, nested_);
    std::string bytes;
    if (!absl::Base64Unescape(*base64_, &bytes)) return refuse("this is not base64");
    return take_text(Cell::Kind::bytes, bytes);
  }

  void start() {
    depth_ = 0;
    text_.clear();
    texts_.clear();
    cells_.clear();
    column_ = columns_.size();
    error_ = {};
  }

  bool refuse(const char* text) {
    error_ = {text};
    return false;
  }

  bool take(Cell cell) {
    if (depth_ == 0) return refuse(not_object);
    cells_[column_] = cell;
    return true;
  }

  bool take_text(Cell::Kind kind, const std::string& value) {
    if (depth_ == 0) return refuse(not_object);
    cells_[column_] = Cell::of(kind, {});
    texts_.push_back({column_, text_.size(), value.size()});
    text_ += value;
    return true;
  }

  bool take_real(Cell cell, const std::string& text) {
    if (!take(cell)) return false;
    texts_.push_back({column_, text_.size(), text.size()});
    text_ += text;
    return true;
  }

  // Takes an integer beyond the range of int64.
  bool take_digits(const std::string& digits) {
    return depth_ == 1 ? take_text(Cell::Kind::word, digits) : take(Cell::of(0.0));
  }

  // Returns the column for a key. Tries the column after the previous one first.
  std::size_t find_column(std::string& name) {
    const std::size_t next = column_ + 1 < columns_.size() ? column_ + 1 : 0;
    if (next < columns_.size() && columns_[next] == name) return next;
    return column_named(std::move(name));
  }

  std::vector<std::string> columns_;
  absl::flat_hash_map<std::string, std::size_t> numbers_;
  std::vector<Cell> cells_;
  std::string text_;
  std::vector<Text> texts_;
  std::size_t column_ = 0;
  int depth_ = 0;  // 1: in the object of a line; more: in an array or object in it
  std::string nested_;
  bool needs_comma_ = false;
  std::optional<std::string> base64_;
  std::optional<std::size_t> wanted_;  // stops at this column
  Error error_;
};

Jsonl_Reader::Jsonl_Reader(Input& input) : input_(input), parser_(std::make_unique<Parser>()) {}

Jsonl_Reader::~Jsonl_Reader() = default;

std::span<const Cell> Jsonl_Reader::cells() const { return parser_->cells(); }
const std::vector<std::string>& Jsonl_Reader::columns() const { return parser_->columns(); }
void Jsonl_Reader::add_column(const std::string& name) { parser_->column_named(name); }

static bool is_blank_json(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == line.npos;
}

static bool is_opening_bracket(std::string_view line) {
  constexpr const char* spaces = " \t\r\n";
  const std::size_t start = line.find_first_not_of(spaces);
  return start == line.find_last_not_of(spaces) && (line[start] == '{' || line[start] == '[');
}

bool Jsonl_Reader::next() {
  for (;;) {
    input_.drop();
    const auto line = input_.next_line();
    if (!line) return false;
    if (is_blank_json(*line) || (input_.line() == 1 && take_types(*line))) continue;
    if (parser_->parse(*line)) return true;
    const Parser::Error error = parser_->error();
    if (is_opening_bracket(*line))
      throw Data_Error(input_.name() + ":" + std::to_string(input_.line()) +
                       ": this is JSON over several lines; one object in each line is expected. jq "
                       "-c '.[]' makes such lines of an array, and jq -c . of objects");
    const std::size_t offset =
        error.has_offset ? error.offset : parser_->offset_of(input_.lines(), std::nullopt);
    throw Data_Error(place_in(input_, std::min(offset, line->size())) + error.text +
                     number_advice(*line, offset));
  }
}

// Returns true if the line declares the types of columns.
bool Jsonl_Reader::take_types(std::string_view line) {
  using nlohmann::ordered_json;
  if (line.find(types_key) == line.npos) return false;
  const ordered_json json = ordered_json::parse(line, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains(types_key)) return false;
  types_.clear();
  const auto fail_because = [&](const std::string& text) {
    throw Data_Error(input_.name() + ":1:1: " + std::string(types_key) + ": " + text);
  };
  if (!json.begin()->is_object()) fail_because("an object expected: {\"COLUMN\": \"TYPE\", ...}");
  for (const auto& [name, value] : json.begin()->items()) {
    const std::string word = value.is_string() ? value.get<std::string>() : "";
    std::string problem;
    const auto type = value.is_null() ? Declared_Type() : parse_declared_type(word, problem);
    if (!type)
      fail_because(name + ": " + value.dump() + ": " + problem +
                   "; expected null, or a type like string, int32 optional or decimal(2)");
    types_.emplace_back(name, *type);
    add_column(name);
  }
  return true;
}

// Python writes such words. Returns advice if there is one at the offset.
std::string Jsonl_Reader::number_advice(std::string_view line, std::size_t offset) {
  const std::size_t before = line.find_last_of(":,[ \t", std::min(offset, line.size()));
  const std::string_view word = before == line.npos ? line : line.substr(before + 1);
  for (const std::string_view other : {"NaN", "Infinity", "-Infinity"})
    if (word.starts_with(other)) return ". A float takes \"nan\", \"inf\" and \"-inf\", in quotes";
  return "";
}

void Jsonl_Reader::fail(std::optional<std::size_t> column, const std::string& text) {
  const std::size_t offset = column ? parser_->offset_of(input_.lines(), column) : 0;
  const std::string name = column ? "column " + columns()[*column] + ": " : "";
  throw Data_Error(place_in(input_, offset) + name + text);
}

}  // namespace joedb
