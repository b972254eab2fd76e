#ifndef JOEDB_SRC_EXCHANGE_EXPORT_H
#define JOEDB_SRC_EXCHANGE_EXPORT_H

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/table/database.h"

namespace joedb {

struct Export_Settings {
  bool has_ids = false;  // the first column is __id
  char separator = ',';
  bool has_header = true;
  std::vector<std::string> skipped = {};  // fields to leave out
  std::vector<std::string> times = {};    // int64 fields that are times
  // References, and TABLE.FIELD whose value is written instead of the id.
  std::vector<std::pair<std::string, std::string>> references = {};
};

// Write the records of a table in the order of their ids, as Csv_Reader and Jsonl_Reader read them:
// an import into a table with the same fields restores the same values, to the last bit of a float.
// `file` has the blobs. Call after_record() after each record. Errors of the stream are not
// reported: the caller must check the stream. Throw Data_Error for settings that do not match the
// table, and for a dangling reference that is to be written as a value; Corruption_Error or
// Io_Error for a blob that cannot be read.
//
// CSV (RFC 4180): lines end with LF, as programs on this system expect. A null reference or blob is
// empty, a blob is base64, a blob without bytes is "", a nan is nan. If there is only one column,
// all values without characters are "".
void write_csv(const Database& database, const Table& table, const Abstract_File& file,
               const Export_Settings& settings, std::ostream& out,
               const std::function<void()>& after_record);

// JSON lines: one object per record. Blobs, and texts that are not UTF-8, are {"base64": "…"}, nan
// and infinities are "nan", "inf", "-inf".
void write_jsonl(const Database& database, const Table& table, const Abstract_File& file,
                 const Export_Settings& settings, std::ostream& out,
                 const std::function<void()>& after_record);

}  // namespace joedb

#endif
