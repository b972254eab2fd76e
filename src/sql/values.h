#ifndef JOEDB_SRC_SQL_VALUES_H
#define JOEDB_SRC_SQL_VALUES_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/table/column.h"
#include "joedb/table/index.h"
#include "sql/sqlite_api.h"

// Values of joedb for SQLite, and SQLite's conditions on them.
//
// Integers, booleans, references: INTEGER; a null reference is NULL. Floats: REAL; nan is NULL.
// Strings: TEXT. Blobs: BLOB; a null blob is NULL.

namespace joedb {

enum class Kind { integer, real, text, blob };
Kind kind_of(Type_Code code);

// Returns the bytes of a text or blob, which may contain zeros. Throws std::bad_alloc. Valid until
// the value changes.
std::string_view text_of(sqlite3_value* value);

// All texts that look like numbers are less than this one.
inline constexpr std::string_view beyond_numbers = ":";

// A field in one state.
struct Column_Source {
  Type_Code code = Type_Code::none;
  const Column_Base* column = nullptr;  // null if the state has no such field: all values are NULL
};

// Passes the value of a record to SQLite. Throws Io_Error, Corruption_Error for a blob.
// `is_lasting`: the column does not change before the statement is reset, so texts need not be
// copied.
void pass_value(sqlite3_context* context, const Column_Source& source, index_t id,
                const Abstract_File& file, bool is_lasting);

// Prefetches values that will be passed soon and are far apart in memory, so that the processor
// waits for many of them at the same time.
void fetch_values(const Column_Source& source, const index_t* ids, std::size_t count);

// Returns a negative number, 0 or a positive number, in the order of SQL, with NULL first. The
// values must not be blobs.
int compare_values(const Column_Source& source, index_t a, index_t b);

// The values of one column that meet conditions.
//
// The conditions have the meaning of SQLite: a comparison with NULL is never true; numbers are less
// than texts, texts less than blobs; a text that is compared with a number column is converted to a
// number if it looks like one. Texts are compared by their bytes. A condition on a text column may
// depend on information that SQLite does not provide (whether a number is compared as a text or as
// a number); the range then has more values than meet the condition.
class Range {
 public:
  explicit Range(Kind kind) : kind_(kind) {}

  // Returns true if restrict() knows this operator for columns of this kind.
  static bool understands(unsigned char op, Kind kind);
  // Adds a condition with one of these operators: SQLITE_INDEX_CONSTRAINT_… For LIKE and GLOB, the
  // range may have values that SQLite's own functions refuse, but it has all values that they
  // accept.
  void restrict(unsigned char op, sqlite3_value* value);
  // Adds the condition IN: one of these values.
  void restrict_to_list(const std::vector<sqlite3_value*>& values);
  // Restricts a range of record ids to [low, high].
  void restrict_to(std::int64_t low, std::int64_t high);

  Kind kind() const { return kind_; }
  // True if no value meets the conditions.
  bool is_empty() const;
  // True if NULL meets the conditions.
  bool has_null() const { return nulls_ != Nulls::excluded; }
  bool is_null_only() const { return nulls_ == Nulls::only; }
  // True if exactly one value meets the conditions.
  bool is_point() const;
  bool has_list() const { return has_list_; }

  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

  // The bounds as keys of an index; nullopt if there is no bound. is_open: the bound itself is
  // excluded. For a point, both bounds are that value. Valid as long as this object is not changed.
  struct Bound {
    Key_Part part;
    bool is_open = false;
  };
  std::optional<Bound> lower_key() const;
  std::optional<Bound> upper_key() const;

  // Returns a range for each value of the list. Requires has_list().
  std::vector<Range> points() const;
  // Returns the record ids of the list, in ascending order; none without a list. Requires that the
  // kind is integer.
  std::vector<std::int64_t> list_of_integers() const;

  // Keeps the ids whose values meet the conditions, in order. Returns their number.
  std::size_t keep(const Column_Source& source, index_t* ids, std::size_t count) const;

 private:
  enum class Nulls { any, excluded, only };
  struct Text_Bound {
    std::string text;
    bool is_open = false;
  };

  // A part of a pattern without wildcards, which matching texts must contain.
  struct Part {
    std::string bytes;  // in lower case if folds_case
    bool folds_case = false;
    bool is_at_start = false;
    bool is_in(std::string_view text) const;
  };

  void restrict_to_pattern(std::string_view pattern, bool is_glob);
  void require_null();
  void exclude_null();
  void restrict_integer(unsigned char op, sqlite3_value* value);
  void restrict_real(unsigned char op, sqlite3_value* value);
  void restrict_text(unsigned char op, sqlite3_value* value);
  void restrict_to_reals(double low, double high);
  bool is_in_text_bounds(std::string_view text) const;

  template <class T>
  std::size_t keep_integers(const Column<T>& column, index_t* ids, std::size_t count) const;
  template <class T>
  std::size_t keep_reals(const Column<T>& column, index_t* ids, std::size_t count) const;
  std::size_t keep_texts(const Column<std::string_view>& column, index_t* ids,
                         std::size_t count) const;

  Kind kind_;
  Nulls nulls_ = Nulls::any;
  bool is_empty_ = false;
  std::int64_t low_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t high_ = std::numeric_limits<std::int64_t>::max();
  double real_low_ = -std::numeric_limits<double>::infinity();
  double real_high_ = std::numeric_limits<double>::infinity();
  std::optional<Text_Bound> text_low_, text_high_;
  std::vector<Part> parts_;
  bool has_list_ = false;
  std::vector<std::int64_t> integers_;  // sorted, without duplicates
  std::vector<double> reals_;
  std::vector<std::string> texts_;
};

}  // namespace joedb

#endif
