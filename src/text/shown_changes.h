#ifndef JOEDB_SRC_TEXT_SHOWN_CHANGES_H
#define JOEDB_SRC_TEXT_SHOWN_CHANGES_H

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "text/change_text.h"

namespace joedb::inline v1 {

// What a list of changes is: those of a transaction, in their order, or net_changes().
enum class Change_List { transaction, net };

// Appends changes one by one, like append_change. A field that got another type
// (kernel/table/retype.h) is one line: "retype_field person age int64 (3 records)". Between two
// states, old values are shown as their field was typed then, and only values that have changed are
// shown.
class Shown_Changes {
 public:
  // The changes must outlive this object.
  Shown_Changes(const std::vector<Change>& changes, Change_List list);
  void append(std::string& out, std::size_t index, const Change_Style& style) const;

 private:
  struct Retyped {
    Table_Id table;
    const Schema_Change* added;  // null: only the logical type has changed
    const Schema_Change* dropped;
    std::size_t begin, end;  // the changes between which the values were written
    std::size_t renamed;     // `end`, if there is no such change
    Field_Id field() const { return (added != nullptr ? added : dropped)->field.id; }
    const Logical_Type& old_type() const {
      return get(added != nullptr ? dropped->field.logical : dropped->old_type);
    }
  };
  using Name = std::pair<Table_Id, std::string>;
  // `end` is the drop of the field that the added one may replace.
  void add_retyped(std::size_t added, std::size_t end);
  const Retyped* find(const Change& change, Field_Id field, std::size_t index) const;
  void append_values(std::string& out, const Change& change, const Field_Change& field,
                     const Retyped& retyped, const Change_Style& style) const;

  const std::vector<Change>& changes_;
  const Change_List list_;
  std::vector<Retyped> retyped_;
  // Indexes of retyped_, by the field, and by the changes that are its line.
  std::multimap<std::pair<Table_Id, Field_Id>, std::size_t> by_field_;
  std::map<std::size_t, std::size_t> by_change_;
};

}  // namespace joedb::inline v1

#endif
