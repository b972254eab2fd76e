#ifndef JOEDB_SRC_TOOLS_FRAME_PAST_NAME_H
#define JOEDB_SRC_TOOLS_FRAME_PAST_NAME_H

#include <optional>
#include <string>

#include "joedb/base/types.h"

namespace joedb {

// From now on, open_source opens the file with this name as it was at position `end`. There can be
// only one such name.
void set_past(const std::string& name, Offset end);
// Returns the end that was set for this name; nullopt if none was.
std::optional<Offset> find_past(const std::string& name);

}  // namespace joedb

#endif
