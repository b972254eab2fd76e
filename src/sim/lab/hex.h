#ifndef JOEDB_SRC_SIM_LAB_HEX_H
#define JOEDB_SRC_SIM_LAB_HEX_H

#include <string>
#include <string_view>

namespace joedb::testing {

// Returns the bytes in hexadecimal, for example "05 01 01".
std::string hex(std::string_view bytes);

}  // namespace joedb::testing

#endif
