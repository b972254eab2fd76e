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
  bool has_types = false;                 // JSON lines: the first line has the types of the columns
  std::vector<std::string> skipped = {};  // fields to omit
  std::vector<std::string> times = {};    // int64 fields that are times
  // For a reference: the field TABLE.FIELD, whose value is written instead of the record id.
  std::vector<std::pair<std::string, std::string>> references = {};
};

// Write the records of a table, in the order of their ids, in the format of Csv_Reader or
// Jsonl_Reader. An import into a table with the same fields restores the same values, to the last
// bit of a float. `file` has the blobs. after_record() is called after each record. Errors of the
// stream are not reported: the caller must check the stream. These functions throw Data_Error if
// the settings do not match the table, or if a dangling reference is to be written as a value; and
// Corruption_Error or Io_Error if a blob cannot be read.
//
// Values of logical types are written as their texts (kernel/schema/logical_type.h), but bytes as
// blobs are. Decimals are numbers.
//
// CSV (RFC 4180): lines end with LF. A null reference or blob is empty. A blob is base64; an empty
// blob is "". A nan, and a missing value, is empty; an empty text of an optional field is "". If
// there is only one column, all empty values are "".
void write_csv(const Database& database, const Table& table, const Abstract_File& file,
               const Export_Settings& settings, std::ostream& out,
               const std::function<void()>& after_record);

// JSON lines: one object per record. A blob, or a text that is not UTF-8, is {"base64": "…"}. A
// nan, and a missing value, is null, an infinity "inf" or "-inf". JSON is nested.
void write_jsonl(const Database& database, const Table& table, const Abstract_File& file,
                 const Export_Settings& settings, std::ostream& out,
                 const std::function<void()>& after_record);

}  // namespace joedb

#endif
