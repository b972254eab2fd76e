#include "search.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>

#include "joedb/table/index.h"
#include "logical.h"
#include "objects.h"
#include "values.h"

namespace joedb::python {

namespace {

enum class Test { equal, unequal, less, not_greater, greater, not_less, begins, one_of, present };

struct Condition {
  Field_Id field;
  Type_Code type;
  Test test;
  Inputs inputs;  // one value, except for one_of

  template <class T>
  const T& value(std::size_t i = 0) const {
    return std::get<T>(inputs.values()[i].value);
  }
  Key_Part key(std::size_t i = 0) const {
    return std::visit([](const auto& v) { return key_part(v); }, inputs.values()[i].value);
  }
};

// ---- arguments ----------------------------------------------------------------------------------

struct Argument {
  std::string field;
  Test test = Test::equal;
};

// Names of fields have no "__".
Argument parse_name(nb::handle name) {
  static constexpr std::pair<std::string_view, Test> tests[] = {
      {"lt", Test::less},     {"le", Test::not_greater}, {"gt", Test::greater},
      {"ge", Test::not_less}, {"ne", Test::unequal},     {"startswith", Test::begins}};
  const std::string text = name_text(name);
  const std::size_t mark = text.find("__");
  if (mark == std::string::npos || mark == 0) return {text};
  const std::string_view suffix = std::string_view(text).substr(mark + 2);
  for (const auto& [end, test] : tests)
    if (end == suffix) return {text.substr(0, mark), test};
  fail(PyExc_TypeError,
       text + ": a condition ends with __lt, __le, __gt, __ge, __ne or __startswith");
}

// Throws TypeError if values of this type are not compared like this.
void require_comparable(const std::string& name, Type_Code type, Test test) {
  if (type == Type_Code::blob) fail(PyExc_TypeError, "where() compares no blobs");
  const bool is_order = test == Test::less || test == Test::not_greater || test == Test::greater ||
                        test == Test::not_less;
  if (is_order && type == Type_Code::reference)
    fail(PyExc_TypeError, name + ": references have no order");
  if (test == Test::begins && type != Type_Code::string)
    fail(PyExc_TypeError, name + ": only texts can be compared with __startswith");
}

// For `field=range(18, 30)`, which may be long, and longer than the range of the type.
// Precondition: is_plain_range().
void add_range(const Field_Info& field, nb::handle range, std::vector<Condition>& out) {
  const Type_Code type = field.type.code;
  const Condition nothing{field.id, type, Test::one_of, {}};
  if (!nb::cast<bool>(nb::bool_(range))) return out.push_back(nothing);
  const nb::object first = range[nb::int_(0)];
  const nb::object last = range[nb::int_(-1)];
  int is_low_outside = 0, is_high_outside = 0;  // or its sign
  const std::int64_t low = PyLong_AsLongLongAndOverflow(first.ptr(), &is_low_outside);
  const std::int64_t high = PyLong_AsLongLongAndOverflow(last.ptr(), &is_high_outside);
  visit_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Limits = std::numeric_limits<T>;
      const bool is_above = is_low_outside > 0 || (is_low_outside == 0 && low > Limits::max());
      const bool is_below = is_high_outside < 0 || (is_high_outside == 0 && high < Limits::min());
      if (is_above || is_below) return out.push_back(nothing);
      const auto add = [&](Test test, T bound) {
        Condition condition{field.id, type, test, {}};
        Input input;
        input.field = field.id;
        input.value = bound;
        condition.inputs.add(std::move(input));
        out.push_back(std::move(condition));
      };
      const bool has_low = is_low_outside == 0 && low >= Limits::min();
      const bool has_high = is_high_outside == 0 && high <= Limits::max();
      add(Test::not_less, has_low ? static_cast<T>(low) : Limits::min());
      add(Test::not_greater, has_high ? static_cast<T>(high) : Limits::max());
    }
  });
}

bool is_integer(Type_Code type) {
  return type == Type_Code::int8 || type == Type_Code::int16 || type == Type_Code::int32 ||
         type == Type_Code::int64;
}

bool is_order(Test test) {
  return test == Test::less || test == Test::not_greater || test == Test::greater ||
         test == Test::not_less;
}

// Records without a value are not less or greater than others, and do not begin like them.
void add_present(const Field_Info& field, std::vector<Condition>& out) {
  Condition condition{field.id, field.type.code, Test::present, {}};
  Input missing;
  missing.field = field.id;
  missing.value = missing_value_of(field.type.code, *field.logical);
  condition.inputs.add(std::move(missing));
  out.push_back(std::move(condition));
}

// Adds a comparison with None.
void compare_none(const std::string& name, const Field_Info& field, Test test,
                  std::vector<Condition>& out) {
  if (test != Test::equal && test != Test::unequal)
    fail(PyExc_TypeError, name + ": None has no order, and is no text");
  add_present(field, out);
  if (test == Test::equal) out.back().test = Test::one_of;
}

bool is_plain_range(nb::handle value, Type_Code type) {
  return Py_TYPE(value.ptr()) == &PyRange_Type && is_integer(type) &&
         value.attr("step").equal(nb::int_(1));
}

// Whether a number fits an integer field; if not, where it is.
enum class Place { inside, below, above, nowhere };

// Replaces a number that is not an integer by the integer before or after it, so that the
// comparison remains the same. NaN, and a fraction that is compared for equality, are nowhere.
Place place_of(Type_Code type, Test test, nb::object& value) {
  if (PyFloat_Check(value.ptr())) {
    const double number = nb::cast<double>(value);
    if (std::isnan(number)) return Place::nowhere;
    if (std::isinf(number)) return number < 0 ? Place::below : Place::above;
    const bool is_order = test == Test::less || test == Test::not_greater ||
                          test == Test::greater || test == Test::not_less;
    if (std::floor(number) != number && !is_order) return Place::nowhere;
    const bool is_up = test == Test::less || test == Test::not_less;
    value = nb::steal(PyLong_FromDouble(is_up ? std::ceil(number) : std::floor(number)));
    if (!value.is_valid()) throw nb::python_error();
  }
  if (!PyLong_Check(value.ptr())) return Place::inside;
  int overflow = 0;
  const std::int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) return overflow < 0 ? Place::below : Place::above;
  return visit_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (number < std::numeric_limits<T>::min()) return Place::below;
      if (number > std::numeric_limits<T>::max()) return Place::above;
    }
    return Place::inside;
  });
}

// Whether all values of the type fulfil a comparison with a number outside of it; otherwise none.
bool is_always_true(Test test, Place place) {
  const bool is_smaller = test == Test::less || test == Test::not_greater;
  const bool is_larger = test == Test::greater || test == Test::not_less;
  return test == Test::unequal || (place == Place::above && is_smaller) ||
         (place == Place::below && is_larger);
}

std::vector<Condition> to_conditions(Shared_Session& session, Table_Id table_id,
                                     nb::handle arguments) {
  std::vector<Condition> result;
  for (const auto& [name, value] : nb::borrow<nb::dict>(arguments)) {
    const Argument argument = parse_name(name);
    const nb::str field_name(argument.field.c_str(), argument.field.size());
    const auto find = [&]() -> Field_Info {  // again after each value: its code may change fields
      const Table& t = session->table(table_id);
      const Field_Info* const field = session.table_info(t).find(field_name.ptr());
      if (field == nullptr) throw_no_field(session, t, field_name, PyExc_TypeError);
      return *field;
    };
    const Field_Info field = find();
    require_comparable(argument.field, field.type.code, argument.test);
    const bool is_optional = get(field.logical).is_optional;
    const bool has_numbers = get(field.logical).kind == Logical_Type::Kind::plain;
    if (argument.test == Test::equal && has_numbers && is_plain_range(value, field.type.code)) {
      add_range(field, value, result);
      if (is_optional) add_present(field, result);
      continue;
    }
    if (is_optional && is_none(value)) {
      compare_none(argument.field, field, argument.test, result);
      continue;
    }
    if (is_optional && (is_order(argument.test) || argument.test == Test::begins))
      add_present(field, result);
    Condition condition{field.id, field.type.code, argument.test, {}};
    const bool has_integers = is_integer(field.type.code) && has_numbers;
    if (argument.test == Test::equal && is_several(value)) {
      condition.test = Test::one_of;
      Signal_Check check;
      for (const nb::handle one : to_list(value)) {
        check();
        nb::object number = nb::borrow(one);
        if (has_integers && place_of(field.type.code, Test::equal, number) != Place::inside)
          continue;
        condition.inputs.add(to_input(session, session->table(table_id), find(), number));
      }
    } else {
      nb::object number = nb::borrow(value);
      const Place place =
          has_integers ? place_of(field.type.code, argument.test, number) : Place::inside;
      if (place == Place::inside) {
        condition.inputs.add(to_input(session, session->table(table_id), find(), number));
      } else {
        if (is_always_true(argument.test, place)) continue;
        condition.test = Test::one_of;
      }
    }
    result.push_back(std::move(condition));
  }
  return result;
}

// ---- scans --------------------------------------------------------------------------------------

template <class T>
auto hashable(const T& value) {
  if constexpr (std::is_same_v<T, Record_Id>)
    return value.value();
  else
    return value;
}

// Calls f with a function that tests the record of an id.
template <class F>
void with_test(const Table& table, const Condition& condition, F f) {
  visit_type(condition.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, Blob>) {
      const Column<T>& column = table.column<T>(condition.field);
      if (condition.test == Test::one_of) {
        std::unordered_set<decltype(hashable(T()))> values;
        Interrupt_Counter look;
        for (std::size_t i = 0; i < condition.inputs.values().size(); ++i, look())
          values.insert(hashable(condition.value<T>(i)));
        if constexpr (std::is_floating_point_v<T>)
          if (std::any_of(values.begin(), values.end(), [](T value) { return std::isnan(value); }))
            return f([&](index_t id) {
              const T value = column.get(id);
              return std::isnan(value) ? column.logical().is_optional : values.contains(value);
            });
        return f([&](index_t id) { return values.contains(hashable(T(column.get(id)))); });
      }
      const T value = condition.value<T>();
      switch (condition.test) {
        case Test::unequal:
          return f([&](index_t id) { return T(column.get(id)) != value; });
        case Test::less:
          return f([&](index_t id) { return T(column.get(id)) < value; });
        case Test::not_greater:
          return f([&](index_t id) { return T(column.get(id)) <= value; });
        case Test::greater:
          return f([&](index_t id) { return T(column.get(id)) > value; });
        case Test::not_less:
          return f([&](index_t id) { return T(column.get(id)) >= value; });
        case Test::begins:
          if constexpr (std::is_same_v<T, std::string_view>)
            return f([&](index_t id) { return T(column.get(id)).starts_with(value); });
          break;
        case Test::present:
          return f([&](index_t id) { return !is_missing(column.logical(), T(column.get(id))); });
        default:
          return f([&](index_t id) { return T(column.get(id)) == value; });
      }
    }
  });
}

std::vector<index_t> scan(const Table& table, const Condition& condition) {
  constexpr index_t part = index_t{1} << 16;
  const Record_Ids& records = table.records();
  std::vector<index_t> ids;
  table.find_field(condition.field)->column->expect_scan();
  with_test(table, condition, [&](const auto& fits) {
    for (index_t begin = 0; begin < records.size(); begin += part) {
      const index_t end = std::min(begin + part, records.size());
      for (index_t id = begin; id < end; ++id)
        if (fits(id) && records.is_used(id)) ids.push_back(id);
      look_for_interrupt();
    }
  });
  return ids;
}

void keep_fitting(const Table& table, const Condition& condition, std::vector<index_t>& ids) {
  Interrupt_Counter look;
  with_test(table, condition, [&](const auto& fits) {
    std::erase_if(ids, [&](index_t id) {
      look();
      return !fits(id);
    });
  });
}

// ---- indexes ------------------------------------------------------------------------------------

// A search in an index: the values of its first fields, and perhaps of the next one.
struct Plan {
  const Index* index = nullptr;
  std::vector<const Condition*> equal;
  const Condition* one_of = nullptr;
  const Condition* low = nullptr;
  const Condition* high = nullptr;
  std::size_t score() const {
    return 2 * equal.size() + (one_of != nullptr || low != nullptr || high != nullptr ? 1 : 0);
  }
};

Plan plan_with(const Index& index, const std::vector<Condition>& conditions) {
  Plan plan{&index, {}, nullptr, nullptr, nullptr};
  for (const Field_Id field : index.definition().fields) {
    const Condition* equal = nullptr;
    for (const Condition& condition : conditions)
      if (condition.field == field && condition.test == Test::equal) equal = &condition;
    if (equal != nullptr) {
      plan.equal.push_back(equal);
      continue;
    }
    for (const Condition& condition : conditions) {
      if (condition.field != field) continue;
      const Test test = condition.test;
      if (test == Test::one_of) plan.one_of = &condition;
      if (test == Test::greater || test == Test::not_less || test == Test::begins)
        plan.low = &condition;
      if (test == Test::less || test == Test::not_greater) plan.high = &condition;
    }
    break;
  }
  return plan;
}

// Records without values are not in an index: an index of fewer records is not used.
Plan find_plan(const Database& database, const Table& table,
               const std::vector<Condition>& conditions) {
  Plan best;
  for (const Index* const index : database.indexes()) {
    if (index->definition().table != table.id() || !index->is_complete() || index->is_deferred() ||
        index->size() != static_cast<std::size_t>(table.records().used_count()))
      continue;
    Plan plan = plan_with(*index, conditions);
    if (plan.score() > best.score()) best = std::move(plan);
  }
  return best;
}

// The first text after all texts that begin with `text`; empty if there is none.
std::string after_prefix(std::string_view text) {
  std::string result(text);
  while (!result.empty() && result.back() == '\xff') result.pop_back();
  if (!result.empty()) ++result.back();
  return result;
}

// Adds the records in a range of an index. Returns false if there are more than `most`.
bool add_range(const Plan& plan, std::vector<Key_Part> key, const Condition* low,
               const Condition* high, std::size_t most, std::vector<index_t>& ids) {
  const Index& index = *plan.index;
  const std::size_t width = key.size();
  const auto with = [&](Key_Part part) {
    key.resize(width);
    key.push_back(part);
    return Key(key);
  };
  const auto whole = [&] {
    key.resize(width);
    return Key(key);
  };
  const Index::Cursor end = index.end();
  Index::Cursor cursor = low != nullptr ? index.lower_bound(with(low->key()))
                         : width == 0   ? index.begin()
                                        : index.lower_bound(whole());
  Index::Cursor last;
  if (const std::string next = low != nullptr && low->test == Test::begins
                                   ? after_prefix(low->value<std::string_view>())
                                   : "";
      !next.empty())
    last = index.lower_bound(with(key_part(std::string_view(next))));
  else if (high != nullptr)
    last = index.upper_bound(with(high->key()));
  else
    last = width == 0 ? end : index.upper_bound(whole());
  // If the bounds contradict each other, the end of the index comes before the last record.
  for (; !(cursor == last) && !(cursor == end); cursor.next()) {
    if (ids.size() >= most) return false;
    ids.push_back(cursor.record().value());
  }
  return true;
}

// A search for more records than this in an index takes longer than a scan.
std::size_t max_found(const Table& table) {
  return static_cast<std::size_t>(table.records().used_count() / 16 + 16);
}

// Returns the records that an index finds, which need not satisfy all conditions; nullopt if a scan
// is faster.
std::optional<std::vector<index_t>> find_by_index(const Database& database, const Table& table,
                                                  const std::vector<Condition>& conditions) {
  const Plan plan = find_plan(database, table, conditions);
  if (plan.index == nullptr) return {};
  const std::size_t most = max_found(table);
  std::vector<Key_Part> key;
  for (const Condition* const condition : plan.equal) key.push_back(condition->key());
  std::vector<index_t> ids;
  if (plan.one_of == nullptr) {
    if (!add_range(plan, key, plan.low, plan.high, most, ids)) return {};
  } else {
    const std::size_t count = plan.one_of->inputs.values().size();
    if (count > most) return {};
    Interrupt_Counter look;
    for (std::size_t i = 0; i < count; ++i, look()) {
      std::vector<Key_Part> one = key;
      one.push_back(plan.one_of->key(i));
      if (!add_range(plan, std::move(one), nullptr, nullptr, most, ids)) return {};
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

std::vector<index_t> all_ids(const Table& table) {
  const Record_Ids& records = table.records();
  std::vector<index_t> ids;
  ids.reserve(static_cast<std::size_t>(records.used_count()));
  for (index_t id = 0; id < records.size(); ++id)
    if (records.is_used(id)) ids.push_back(id);
  return ids;
}

std::optional<std::vector<index_t>> find_by_index(const Database& database, const Table& table,
                                                  Field_Id field, std::size_t count,
                                                  const std::function<Inputs()>& make_values) {
  std::vector<Condition> conditions;
  const Type_Code type = table.find_field(field)->column->type().code;
  conditions.push_back({field, type, Test::one_of, {}});
  if (count > max_found(table) || find_plan(database, table, conditions).index == nullptr)
    return {};
  conditions.front().inputs = make_values();
  return find_by_index(database, table, conditions);
}

std::vector<index_t> search(Shared_Session& session, Table_Id table_id, nb::handle arguments) {
  const std::vector<Condition> conditions = to_conditions(session, table_id, arguments);
  const Shared_Session::Call call(session);
  const Table& table = session->table(table_id);
  return in_long_call([&] {
    if (conditions.empty()) return all_ids(table);
    if (auto ids = find_by_index(session->database(), table, conditions)) {
      for (const Condition& condition : conditions) keep_fitting(table, condition, *ids);
      return *std::move(ids);
    }
    std::vector<index_t> ids = scan(table, conditions.front());
    for (std::size_t i = 1; i < conditions.size(); ++i) keep_fitting(table, conditions[i], ids);
    return ids;
  });
}

// ---- keys ---------------------------------------------------------------------------------------

bool is_several(nb::handle value) {
  PyObject* const p = value.ptr();
  const Record_Object* record = nullptr;
  if (PyUnicode_Check(p) || PyBytes_Check(p) || PyByteArray_Check(p) || PyMemoryView_Check(p) ||
      value.is_none())
    return false;
  if (PyList_Check(p) || PyTuple_Check(p)) return true;
  if (nb::try_cast(value, record) && record != nullptr) return false;
  // An array of NumPy without a dimension is one value.
  if (nb::hasattr(value, "ndim")) return nb::cast<int>(value.attr("ndim")) > 0;
  return nb::hasattr(value.type(), "__iter__");
}

// True for arrays of datetime64 and timedelta64. Their tolist() loses the time zone, which is UTC,
// or returns numbers, depending on their unit.
static bool are_times(nb::handle values) {
  const nb::object type = nb::getattr(values, "dtype", nb::none());
  const nb::object kind = nb::getattr(type, "kind", nb::none());
  return nb::isinstance<nb::str>(kind) && (kind.equal(nb::str("M")) || kind.equal(nb::str("m")));
}

nb::list to_list(nb::handle values) {
  if (nb::hasattr(values, "tolist") && !are_times(values))
    return nb::cast<nb::list>(nb::object(values.attr("tolist")()));
  nb::list list;
  Signal_Check check;
  for (const nb::handle value : nb::iter(values)) {
    check();
    list.append(value);
  }
  return list;
}

// True for arrays of booleans, and lists that begin with one.
static bool is_mask(nb::handle key) {
  if (nb::hasattr(key, "dtype")) {
    const std::string type = nb::cast<std::string>(nb::str(nb::object(key.attr("dtype"))));
    return type.starts_with("bool") || type == "Boolean";
  }
  return (PyList_Check(key.ptr()) || PyTuple_Check(key.ptr())) && nb::len(key) > 0 &&
         PyBool_Check(nb::object(key[0]).ptr());
}

bool to_positions(nb::handle key, std::size_t size, std::vector<std::size_t>& positions) {
  positions.clear();
  if (PySlice_Check(key.ptr())) {
    Py_ssize_t begin = 0, end = 0, step = 0;
    if (PySlice_Unpack(key.ptr(), &begin, &end, &step) != 0) throw nb::python_error();
    const Py_ssize_t count =
        PySlice_AdjustIndices(static_cast<Py_ssize_t>(size), &begin, &end, step);
    for (Py_ssize_t i = 0; i < count; ++i)
      positions.push_back(static_cast<std::size_t>(begin + i * step));
    return true;
  }
  if (!is_several(key) || !is_mask(key)) return false;
  if (nb::len(key) != size)
    fail(PyExc_ValueError, "a mask of " + std::to_string(nb::len(key)) + " values for " +
                               std::to_string(size) + " records");
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::list found(numpy.attr("flatnonzero")(numpy.attr("asarray")(key)).attr("tolist")());
  Signal_Check check;
  for (const nb::handle position : found) {
    check();
    positions.push_back(nb::cast<std::size_t>(position));
  }
  return true;
}

}  // namespace joedb::python
