#include "joedb/arrow/arrow.h"

namespace joedb::inline v1 {

Arrow_Pin::Arrow_Pin(const Column_Base& column) {
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    const auto& typed = static_cast<const Column<T>&>(column);
    if constexpr (std::is_same_v<T, std::string_view>) {
      values_ = reinterpret_cast<const char*>(typed.handles());
      texts_ = typed.texts();
    } else {
      values_ = reinterpret_cast<const char*>(typed.data());
    }
  });
}

std::shared_ptr<const Arrow_Pin> Arrow_Pins::pin(Table_Id table, Field_Id field) {
  const Table& t = database_.table(table);
  const Field* const found = t.find_field(field);
  if (found == nullptr) throw Data_Error("table " + t.name() + " has no such field");
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Arrow_Pin>& known = pins_[{table, field}];
  std::shared_ptr<Arrow_Pin> result = known.lock();
  if (!result) {
    result = std::make_shared<Arrow_Pin>(*found->column);
    known = result;
  }
  return result;
}

void Arrow_Pins::detach(Pins::iterator begin, Pins::iterator end) {
  while (begin != end) {
    const std::shared_ptr<Arrow_Pin> pin = begin->second.lock();
    // If this is the only owner, there cannot be a new owner, because creating one requires mutex_.
    if (pin && pin.use_count() > 1) {
      const Place& place = begin->first;
      Table& table = database_.table(place.table);
      const auto rows = static_cast<std::size_t>(table.records().size());
      pin->memory_ = table.fields()[place.field.value() - std::size_t{1}].column->detach(rows);
    }
    begin = pins_.erase(begin);
  }
}

void Arrow_Pins::before_change(Table_Id table) {
  const std::lock_guard lock(mutex_);
  const auto begin = pins_.lower_bound({table, Field_Id()});
  auto end = begin;
  while (end != pins_.end() && end->first.table == table) ++end;
  detach(begin, end);
}

void Arrow_Pins::before_change() {
  const std::lock_guard lock(mutex_);
  detach(pins_.begin(), pins_.end());
}

bool Arrow_Pins::has_live_arrays() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, pin] : pins_)
    if (!pin.expired()) return true;
  return false;
}

Arrow_Pins::~Arrow_Pins() {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, known] : pins_) {
    const std::shared_ptr<Arrow_Pin> pin = known.lock();
    if (!pin || pin.use_count() == 1) continue;
    const Field* const field = database_.table(place.table).find_field(place.field);
    pin->memory_ = field->column->release();
  }
}

}  // namespace joedb::inline v1
