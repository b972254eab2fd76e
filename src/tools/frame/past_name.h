#ifndef JOEDB_SRC_TOOLS_FRAME_PAST_NAME_H
#define JOEDB_SRC_TOOLS_FRAME_PAST_NAME_H

#include <optional>
#include <string>

#include "joedb/base/types.h"

namespace joedb {

// Makes open_source open the file of this name in its past state at position `end`, from now on.
// There can be only one such name.
void set_past(const std::string& name, Offset end);
// Returns the position that was set for this name; nullopt if none was set.
std::optional<Offset> find_past(const std::string& name);

}  // namespace joedb

#endif
