#include "joedb/history/changes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "history/log_view.h"
#include "history/tags.h"
#include "objects.h"
#include "text/change_text.h"
#include "values.h"

// The history of changes, which is read from the journal. The classes of the results are in
// joedb/history.py.

namespace joedb::python {

namespace {

const char* kind_name(Change::Kind kind) {
  return kind == Change::Kind::custom ? "mark" : name_of(kind);
}

// Creates a history.Change for record `i` of a change.
nb::object record_change(const nb::object& make, const Change& change, index_t i,
                         const Abstract_File& file) {
  nb::dict before, after;
  for (const Field_Change& field : change.fields) {
    const Field_Description& description = *change.table->find_field(field.field);
    const nb::object name = text_object(description.name);
    const auto object = [&](const Values& values) {
      return to_plain_object(description.logical, values[i], file);
    };
    if (!field.old_values.is_empty()) before[name] = object(field.old_values);
    if (!field.new_values.is_empty()) after[name] = object(field.new_values);
  }
  return make(kind_name(change.kind), text_object(change.table_name()),
              nb::int_(change.record.value() + i), before, after, nb::none(), nb::none());
}

nb::object schema_change(const nb::object& make, const Change& change) {
  const Schema_Change& schema = *change.schema;
  const bool is_of_field =
      change.kind == Change::Kind::field_added || change.kind == Change::Kind::field_renamed ||
      change.kind == Change::Kind::field_dropped || change.kind == Change::Kind::field_typed;
  nb::object name = nb::none();
  if (change.table != nullptr) name = text_object(change.table->name);
  nb::object field = nb::none();
  if (is_of_field) field = text_object(schema.field.name);
  if (change.kind == Change::Kind::custom) field = text_object(schema.mark);
  nb::object old_name = nb::none();
  if (!schema.old_name.empty()) old_name = text_object(schema.old_name);
  return make(kind_name(change.kind), name, nb::none(), nb::dict(), nb::dict(), field, old_name);
}

nb::object transaction_object(const nb::module_& module, const Transaction_Info& info,
                              const nb::object& changes) {
  nb::list comments;
  for (const std::string& comment : info.comments) comments.append(text_object(comment));
  nb::object time = nb::none();
  if (info.time) time = module.attr("_time")(*info.time);
  return module.attr("Transaction")(info.begin, info.end, time, text_object(info.author),
                                    nb::tuple(comments), info.is_complete, changes);
}

nb::object transaction_object(const nb::module_& module, const Transaction& transaction,
                              const Abstract_File& file) {
  const nb::object make = module.attr("Change");
  nb::list list;
  Signal_Check check;
  for (const Change& change : transaction.changes)
    if (change.is_of_records())
      for (index_t i = 0; i < change.size; ++i) {
        check();
        list.append(record_change(make, change, i, file));
      }
    else
      list.append(schema_change(make, change));
  return transaction_object(module, transaction, list);
}

// Collects the transactions of a Log_View, which runs without the GIL.
class Transaction_List final : public Transaction_Output {
 public:
  explicit Transaction_List(const Abstract_File& file) : file_(file) {}
  void print(const Transaction_Summary& summary) override {
    const nb::gil_scoped_acquire acquire;
    list.append(transaction_object(module_, summary, nb::none()));
  }
  void print(const Transaction& transaction) override {
    const nb::gil_scoped_acquire acquire;
    list.append(transaction_object(module_, transaction, file_));
  }
  nb::list list;

 private:
  const Abstract_File& file_;
  const nb::module_ module_ = nb::module_::import_("joedb.history");
};

nb::list log(const Database_Object& database, std::optional<std::size_t> last, bool has_changes) {
  Shared_Session& session = *database.session;
  std::shared_ptr<Abstract_File> file;
  {
    const Shared_Session::Use use(session);
    file = session->open_reader();
  }
  Log_Request request;
  if (last) request.max = *last;
  request.has_changes = has_changes;
  Transaction_List out(*file);
  in_long_call([&] {
    Log_View view(*file, std::move(request));
    view.print(out);
  });
  return out.list;
}

// Reads the journal through a file of its own, independent of the session.
class Changes_Iterator {
 public:
  Changes_Iterator(std::shared_ptr<Abstract_File> file, Offset from, Offset to,
                   const Change_Options& options)
      : file_(std::move(file)), changes_(*file_, from, to, options) {}

  nb::object next() {
    const Transaction* const transaction = in_long_call([&] { return changes_.next(); });
    if (transaction == nullptr) throw nb::stop_iteration();
    return transaction_object(nb::module_::import_("joedb.history"), *transaction, *file_);
  }

 private:
  const std::shared_ptr<Abstract_File> file_;
  Changes changes_;
};

}  // namespace

nb::object record_history(const Record_Object& record) {
  Shared_Session& session = *record.session;
  const Shared_Session::Use use(session);
  const Shared_Session::Call call(session);
  const Table& table = session->table(record.table);
  const auto file = session->open_reader();
  const Table_Id id = table.id();
  const std::vector<Record_Version> versions =
      in_long_call([&] { return record_versions(*file, id, record.id, {}); });
  const nb::module_ module = nb::module_::import_("joedb.history");
  nb::list result;
  for (const Record_Version& version : versions) {
    nb::dict values;
    for (const auto& [field, value] : version.fields) {
      // The name of a dropped field is unknown.
      const Field* const known = table.find_field(field);
      const std::string name =
          known != nullptr ? known->name : "dropped field " + std::to_string(field.value());
      const Shared_Logical_Type logical =
          known != nullptr ? known->column->shared_logical() : nullptr;
      values[text_object(name)] = to_plain_object(logical, value[0], *file);
    }
    nb::object until = nb::none();
    if (version.until) until = transaction_object(module, *version.until, nb::none());
    result.append(module.attr("Version")(
        values, transaction_object(module, version.from, nb::none()), until));
  }
  return result;
}

void add_history(nb::module_& module) {
  nb::class_<Changes_Iterator>(module, "_ChangesIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &Changes_Iterator::next);
  module.def("_log", &log, nb::arg("database"), nb::arg("last").none(), nb::arg("changes"));
  module.def(
      "_changes",
      [](const Database_Object& database, nb::handle from, nb::handle to, nb::handle table) {
        Shared_Session& session = *database.session;
        const Shared_Session::Use use(session);
        auto file = session->open_reader();
        Change_Options change_options;
        if (!table.is_none()) {
          const auto& object = nb::cast<const Table_Object&>(table);
          change_options.tables = {object.id};
        }
        const Offset begin = from.is_none() ? journal_start : nb::cast<Offset>(from);
        const auto given_end = to.is_none() ? std::nullopt : std::optional(nb::cast<Offset>(to));
        auto iterator = in_long_call([&] {
          const Offset end = given_end ? *given_end : Readonly_Journal(*file).get_checkpoint();
          return std::make_unique<Changes_Iterator>(std::move(file), begin, end, change_options);
        });
        return iterator.release();
      },
      nb::arg("database"), nb::arg("since").none(), nb::arg("until").none(),
      nb::arg("table").none(), nb::rv_policy::take_ownership);
}

}  // namespace joedb::python
