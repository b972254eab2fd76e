#include "joedb/history/changes.h"

#include <algorithm>

namespace joedb::inline v1 {

const Field_Description* Table_Description::find_field(Field_Id field) const {
  const auto found = std::partition_point(fields.begin(), fields.end(),
                                          [&](const Field_Description& f) { return f.id < field; });
  return found == fields.end() || found->id != field ? nullptr : &*found;
}

const Field_Change* Change::find_field(Field_Id field) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field_Change& candidate) {
    return candidate.field == field;
  });
  return found == fields.end() ? nullptr : &*found;
}

const std::string& Change::field_name(const Field_Change& field) const {
  return table->find_field(field.field)->name;
}

}  // namespace joedb::inline v1
