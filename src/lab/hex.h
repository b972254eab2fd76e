#ifndef LAB_HEX_H
#define LAB_HEX_H

#include <string>
#include <string_view>

namespace joedb::testing {

// Hex bytes: "05 01 01".
std::string hex(std::string_view bytes);

}  // namespace joedb::testing

#endif
