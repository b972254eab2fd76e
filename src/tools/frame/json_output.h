#ifndef JOEDB_CLI_JSON_OUTPUT_H
#define JOEDB_CLI_JSON_OUTPUT_H

#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/frame/parser.h"

namespace joedb {

// The type of --json output, which is one line. Members keep their order.
using Json = nlohmann::ordered_json;

inline void add_json_option(Options& options, bool& is_json) {
  options.add_flag("--json", is_json, "print a JSON object instead of text");
}

// Prints one line. Bytes that are not UTF-8, as in a file name, become U+FFFD.
inline void print_json(const Json& json) {
  std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace joedb

#endif
