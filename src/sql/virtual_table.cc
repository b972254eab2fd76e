#include "sql/virtual_table.h"

#include <algorithm>
#include <cmath>

#include "sql/collation.h"
#include "text/sql.h"

namespace joedb {

// The values of a reference with a rule are those of a plain one.
static Shared_Logical_Type shown_type(const Column_Base& column) {
  return column.logical().has_plain_values() ? nullptr : column.shared_logical();
}

Virtual_Table::Virtual_Table(sqlite3* connection, std::shared_ptr<Shared_File> file,
                             const std::string& table_name, const std::string& sql_name)
    : sqlite3_vtab(), connection_(connection), file_(std::move(file)), name_(sql_name) {
  const Database& database = file_->present().database();
  const Table* const table = database.find_table(table_name);
  if (table == nullptr) throw Exception(file_->name() + ": no such table: " + table_name);
  table_ = table->id();
  for (const auto& [name, id, field] : Sql_Names::fields(*table)) {
    const Type_Code code = field.column->type().code;
    columns_.push_back(
        {name, id, code, kind_of(code, field.column->logical()), shown_type(*field.column)});
  }
  column_count_ = static_cast<int>(columns_.size());
}

const std::string& Virtual_Table::name_of(Field_Id field, const Table& table) const {
  for (const Field_Column& column : columns_)
    if (column.field == field) return column.name;
  return table.find_field(field)->name;
}

std::string Virtual_Table::declaration() const {
  std::string sql = "CREATE TABLE x(";
  for (const Field_Column& column : columns_) {
    const Logical_Type& logical = get(column.logical);
    sql.append(sql_name(column.name)).append(" ");
    sql += sql_type(column.code, logical, Sql_Types::shared);
    if (const char* const name = collation_of(logical).name) sql.append(" COLLATE ").append(name);
    sql += ", ";
  }
  // A table needs at least one column that is not hidden.
  return sql + "\"__moment\" HIDDEN, \"__id\" INTEGER" + (columns_.empty() ? ")" : " HIDDEN)");
}

bool Virtual_Table::understands(unsigned char op, int column) const {
  if (column == Plan::record_id) return Range::understands(op, Kind::integer);
  const Field_Column& found = columns_[index_of(column)];
  return Range::understands(op, found.code, get(found.logical));
}

void Virtual_Table::set_error(const char* text) {
  sqlite3_free(zErrMsg);
  zErrMsg = sqlite3_mprintf("%s", text);
}

// ---- states -------------------------------------------------------------------------------------

Virtual_Table::Source Virtual_Table::past_source(State& state) const {
  Source source;
  source.table = state.database().find_table(table_);
  for (const Field_Column& column : columns_) {
    const Field* const field = source.table ? source.table->find_field(column.field) : nullptr;
    source.columns.push_back({column.code, field ? field->column.get() : nullptr, column.logical});
    const Logical_Type& shown = get(column.logical);
    if (field == nullptr || shown.kind != Logical_Type::Kind::enumeration) continue;
    const Logical_Type& own = field->column->logical();
    if (own.kind == shown.kind) source.columns.back().logical = field->column->shared_logical();
  }
  return source;
}

const Virtual_Table::Source& Virtual_Table::present_source() {
  if (present_version_ == file_->version()) return present_;
  present_ = past_source(file_->present());
  present_version_ = file_->version();
  if (present_.table == nullptr) {
    present_version_ = ~std::uint64_t{0};
    throw Exception(file_->name() + ": table " + name_ +
                    " was dropped, and the file must be opened again");
  }
  return present_;
}

int Virtual_Table::plan_number(const Index& index) {
  const Index_Definition& wanted = index.definition();
  const auto found = std::find_if(planned_.begin(), planned_.end(), [&](const auto& other) {
    return other.name == wanted.name && other.fields == wanted.fields &&
           other.is_unique == wanted.is_unique;
  });
  const auto number = static_cast<int>(found - planned_.begin());
  if (found == planned_.end()) planned_.push_back(wanted);
  return number;
}

double Virtual_Table::group_size(const Index& index, std::size_t fields) {
  Group_Size& known = group_sizes_[{&index, fields}];
  if (known.size > 0 && known.of_records / 2 <= index.size() &&
      index.size() <= 2 * known.of_records)
    return known.size;
  const Source& source = present_source();
  const Record_Ids& records = source.table->records();
  constexpr index_t samples = 16;
  constexpr int longest = 64;
  double sum = 0, count = 0;
  for (index_t i = 0; i < samples; ++i) {
    const index_t id = records.size() / samples * i;
    if (!records.is_used(id) || !index.contains(Record_Id(id))) continue;
    const auto is_same = [&](index_t other) {
      for (std::size_t k = 0; k < fields; ++k) {
        const Field* const field = source.table->find_field(index.definition().fields[k]);
        const Column_Source column{field->column->type().code, field->column.get()};
        if (compare_values(column, id, other) != 0) return false;
      }
      return true;
    };
    int size = 1;
    Index::Cursor next = index.at(Record_Id(id)), previous = next;
    for (next.next(); size < longest && next.record().is_not_null(); next.next(), ++size)
      if (!is_same(next.record().value())) break;
    for (;; ++size) {
      const Record_Id last = previous.record();
      previous.previous();
      if (size >= longest || previous.record() == last || !is_same(previous.record().value()))
        break;
    }
    // If a group was not counted to its end, assume that it is 1/16 of the index.
    sum += size < longest ? size : static_cast<double>(index.size()) / samples;
    count += 1;
  }
  known = {index.size(), count > 0 ? std::max(1.0, sum / count) : 1.0};
  return known.size;
}

// ---- choosing -----------------------------------------------------------------------------------

// One call of xBestIndex. Costs are similar to those of SQLite's own tables: 2 for each record that
// is passed to SQLite, 0.3 for each record that a scan checks, and for a search, an amount that is
// proportional to the logarithm of the table size.
class Virtual_Table::Planner {
 public:
  Planner(Virtual_Table& table, sqlite3_index_info* info)
      : table_(table),
        info_(info),
        source_(table.present_source()),
        size_(std::max<double>(1.0, static_cast<double>(source_.table->records().used_count()))) {}

  int run() {
    if (!collect()) return SQLITE_CONSTRAINT;
    offer(scan());
    offer(by_record_id());
    for (const auto& index : source_.table->indexes())
      if (index->is_complete() && index->size() > 0 &&
          index->size() == static_cast<std::size_t>(source_.table->records().used_count()))
        offer(by_index(*index));
    offer(by_group());
    report();
    return SQLITE_OK;
  }

 private:
  struct Column_Conditions {
    bool has_equality = false;  // includes IS NULL
    bool has_list = false;
    bool has_lower = false, has_upper = false;
    double selectivity = 1;
    std::optional<Range> known;  // the conditions with known values
    bool is_known = true;        // all conditions have known values
    // Returns true if there is a condition other than a pattern or IS NOT NULL.
    bool has_bounds() const { return has_equality || has_list || has_lower || has_upper; }
  };
  struct Choice {
    bool is_possible = true;
    Plan::Access access = Plan::Access::scan;
    int index = 0;
    bool is_unique = false;
    bool is_ordered = false;
    double cost = 0;
    double rows = 0;
  };

  // Reads the constraints. Returns false if this plan is impossible, because it does not know the
  // moment of the past state.
  bool collect() {
    for (int i = 0; i < info_->nConstraint; ++i) {
      const auto& constraint = info_->aConstraint[i];
      // Test with Kind::text, which supports all operators, because other constraints may have no
      // column.
      if (!Range::understands(constraint.op, Kind::text)) continue;
      const int column =
          constraint.iColumn == table_.id_column() ? Plan::record_id : constraint.iColumn;
      if (column == table_.moment_column()) {
        if (constraint.op != SQLITE_INDEX_CONSTRAINT_EQ || has_moment_) continue;
        if (constraint.usable == 0) return false;
        has_moment_ = true;
        use(i, {column, constraint.op, false}, true);
        continue;
      }
      if (constraint.usable == 0 || !table_.understands(constraint.op, column)) continue;
      add_condition(i, column, constraint.op);
    }
    for (auto& [column, conditions] : columns_)
      conditions.selectivity = estimate(column, conditions);
    return true;
  }

  void use(int i, const Plan::Condition& condition, bool is_exact) {
    plan_.conditions.push_back(condition);
    info_->aConstraintUsage[i].argvIndex = static_cast<int>(plan_.conditions.size());
    info_->aConstraintUsage[i].omit = is_exact;
  }

  // Adds a condition. SQLite need not check it again if the Range represents it exactly. This is
  // true for numbers, and for a text column if the other value is known to be a text. IS NOT NULL
  // and patterns are always checked again (Cursor::may_use).
  void add_condition(int i, int column, unsigned char op) {
    const Kind kind = table_.kind(column);
    const bool is_null_test =
        op == SQLITE_INDEX_CONSTRAINT_ISNULL || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
    const bool is_pattern =
        op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB;
    if (is_pattern && !table_.compares_bytes()) return;
    if (kind == Kind::text && !is_null_test && !is_pattern) {
      const char* const collation = sqlite3_vtab_collation(info_, i);
      const char* const own =
          column == Plan::record_id ? nullptr : collation_of(get(source(column).logical)).name;
      if (!table_.compares_bytes() || collation == nullptr ||
          sqlite3_stricmp(collation, own == nullptr ? "BINARY" : own) != 0)
        return;
    }
    sqlite3_value* value = nullptr;
    bool is_list = false;
    if (has_sqlite_3_38()) {
      if (sqlite3_vtab_rhs_value(info_, i, &value) != SQLITE_OK) value = nullptr;
      is_list = op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info_, i, 1) != 0;
    }
    const bool is_known = is_null_test || (value != nullptr && !is_list);
    bool is_exact = op == SQLITE_INDEX_CONSTRAINT_ISNULL ||
                    (kind != Kind::text && op != SQLITE_INDEX_CONSTRAINT_ISNOTNULL);
    if (!is_exact && is_known && !is_pattern && !is_null_test)
      is_exact = sqlite3_value_type(value) == SQLITE_TEXT;
    const bool is_less = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
    if (is_exact && is_less && kind == Kind::text && text_of(value) < beyond_numbers)
      is_exact = false;  // the range includes more values
    use(i, {column, op, is_list}, is_exact && !is_list);

    Column_Conditions& conditions = columns_[column];
    if (!conditions.known) {
      if (column == Plan::record_id)
        conditions.known.emplace(Kind::integer);
      else
        conditions.known.emplace(source(column).code, source(column).logical);
    }
    if (is_known)
      conditions.known->restrict(op, value);
    else
      conditions.is_known = false;
    if (is_list)
      conditions.has_list = true;
    else if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS ||
             op == SQLITE_INDEX_CONSTRAINT_ISNULL)
      conditions.has_equality = true;
    else if (op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE)
      conditions.has_upper = true;
    else if (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE)
      conditions.has_lower = true;
  }

  // Estimates the fraction of records that meet the conditions.
  double estimate(int column, const Column_Conditions& conditions) const {
    if (column == Plan::record_id) {
      if (conditions.has_equality) return 1 / size_;
      if (conditions.has_list) return std::min(1.0, 10 / size_);
      const Range& range = *conditions.known;
      if (conditions.is_known) {
        const double ids = std::max(1.0, static_cast<double>(source_.table->records().size()));
        const double low = std::max(0.0, static_cast<double>(range.low()));
        const double high = std::min(ids - 1, static_cast<double>(range.high()));
        return std::clamp((high - low + 1) / ids, 1 / size_, 1.0);
      }
    } else if (conditions.is_known) {
      return sample(column, *conditions.known);
    }
    double result = 1;
    if (conditions.has_equality)
      result = 0.05;
    else if (conditions.has_list)
      result = 0.2;
    else {
      if (conditions.has_lower) result *= 0.3;
      if (conditions.has_upper) result *= 0.3;
    }
    return std::max(result, 1 / size_);
  }
  double sample(int column, const Range& range) const {
    constexpr index_t most = 128;
    const Record_Ids& records = source_.table->records();
    index_t ids[most];
    std::size_t count = 0;
    for (index_t i = 0; i < most; ++i) {
      const index_t id = records.size() <= most ? i : records.size() / most * i;
      if (records.is_used(id)) ids[count++] = id;
    }
    if (count == 0) return 1;
    const auto all = static_cast<double>(count);
    const std::size_t kept = range.keep(source(column), ids, count);
    return std::max((static_cast<double>(kept) + 0.25) / (all + 0.25), 1 / size_);
  }

  const Column_Source& source(int column) const {
    return source_.columns[static_cast<std::size_t>(column)];
  }
  double rows() const {
    double result = size_;
    for (const auto& [column, conditions] : columns_) result *= conditions.selectivity;
    return std::max(result, 1.0);
  }
  const Column_Conditions* conditions_of(int column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? nullptr : &found->second;
  }
  int column_of(Field_Id field) const {
    for (int i = 0; i < table_.column_count(); ++i)
      if (table_.field(i) == field) return i;
    return table_.moment_column();  // the field was added later
  }
  Plan::Term term(int i) const {
    const auto& given = info_->aOrderBy[i];
    return {given.iColumn == table_.id_column() ? Plan::record_id : given.iColumn, given.desc != 0};
  }
  static double search_cost(double size) { return 1 + std::log2(size); }

  Choice scan() const {
    Choice choice;
    choice.rows = rows();
    choice.cost = columns_.empty() ? 2 * size_ : 0.3 * size_ + 2 * choice.rows;
    choice.is_ordered = info_->nOrderBy > 0 && term(0).column == Plan::record_id;
    // The value comes from another table, so there may be many searches, for which a cursor builds
    // an index.
    for (const auto& [column, conditions] : columns_)
      if (conditions.has_equality && !conditions.is_known && column >= 0)
        choice.cost = std::min(choice.cost, 4 * search_cost(size_) + 2 * choice.rows);
    return choice;
  }

  Choice by_record_id() const {
    Choice choice;
    const Column_Conditions* const conditions = conditions_of(Plan::record_id);
    choice.is_possible = conditions != nullptr;
    if (!choice.is_possible) return choice;
    choice.access = Plan::Access::record_ids;
    choice.rows = rows();
    choice.is_unique = conditions->has_equality;
    choice.is_ordered = info_->nOrderBy > 0 && term(0).column == Plan::record_id;
    choice.cost = 1 + 2 * size_ * conditions->selectivity;
    return choice;
  }

  Choice by_index(const Index& index) {
    Choice choice;
    choice.access = Plan::Access::index;
    choice.index = table_.plan_number(index);
    const std::vector<Field_Id>& fields = index.definition().fields;
    double found = size_, searches = 1;
    std::size_t equal = 0;
    for (; equal < fields.size(); ++equal) {
      const Column_Conditions* const conditions = conditions_of(column_of(fields[equal]));
      if (conditions == nullptr || !conditions->has_bounds()) break;
      if (conditions->has_equality) {
        found = std::min(found, table_.group_size(index, equal + 1));
        continue;
      }
      found *= conditions->selectivity;
      if (conditions->has_list) {
        searches = 8;
        found = std::min(found, 8 * table_.group_size(index, equal + 1));
      }
      break;
    }
    choice.is_ordered = has_order(index, equal);
    choice.is_possible = found < size_ || choice.is_ordered;
    choice.rows = std::min(rows(), std::max(found, 1.0));
    choice.cost = searches * search_cost(size_) + 2.2 * found;
    return choice;
  }

  // Returns true if the index has the records in the required order, if its first `constant` fields
  // are constant. Records with equal keys are sorted by id.
  bool has_order(const Index& index, std::size_t constant) const {
    const std::vector<Field_Id>& fields = index.definition().fields;
    std::size_t next = constant;
    for (int i = 0; i < info_->nOrderBy; ++i) {
      const Plan::Term wanted = term(i);
      if (wanted.is_descending != term(0).is_descending) return false;
      if (wanted.column == Plan::record_id) return next == fields.size();
      if (wanted.column >= table_.column_count()) return false;
      const Field_Id field = table_.field(wanted.column);
      const auto end = fields.begin() + static_cast<std::ptrdiff_t>(constant);
      if (std::find(fields.begin(), end, field) != end) continue;
      if (next == fields.size() || fields[next] != field) return false;
      if (!sorts_like_sql(wanted.column, next == 0 && constant == 0)) return false;
      ++next;
    }
    return info_->nOrderBy > 0;
  }
  // Returns false if the index may sort this column differently from SQL: an index has nan last,
  // and negative references before the null reference. For the first field, the cursor checks
  // whether there are such values.
  bool sorts_like_sql(int column, bool is_first) const {
    const Type_Code code = source(column).code;
    const Logical_Type& logical = get(source(column).logical);
    switch (table_.kind(column)) {
      case Kind::text:  // the stored order of durations, names and UUIDs is not that of the texts
        return table_.compares_bytes() &&
               (shown_as(logical) == Shown::stored || !ordered_interval(logical).is_empty());
      case Kind::integer:
        return is_first || code != Type_Code::reference;
      case Kind::real:
        return is_first || shown_as(logical) == Shown::decimal;
      case Kind::blob:
        break;
    }
    return false;
  }

  // For GROUP BY and DISTINCT, records with equal values need only be adjacent. Building an index
  // costs less than SQLite's sort.
  Choice by_group() const {
    Choice choice;
    choice.is_possible = false;
    constexpr double least = 256;
    if (!has_sqlite_3_38() || size_ < least || rows() < size_ / 4 || info_->nOrderBy == 0)
      return choice;
    const int need = sqlite3_vtab_distinct(info_);
    if (need != 1 && need != 2) return choice;
    for (int i = 0; i < info_->nOrderBy; ++i) {
      const int column = term(i).column;
      if (column < 0 || column >= table_.column_count() || table_.kind(column) == Kind::blob ||
          (table_.kind(column) == Kind::text && !table_.compares_bytes()))
        return choice;
    }
    choice.is_possible = true;
    choice.access = Plan::Access::own_index;
    choice.is_ordered = true;
    choice.rows = rows();
    choice.cost = 4 * size_ + 2 * choice.rows;
    return choice;
  }

  // Returns the cost, including SQLite's own sort if it is needed.
  double total(const Choice& choice) const {
    const bool sorts = info_->nOrderBy > 0 && !choice.is_ordered;
    return choice.cost + (sorts ? choice.rows * (2 + std::log2(choice.rows + 1)) : 0);
  }
  void offer(const Choice& choice) {
    if (choice.is_possible && (!has_best_ || total(choice) < total(best_))) {
      best_ = choice;
      has_best_ = true;
    }
  }

  void report() {
    plan_.access = best_.access;
    plan_.index = best_.index;
    plan_.used_columns = info_->colUsed;
    if (best_.is_ordered)
      for (int i = 0; i < info_->nOrderBy; ++i) plan_.order.push_back(term(i));
    info_->orderByConsumed = best_.is_ordered;
    info_->estimatedCost = best_.cost;
    info_->estimatedRows = static_cast<sqlite3_int64>(std::min(best_.rows, 1e15));
    if (best_.is_unique) info_->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    const std::string text = plan_.text();
    info_->idxStr = sqlite3_mprintf("%s", text.c_str());
    if (info_->idxStr == nullptr) throw std::bad_alloc();
    info_->needToFreeIdxStr = 1;
    const bool is_one_record =
        best_.access == Plan::Access::record_ids && plan_.conditions.size() == 1 &&
        plan_.conditions[0].op == SQLITE_INDEX_CONSTRAINT_EQ && !plan_.conditions[0].is_list;
    info_->idxNum = is_one_record;
  }

  Virtual_Table& table_;
  sqlite3_index_info* const info_;
  const Source& source_;
  const double size_;
  std::map<int, Column_Conditions> columns_;
  Plan plan_;
  Choice best_;
  bool has_best_ = false;
  bool has_moment_ = false;
};

int Virtual_Table::choose(sqlite3_index_info* info) { return Planner(*this, info).run(); }

}  // namespace joedb
