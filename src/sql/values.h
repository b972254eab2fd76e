#ifndef SQL_VALUES_H
#define SQL_VALUES_H

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

// Values of joedb as SQLite sees them, and its conditions on them.
//
// Integers, booleans, references: INTEGER; a null reference is NULL. Floats: REAL; nan is NULL.
// Strings: TEXT. Blobs: BLOB; a null blob is NULL.

namespace joedb {

enum class Kind { integer, real, text, blob };
Kind kind_of(Type_Code code);

// A type that SQLite knows, with the affinity of the kind.
std::string_view column_type(Type_Code code);

// The bytes of a text or blob, with zeros in them. Throws std::bad_alloc. Valid until the value
// changes.
std::string_view text_of(sqlite3_value* value);

// All texts that look like numbers are less than this one.
inline constexpr std::string_view beyond_numbers = ":";

// A field in one state.
struct Column_Source {
  Type_Code code = Type_Code::none;
  const Column_Base* column = nullptr;  // null if the state has no such field: all is NULL
};

// Gives SQLite the value of a record. Throws Io_Error, Corruption_Error for a blob. `is_lasting`:
// the column does not change before the statement is reset, so that texts need not be copied.
void give_value(sqlite3_context* context, const Column_Source& source, index_t id,
                const Abstract_File& file, bool is_lasting);

// These values are about to be given, and are far from each other in memory: so that the processor
// waits for many of them at the same time.
void fetch_values(const Column_Source& source, const index_t* ids, std::size_t count);

// -1, 0, 1: the order of SQL, with NULL first. Requires that they are no blobs.
int compare_values(const Column_Source& source, index_t a, index_t b);

// Which values of one column meet conditions.
//
// The conditions are those of SQLite: a comparison with NULL is never true; numbers are less than
// texts, texts less than blobs; a text that is compared with a number column is a number, if it
// looks like one. Texts are compared by their bytes. Where a condition on a text column depends on
// what SQLite does not tell (whether a number is compared as a text or as a number), the range has
// more values than meet it.
class Range {
 public:
  explicit Range(Kind kind) : kind_(kind) {}

  // These operators are understood.
  static bool understands(unsigned char op, Kind kind);
  // Another condition, of these operators: SQLITE_INDEX_CONSTRAINT_… LIKE and GLOB may leave values
  // that SQLite's own functions refuse, but none that they take.
  void restrict(unsigned char op, sqlite3_value* value);
  // IN: one of these values.
  void restrict_to_list(const std::vector<sqlite3_value*>& values);
  // For record ids.
  void restrict_to(std::int64_t low, std::int64_t high);

  Kind kind() const { return kind_; }
  // No value meets the conditions.
  bool is_empty() const;
  // Whether NULL meets them.
  bool has_null() const { return nulls_ != Nulls::excluded; }
  bool is_null_only() const { return nulls_ == Nulls::only; }
  // Whether exactly one value meets them.
  bool is_point() const;
  bool has_list() const { return has_list_; }

  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

  // The bounds as keys of an index, and whether the value itself is outside. Nothing: there is no
  // bound. For a point, both are it. Valid as long as this object is not changed.
  struct Bound {
    Key_Part part;
    bool is_open = false;
  };
  std::optional<Bound> lower_key() const;
  std::optional<Bound> upper_key() const;

  // Each value of the list, as a range of its own. Requires has_list().
  std::vector<Range> points() const;
  // Record ids. Requires has_list(), and that the kind is integer.
  std::vector<std::int64_t> list_of_integers() const;

  // Keeps those of the ids whose values meet the conditions, in their order. Returns their number.
  std::size_t keep(const Column_Source& source, index_t* ids, std::size_t count) const;

 private:
  enum class Nulls { any, excluded, only };
  struct Text_Bound {
    std::string text;
    bool is_open = false;
  };

  // A part of a pattern without wildcards, that matching texts must have.
  struct Part {
    std::string bytes;  // lower case, if case does not matter
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
  std::vector<std::int64_t> integers_;  // sorted, without equal ones
  std::vector<double> reals_;
  std::vector<std::string> texts_;
};

}  // namespace joedb

#endif
