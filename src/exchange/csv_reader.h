#ifndef JOEDB_SRC_EXCHANGE_CSV_READER_H
#define JOEDB_SRC_EXCHANGE_CSV_READER_H

#include <memory>
#include <optional>
#include <set>

#include "exchange/row_source.h"

namespace joedb {

struct Csv_Format {
  // nullopt: the separator that a first line such as `sep=;` names (a convention of Excel); without
  // such a line, a comma.
  std::optional<char> separator = {};
  std::vector<std::string> columns = {};  // for a file without a header
  bool trims = false;                     // remove spaces around values without quotes
  bool fills = false;                     // if a row has too few values, the others are null
  std::string comment = {};               // skip rows that begin with this; empty: none
  std::set<std::string, std::less<>> missing = {};  // values that mean null
};

// Reads CSV as in RFC 4180, with libcsv. Lines end with LF or CR LF, or all with CR. Empty lines
// and a byte order mark are skipped. Values may have any bytes. All rows must have the same number
// of values. Of equal names in the header, all but the first get _2, _3 … appended; an empty name
// is "column".
//
// Values are words (Cell::Kind::word). An empty value without quotes is null.
class Csv_Reader : public Row_Source {
 public:
  // Reads the header. Throws Exception if joedb was built without libcsv.
  Csv_Reader(Input& input, const Csv_Format& format);
  ~Csv_Reader() override;

  bool next() override;
  std::span<const Cell> cells() const override;
  const std::vector<std::string>& columns() const override { return columns_; }
  const std::string& header(std::size_t column) const override { return headers_[column]; }
  [[noreturn]] void fail(std::optional<std::size_t> column, const std::string& text) override;
  void rewind() override;
  std::int64_t line() const override { return input_.line(); }
  const Input& input() const override { return input_; }

 private:
  class Parser;

  void start();
  void read_separator();
  bool is_skipped(std::string_view line) const;
  bool read_row();
  void require_width();

  Input& input_;
  const Csv_Format format_;
  char separator_ = ',';
  std::optional<std::string_view> unread_;  // a line that was read from input_, but not used yet
  std::unique_ptr<Parser> parser_;
  std::vector<std::string> headers_;
  std::vector<std::string> columns_;  // headers_, all different
};

}  // namespace joedb

#endif
