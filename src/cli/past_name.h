#ifndef JOEDB_CLI_PAST_NAME_H
#define JOEDB_CLI_PAST_NAME_H

#include <optional>
#include <string>

#include "joedb/base/ids.h"

namespace joedb {

// From now on, open_source gives the file of this name as it was.
void set_past(const std::string& name, Offset end);
// The end that was set for this name.
std::optional<Offset> find_past(const std::string& name);

}  // namespace joedb

#endif
