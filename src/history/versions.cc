#include "joedb/history/changes.h"

#include <algorithm>
#include <map>

namespace joedb::inline v1 {

namespace {

// A handler that follows the values of one record. `schema_` has no rows.
class Record_Follower {
 public:
  Record_Follower(Table_Id table, Record_Id record) : table_(table), record_(record) {}

  bool is_used() const { return is_used_; }
  const std::map<Field_Id, Values>& values() const { return values_; }

  void operator()(const Insert& e) { insert(e.table, e.record, 1); }
  void operator()(const Insert_Vector& e) { insert(e.table, e.record, e.size); }
  void operator()(const Delete& e) { erase(e.table, e.record, 1); }
  void operator()(const Delete_Vector& e) { erase(e.table, e.record, e.size); }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    if (concerns(e.table, e.record, 1)) set(e.field, e.value);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    if (concerns(e.table, e.record, e.size)) {
      for (index_t i = record_.value() - e.record.value(); i > 0; --i) e.values.next();
      set(e.field, e.values.next());
    }
  }
  template <class Entry>
  requires is_schema_entry<Entry>
  void operator()(const Entry& e) {
    schema_(e);
    if constexpr (std::is_same_v<Entry, Add_Field>) {
      if (e.table != table_) return;
      const auto& fields = schema_.table(table_).fields();
      values_.emplace(Field_Id(static_cast<std::uint16_t>(fields.size())), Values(e.type.code, 1));
    } else if constexpr (std::is_same_v<Entry, Drop_Field>) {
      if (e.table == table_) values_.erase(e.field);
    } else if constexpr (std::is_same_v<Entry, Drop_Table>) {
      if (e.table == table_) is_used_ = false;
    }
  }
  void operator()(const Comment&) {}
  void operator()(const Timestamp&) {}
  void operator()(const Valid_Data&) {}
  void operator()(const Blob_Data&) {}

 private:
  bool concerns(Table_Id table, Record_Id first, index_t size) const {
    return table == table_ && first <= record_ && record_.value() - first.value() < size;
  }
  void insert(Table_Id table, Record_Id first, index_t size) {
    if (!concerns(table, first, size)) return;
    is_used_ = true;
    for (auto& [field, value] : values_) value = Values(value.type(), 1);
  }
  void erase(Table_Id table, Record_Id first, index_t size) {
    if (concerns(table, first, size)) is_used_ = false;
  }
  template <Field_Value T>
  void set(Field_Id field, T value) {
    const auto found = values_.find(field);
    if (found == values_.end() || found->second.type() != code_of<T>)
      throw Data_Error("invalid field_id");
    Values values(code_of<T>);
    values.append(Value(value));
    found->second = std::move(values);
  }

  const Table_Id table_;
  const Record_Id record_;
  Database schema_;
  bool is_used_ = false;
  std::map<Field_Id, Values> values_;
};

bool is_same(const Record_Version& version, const std::map<Field_Id, Values>& values) {
  return std::equal(
      version.fields.begin(), version.fields.end(), values.begin(), values.end(),
      [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; });
}

}  // namespace

std::vector<Record_Version> record_versions(Abstract_File& file, Table_Id table, Record_Id record,
                                            const Change_Options& options) {
  Change_Options one_record = options;
  one_record.tables = {table};
  one_record.record = Record_Id();  // schema changes affect all records
  Summaries summaries(file, one_record);
  Readonly_Journal journal(file, options.recovery);  // opened later, so it has the last summary
  Record_Follower follower(table, record);
  std::vector<Record_Version> versions;
  while (const Transaction_Summary* const summary = summaries.next()) {
    journal.replay(follower, summary->end);
    const bool is_open = !versions.empty() && !versions.back().until;
    if (is_open && follower.is_used() && is_same(versions.back(), follower.values())) continue;
    if (is_open) versions.back().until = *summary;
    if (!follower.is_used()) continue;
    versions.push_back({{follower.values().begin(), follower.values().end()}, *summary, {}});
  }
  return versions;
}

}  // namespace joedb::inline v1
