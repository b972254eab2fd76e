#ifndef JOEDB_SRC_HISTORY_EXPLANATION_H
#define JOEDB_SRC_HISTORY_EXPLANATION_H

#include <string>
#include <string_view>

#include "joedb/format/entry.h"
#include "joedb/history/transaction.h"

namespace joedb::inline v1 {

// At the beginning of a transaction: what Transaction_Info finds as its first comment and its
// author. An empty author is none. Store: a Writable_Database, or what has the same write().
template <class Store>
void write_explanation(Store& store, std::string_view why, std::string_view author) {
  store.write(Comment{why});
  if (author.empty()) return;
  const std::string text = std::string(author_mark).append(author);
  store.write(Comment{text});
}

}  // namespace joedb::inline v1

#endif
