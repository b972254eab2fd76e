#ifndef JOEDB_SRC_EXCHANGE_CSV_READER_H
#define JOEDB_SRC_EXCHANGE_CSV_READER_H

#include <memory>

#include "exchange/row_source.h"

namespace joedb {

struct Csv_Format {
  char separator = ',';
  std::vector<std::string> columns = {};  // for a file without a header
  bool trims = false;                     // removes spaces around values without quotes
};

// Reads CSV as in RFC 4180, with libcsv. Lines end with LF or CR LF. Empty lines and a byte order
// mark are skipped. Values may have any bytes. All rows must have the same number of values.
//
// Values are words (Cell::Kind::word); a value without quotes and without characters is null.
class Csv_Reader : public Row_Source {
 public:
  // Reads the header. Throws Exception if this program was built without libcsv.
  Csv_Reader(Input& input, const Csv_Format& format);
  ~Csv_Reader() override;

  bool next() override;
  std::span<const Cell> cells() const override;
  const std::vector<std::string>& columns() const override { return columns_; }
  [[noreturn]] void fail(std::optional<std::size_t> column, const std::string& text) override;
  void rewind() override;
  std::int64_t line() const override { return input_.line(); }
  const Input& input() const override { return input_; }

 private:
  class Parser;

  void start();
  bool read_row();
  void require_width();

  Input& input_;
  const Csv_Format format_;
  std::unique_ptr<Parser> parser_;
  std::vector<std::string> columns_;
};

}  // namespace joedb

#endif
