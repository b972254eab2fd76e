#ifndef JOEDB_SRC_HISTORY_EXPLANATION_H
#define JOEDB_SRC_HISTORY_EXPLANATION_H

#include <string>
#include <string_view>

#include "joedb/format/entry.h"
#include "joedb/history/changes.h"
#include "kernel/table/declaration.h"

namespace joedb::inline v1 {

// Writes comments from which Transaction_Info gets the first comment and the author. Call this at
// the start of a transaction. If `author` is empty, writes no author. `Store` is Writable_Database,
// or a class with the same write(). Throws Exception if the reason is a declaration
// (kernel/table/declaration.h), and writes nothing then.
template <class Store>
void write_explanation(Store& store, std::string_view why, std::string_view author) {
  if (is_declaration(why)) throw Exception("a reason cannot be a declaration: " + std::string(why));
  store.write(Comment{why});
  if (author.empty()) return;
  const std::string text = std::string(author_mark).append(author);
  store.write(Comment{text});
}

}  // namespace joedb::inline v1

#endif
