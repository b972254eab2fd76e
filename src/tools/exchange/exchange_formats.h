#ifndef JOEDB_SRC_TOOLS_EXCHANGE_EXCHANGE_FORMATS_H
#define JOEDB_SRC_TOOLS_EXCHANGE_EXCHANGE_FORMATS_H

#include <string>
#include <vector>

#include "exchange/row_importer.h"

namespace joedb {

// The commands `joedb import FORMAT …` and `joedb export FORMAT …`. Each format is a subcommand.
int import_csv(std::vector<std::string> arguments);
int import_jsonl(std::vector<std::string> arguments);
int import_sqlite(std::vector<std::string> arguments);
int export_csv(std::vector<std::string> arguments);
int export_jsonl(std::vector<std::string> arguments);
int export_sqlite(std::vector<std::string> arguments);
int export_parquet(std::vector<std::string> arguments);
int export_arrow(std::vector<std::string> arguments);
int export_feather(std::vector<std::string> arguments);

// The names and tables that SQL shows otherwise, or hides, in a database that gets new ones.
class Sql_Notes {
 public:
  explicit Sql_Notes(const Database& before) : known_(lines(before)) {}
  // Returns one line for each table and field that was not known before.
  std::vector<std::string> news(const Database& after) const;

 private:
  static std::vector<std::string> lines(const Database& database);

  const std::vector<std::string> known_;
};

// Prints the counts of an import. As JSON: one object on one line.
void print_counts(const std::string& table, const Import_Counts& counts, bool is_json);

// Parses the value of --separator. Throws Usage_Error if it is invalid.
char separator_of(const std::string& word);

}  // namespace joedb

#endif
