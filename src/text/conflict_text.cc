#include "text/conflict_text.h"

#include <algorithm>

#include "kernel/base/counted.h"
#include "kernel/base/plain_text.h"
#include "text/change_text.h"

namespace joedb::inline v1 {

std::string conflict_text(const Change_Conflict& conflict) {
  using Kind = Change_Conflict::Kind;
  std::string text;
  append_plain(text, conflict.table);
  if (conflict.record.is_not_null()) text += ' ' + std::to_string(conflict.record.value());
  if (!conflict.field.empty()) {
    text += ' ';
    append_plain(text, conflict.field);
  }
  const auto add_name = [&] { append_plain(text, conflict.name); };
  const auto add_value = [&](const Values& value) {
    constexpr std::size_t max_text_size = 120;
    append_cut_value(text, get(conflict.logical), value[0], max_text_size);
  };
  switch (conflict.kind) {
    case Kind::value_changed:
      text += " is ";
      add_value(conflict.found);
      text += ", not ";
      add_value(conflict.expected);
      if (conflict.wanted.is_empty()) {
        text += "; the record was to be deleted";
      } else {
        text += "; it was to become ";
        add_value(conflict.wanted);
      }
      break;
    case Kind::record_present:
      text += " is in use again, with other values";
      break;
    case Kind::record_missing:
      text += " was deleted";
      break;
    case Kind::table_missing:
      if (conflict.field.empty()) {
        text += ": the table was dropped";
      } else {
        text += " cannot be made again: the table ";
        add_name();
        text += ", to which it refers, was dropped";
      }
      break;
    case Kind::field_missing:
      text += ": the field was dropped";
      break;
    case Kind::table_changed:
      text += ": the table that was to be dropped has changed";
      break;
    case Kind::field_changed:
      text += ": the field that was to be dropped has got other values";
      break;
    case Kind::name_changed:
      text += " has the name ";
      add_name();
      text += " now";
      break;
    case Kind::type_changed:
      text += " has the type ";
      add_name();
      text += " now";
      break;
    case Kind::type_needed:
      text += ": ";
      add_name();
      break;
    case Kind::name_taken:
      text += ": the name ";
      add_name();
      text += " is in use";
      break;
    case Kind::key_taken:
      text += ": record " + std::to_string(conflict.other.value()) +
              " has the same key in the unique index ";
      add_name();
      break;
    case Kind::referenced:
      text += " was to be deleted, but ";
      add_name();
      text += " of record " + std::to_string(conflict.other.value()) + " refers to it";
      break;
    case Kind::target_missing:
      text += " would refer to ";
      add_name();
      text += ' ' + std::to_string(conflict.other.value()) + ", which does not exist";
      break;
    case Kind::needed:
      text += " cannot be dropped: ";
      add_name();
      break;
  }
  return text;
}

void print_conflicts(std::ostream& out, const Plan& plan) {
  for (const Change_Conflict& conflict : plan.conflicts)
    out << "conflict: " << conflict_text(conflict) << '\n';
  if (plan.conflict_count > plan.conflicts.size())
    out << "… and " << plan.conflict_count - plan.conflicts.size() << " more\n";
}

std::string refusal_text(const Plan& plan, bool is_theirs) {
  const std::string text = counted(plan.conflict_count, "conflict") + ", and nothing was written";
  if (is_theirs) return text + ": not all of them can be settled by --theirs";
  const bool can_be_forced =
      std::all_of(plan.conflicts.begin(), plan.conflicts.end(),
                  [](const Change_Conflict& conflict) { return conflict.can_be_forced; });
  return text + ". --ours keeps the present values and writes the rest" +
         (can_be_forced ? ", --theirs writes the old values" : "");
}

}  // namespace joedb::inline v1
