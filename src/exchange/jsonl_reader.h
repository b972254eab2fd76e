#ifndef JOEDB_SRC_EXCHANGE_JSONL_READER_H
#define JOEDB_SRC_EXCHANGE_JSONL_READER_H

#include <memory>

#include "exchange/row_source.h"

namespace joedb {

// Reads JSON lines: one object per line, whose keys are columns; empty lines are skipped. The cell
// of a missing key is absent. Values are null, booleans, numbers and strings, or {"base64": "…"},
// which are the bytes of a blob, or of a string that is not UTF-8. A number beyond int64 or double
// is a word. The first line may declare the types of columns (types_key).
class Jsonl_Reader : public Row_Source {
 public:
  explicit Jsonl_Reader(Input& input);
  ~Jsonl_Reader() override;

  bool next() override;
  std::span<const Cell> cells() const override;
  const std::vector<std::string>& columns() const override;
  bool has_more_columns() const override { return true; }
  void add_column(const std::string& name) override;
  [[noreturn]] void fail(std::optional<std::size_t> column, const std::string& text) override;
  void rewind() override { input_.rewind(); }
  std::int64_t line() const override { return input_.line(); }
  const Input& input() const override { return input_; }
  std::span<const std::pair<std::string, Declared_Type>> declared_types() const override {
    return types_;
  }

 private:
  class Parser;

  bool take_types(std::string_view line);

  static std::string number_advice(std::string_view line, std::size_t offset);

  Input& input_;
  std::unique_ptr<Parser> parser_;
  std::vector<std::pair<std::string, Declared_Type>> types_;
};

}  // namespace joedb

#endif
