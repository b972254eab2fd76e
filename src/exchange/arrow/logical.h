#ifndef JOEDB_SRC_EXCHANGE_ARROW_LOGICAL_H
#define JOEDB_SRC_EXCHANGE_ARROW_LOGICAL_H

#include "exchange/arrow/arrays.h"
#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Changes the Arrow type of a stored type to that of a logical type, and adds `joedb.type`. Does
// nothing for a plain type.
void add_logical_type(Arrow_Type& type, Type_Code stored, const Logical_Type& logical);

// Returns the names of an enumeration: the dictionary of its places.
ArrowArray make_names(const Logical_Type& logical);

}  // namespace joedb::inline v1

#endif
