#include "text/shown_changes.h"

#include <algorithm>
#include <utility>

#include "history/change_parts.h"
#include "kernel/table/retype.h"

namespace joedb::inline v1 {

using Kind = Change::Kind;

Shown_Changes::Shown_Changes(const std::vector<Change>& changes, Change_List list)
    : changes_(changes), list_(list) {
  // Backwards, so that `drops` has the next drop of each field, by the name of the new field.
  std::map<Name, std::size_t> drops;
  for (std::size_t i = changes.size(); i-- > 0;) {
    const Change& change = changes[i];
    if (change.kind == Kind::field_dropped) {
      const std::string& name = change.schema->field.name;
      drops[{change.table->id, list == Change_List::net ? name : retyped_name(name)}] = i;
    } else if (change.kind == Kind::field_added) {
      const auto drop = drops.find({change.table->id, change.schema->field.name});
      if (drop != drops.end()) add_retyped(i, drop->second);
    } else if (change.kind == Kind::field_typed && list == Change_List::net) {
      retyped_.push_back(
          {change.table->id, nullptr, change.schema.get(), i, changes.size(), changes.size()});
    }
  }
  std::reverse(retyped_.begin(), retyped_.end());
  for (std::size_t i = 0; i < retyped_.size(); ++i) {
    const Retyped& retyped = retyped_[i];
    by_field_.emplace(std::pair(retyped.table, retyped.field()), i);
    if (retyped.added == nullptr) continue;
    for (const std::size_t change : {retyped.begin, retyped.end, retyped.renamed})
      by_change_.emplace(change, i);
  }
}

void Shown_Changes::add_retyped(std::size_t added, std::size_t end) {
  const Change& addition = changes_[added];
  const Schema_Change& field = *addition.schema;
  const Schema_Change& dropped = *changes_[end].schema;
  std::size_t renamed = end;
  if (list_ == Change_List::net) {
    if (!dropped.has_lost) return;
  } else {
    renamed = end + 1;
    if (renamed == changes_.size() || changes_[renamed].kind != Kind::field_renamed ||
        changes_[renamed].table->id != addition.table->id ||
        changes_[renamed].schema->field.id != field.field.id)
      return;
  }
  retyped_.push_back({addition.table->id, &field, &dropped, added, end, renamed});
}

const Shown_Changes::Retyped* Shown_Changes::find(const Change& change, Field_Id field,
                                                  std::size_t index) const {
  const auto [first, last] = by_field_.equal_range({change.table->id, field});
  for (auto found = first; found != last; ++found) {
    const Retyped& retyped = retyped_[found->second];
    if (retyped.begin < index && index < retyped.end) return &retyped;
  }
  return nullptr;
}

void Shown_Changes::append(std::string& out, std::size_t index, const Change_Style& style) const {
  const Change& change = changes_[index];
  if (const auto found = by_change_.find(index); found != by_change_.end()) {
    const Retyped& retyped = retyped_[found->second];
    if (index == retyped.begin)
      append_retyping(out, change.table_name(), *retyped.added, *retyped.dropped, style);
    return;
  }
  const auto is_retyped = [&](const Field_Change& field) {
    return find(change, field.field, index) != nullptr;
  };
  if (change.kind != Kind::updated ||
      std::none_of(change.fields.begin(), change.fields.end(), is_retyped))
    return append_change(out, change, style);
  Change rest = change_of_records(Kind::updated, change.table, change.record.value(), change.size);
  for (const Field_Change& field : change.fields)
    if (!is_retyped(field)) rest.fields.push_back(field);
  if (!rest.fields.empty()) append_change(out, rest, style);
  if (list_ == Change_List::transaction) return;
  for (const Field_Change& field : change.fields)
    if (const Retyped* const retyped = find(change, field.field, index))
      append_values(out, change, field, *retyped, style);
}

// Returns the value that a record had in a dropped field; null if it had none.
static std::optional<Value> lost_value(const Schema_Change& dropped, Record_Id record) {
  for (const Change& lost : dropped.lost) {
    const index_t i = record.value() - lost.record.value();
    if (i >= 0 && i < lost.size && !lost.fields.empty()) return lost.fields[0].old_values[i];
  }
  return {};
}

static constexpr index_t max_shown = 20;

// The text of a value without the quotes of a text.
static std::string plain_text_of(const Logical_Type& logical, const Value& value) {
  std::string text;
  append_cut_value(text, logical, value, std::string_view::npos);
  if (text.size() > 1 && text.starts_with('"')) text = text.substr(1, text.size() - 2);
  return text;
}

void Shown_Changes::append_values(std::string& out, const Change& change, const Field_Change& field,
                                  const Retyped& retyped, const Change_Style& style) const {
  const Logical_Type& type = get(change.table->find_field(field.field)->logical);
  index_t shown = 0;
  for (index_t i = 0; i < change.size; ++i) {
    const Record_Id record = change.record + i;
    if (style.record.is_not_null() && style.record != record) continue;
    const auto old_value = retyped.added == nullptr ? std::optional(field.old_values[i])
                                                    : lost_value(*retyped.dropped, record);
    if (!old_value ||
        plain_text_of(retyped.old_type(), *old_value) == plain_text_of(type, field.new_values[i]))
      continue;
    if (!style.is_complete && ++shown > max_shown) continue;
    Change one = change_of_records(Kind::updated, change.table, record.value(), 1);
    Values old_values(type_of(*old_value));
    old_values.append(*old_value);
    one.fields.push_back({field.field, std::move(old_values), part_of(field.new_values, i, 1)});
    append_change(out, one, style, retyped.old_type());
  }
  if (shown > max_shown)
    out.append(style.indentation).append("… " + std::to_string(shown - max_shown) + " more\n");
}

}  // namespace joedb::inline v1
