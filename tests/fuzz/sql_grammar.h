#ifndef JOEDB_TESTS_FUZZ_SQL_GRAMMAR_H
#define JOEDB_TESTS_FUZZ_SQL_GRAMMAR_H

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/schema/type.h"

namespace joedb::testing {

// A sequence of choices made by bytes. After the last byte, each choice is the first possibility.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  // Returns a number in [0, limit). Requires that limit is at most 256.
  std::size_t below(std::size_t limit) {
    return place_ < bytes_.size() ? static_cast<unsigned char>(bytes_[place_++]) % limit : 0;
  }
  bool one_in(std::size_t count) { return below(count) + 1 == count; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  const char* word(const std::vector<const char*>& list) { return one_of(list); }

 private:
  std::string_view bytes_;
  std::size_t place_ = 0;
};

// A table as statements see it.
struct Sql_Table {
  struct Field {
    std::string name;
    Type type;
  };
  std::string name;
  std::vector<Field> fields;
};

// Texts that are hard to compare: with zero bytes, like numbers, or invalid in any encoding.
const std::vector<std::string>& hard_texts();

// A SELECT whose rows do not depend on the query plan.
struct Sql_Question {
  std::string text;  // with marks that at() replaces
  bool is_ordered;

  // Returns the text with `present` after tables marked as of the present, and `past` after tables
  // marked as of the past.
  std::string at(std::string_view present, std::string_view past) const;
};

// Builds statements from choices. Tables have the columns of their fields, and `__id`.
class Sql_Grammar {
 public:
  // Requires at least one table. Without moments, questions are only about the present.
  Sql_Grammar(Choices& choices, const std::vector<Sql_Table>& tables, bool has_moments)
      : choices_(choices), tables_(tables), has_moments_(has_moments) {}

  Sql_Question question();
  // A statement that writes, or that begins or ends a transaction.
  std::string change();
  // Returns a CREATE VIRTUAL TABLE with this name, possibly with mistakes of users.
  std::string creation(const std::string& name, const std::vector<std::string>& files);

 private:
  struct Source {
    const Sql_Table* table;
    std::string alias;
  };

  Source any_source(std::string alias) { return {&choices_.one_of(tables_), std::move(alias)}; }
  std::string from(const Source& source);
  std::string column_name(const Sql_Table& table);
  std::string column(const Source& source) {
    return source.alias + "." + column_name(*source.table);
  }
  std::string columns(const std::vector<Source>& sources, std::size_t count);
  std::string small(const Source& source);
  std::string literal();
  std::string pattern(bool is_glob);
  std::string comparison();
  std::string condition(const std::vector<Source>& sources, int depth);
  std::string simple_condition(const std::vector<Source>& sources);
  std::string where(const std::vector<Source>& sources);
  std::string join(std::vector<Source>& sources);
  std::string order(const Source& source);
  std::string select(const Source& source, const std::string& what);
  std::string grouped();
  std::string recursive();
  std::string new_values(const Sql_Table& table);

  Choices& choices_;
  const std::vector<Sql_Table>& tables_;
  bool has_moments_;
  const Sql_Table* recent_table_ = nullptr;
  std::string recent_column_;
};

}  // namespace joedb::testing

#endif
