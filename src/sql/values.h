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
#include "sql/shown.h"
#include "sql/sqlite_api.h"

// Converts values of joedb for SQLite, and implements SQLite's conditions on them.
//
// Integers, booleans and references become INTEGER; a null reference becomes NULL. Floats become
// REAL; nan becomes NULL. Strings become TEXT. Blobs become BLOB; a null blob becomes NULL. What
// SQL shows for a logical type is in sql/shown.h; a missing value becomes NULL.

namespace joedb {

enum class Kind { integer, real, text, blob };
Kind kind_of(Type_Code code);
// Returns the kind of the values that SQL shows.
Kind kind_of(Type_Code code, const Logical_Type& logical);

// Returns the bytes of a text or blob, which may contain zero bytes. They are valid until the value
// changes. Throws std::bad_alloc.
std::string_view text_of(sqlite3_value* value);

// In byte order, every text that looks like a number is less than this text.
inline constexpr std::string_view beyond_numbers = ":";

// A field in one state.
struct Column_Source {
  Type_Code code = Type_Code::none;
  const Column_Base* column = nullptr;  // null: no such field, all values are NULL
  Shared_Logical_Type logical = nullptr;
};

// Passes the value of a record to SQLite. `is_lasting`: the column does not change until the
// statement is reset, so texts need not be copied. For a blob, throws Io_Error or Corruption_Error.
void pass_value(sqlite3_context* context, const Column_Source& source, index_t id,
                const Abstract_File& file, bool is_lasting);

// Prefetches values that will be passed soon, and that are far apart in memory, so that the
// processor waits for many of them at once.
void fetch_values(const Column_Source& source, const index_t* ids, std::size_t count);

// Compares two values in the order of SQL, with NULL first. Returns a negative number, 0, or a
// positive number. The values must not be blobs.
int compare_values(const Column_Source& source, index_t a, index_t b);

// The values of one column that meet all conditions added so far.
//
// The conditions have the same meaning as in SQLite. A comparison with NULL is never true. Numbers
// are less than texts, and texts are less than blobs. If a text is compared with a number column
// and looks like a number, it is converted. Texts are compared by their bytes. A condition on a
// text column may depend on information that SQLite does not provide: whether a number is compared
// as a text or as a number. Then the range may include values that do not meet the condition.
class Range {
 public:
  explicit Range(Kind kind) : kind_(kind) {}
  explicit Range(Type_Code stored, Shared_Logical_Type logical = nullptr);

  // Returns true if restrict() supports this operator for columns of this kind.
  static bool understands(unsigned char op, Kind kind);
  static bool understands(unsigned char op, Type_Code stored, const Logical_Type& logical);
  // Adds a condition with a supported operator, SQLITE_INDEX_CONSTRAINT_…. For LIKE and GLOB, the
  // range includes all values that SQLite's own functions accept, and perhaps others.
  void restrict(unsigned char op, sqlite3_value* value);
  // Adds an IN condition: the value must be one of these.
  void restrict_to_list(const std::vector<sqlite3_value*>& values);
  // Restricts a range of record ids to [low, high].
  void restrict_to(std::int64_t low, std::int64_t high);

  // Returns true if no value meets the conditions.
  bool is_empty() const;
  // Returns true if NULL meets the conditions.
  bool has_null() const { return nulls_ != Nulls::excluded; }
  bool is_null_only() const { return nulls_ == Nulls::only; }
  // Returns true if exactly one value meets the conditions.
  bool is_point() const;
  bool has_list() const { return has_list_; }

  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }

  // Return the bounds as keys of an index; nullopt if there is no bound. is_open: the bound is
  // excluded. For a single value, both bounds are this value. Valid until this object is changed.
  struct Bound {
    Key_Part part;
    bool is_open = false;
  };
  std::optional<Bound> lower_key() const;
  std::optional<Bound> upper_key() const;

  // The shown form of the field. has_order(): not a text of a number, whose order may differ from
  // that of the number. ordered(): the numbers for which it does not, and for which alone the
  // bounds hold. sorts_stored(): SQL sorts what it shows like the stored values.
  bool has_order() const { return shown_ != Shown::number_text; }
  const Interval& ordered() const { return ordered_; }
  bool sorts_stored() const { return has_order() && shown_ != Shown::uuid && kind_ != Kind::real; }
  // True if the field is optional. missing(): the missing value, if it is the smallest integer.
  bool may_have_missing() const { return get(logical_).is_optional; }
  std::optional<std::int64_t> missing() const;

  // Returns one range for each value of the list. Requires has_list().
  std::vector<Range> points() const;
  // Returns the record ids in the list, in ascending order; empty without a list. The kind must be
  // integer.
  std::vector<std::int64_t> list_of_integers() const;

  // Removes the ids whose values do not meet the conditions, and keeps the order of the others.
  // Returns the number of remaining ids.
  std::size_t keep(const Column_Source& source, index_t* ids, std::size_t count) const;

 private:
  enum class Nulls { any, excluded, only };
  struct Text_Bound {
    std::string text;
    bool is_open = false;
  };

  // A part of a pattern without wildcards. Matching texts must contain it.
  struct Part {
    std::string bytes;  // lower case if folds_case
    bool folds_case = false;
    bool is_at_start = false;
    bool is_in(std::string_view text) const;
  };

  void restrict_to_pattern(std::string_view pattern, bool is_glob);
  void require_null();
  void exclude_null();
  void restrict_shown(unsigned char op, sqlite3_value* value);
  void restrict_decimal(unsigned char op, sqlite3_value* value);
  void restrict_uuid(sqlite3_value* value);
  void restrict_bytes(unsigned char op, sqlite3_value* value);
  void restrict_to_text(unsigned char op, std::string_view text, bool may_be_number);
  bool accepts(std::int64_t value) const;
  Bound missing_key() const;
  void restrict_integer(unsigned char op, sqlite3_value* value);
  void restrict_real(unsigned char op, sqlite3_value* value);
  void restrict_text(unsigned char op, sqlite3_value* value);
  void restrict_to_reals(double low, double high);
  bool is_in_text_bounds(std::string_view text) const;

  template <class T>
  std::size_t keep_shown(const Column<T>& column, index_t* ids, std::size_t count) const;
  template <class T>
  std::size_t keep_integers(const Column<T>& column, index_t* ids, std::size_t count) const;
  template <class T>
  std::size_t keep_reals(const Column<T>& column, index_t* ids, std::size_t count) const;
  std::size_t keep_texts(const Column<std::string_view>& column, index_t* ids,
                         std::size_t count) const;

  Kind kind_;  // of the stored values
  Type_Code stored_ = Type_Code::none;
  Shared_Logical_Type logical_;
  Shown shown_ = Shown::stored;
  Nulls nulls_ = Nulls::any;
  bool is_empty_ = false;
  std::int64_t low_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t high_ = std::numeric_limits<std::int64_t>::max();
  double real_low_ = -std::numeric_limits<double>::infinity();
  double real_high_ = std::numeric_limits<double>::infinity();
  std::optional<Text_Bound> text_low_, text_high_;
  std::vector<Part> parts_;
  // For Shown::number_text, low_ and high_ hold for the numbers of ordered_; the texts of others
  // are compared. only_ is the number that an equality requires.
  struct Text_Condition {
    unsigned char op;
    std::string text;
  };
  Interval ordered_;
  std::vector<Text_Condition> texts_compared_;
  std::optional<std::int64_t> only_;
  bool has_list_ = false;
  std::vector<std::int64_t> integers_;  // sorted, without duplicates
  std::vector<double> reals_;
  std::vector<std::string> texts_;
};

}  // namespace joedb

#endif
