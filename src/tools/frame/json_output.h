#ifndef JOEDB_SRC_TOOLS_FRAME_JSON_OUTPUT_H
#define JOEDB_SRC_TOOLS_FRAME_JSON_OUTPUT_H

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/frame/parser.h"

namespace joedb {

// The type of --json output that fits on one line. Members keep their order. Longer output, and
// output with spaces, is written with kernel/base/json_text.h.
using Json = nlohmann::ordered_json;

inline void add_json_option(Options& options, bool& is_json) {
  options.add_flag("--json", is_json, "print a JSON object instead of text");
}

// Returns a JSON value as one line, without a line end. Bytes that are not UTF-8, for example in a
// file name, become U+FFFD.
template <class Value>
std::string json_text(const Value& json) {
  return json.dump(-1, ' ', false, Value::error_handler_t::replace);
}

// Prints a JSON value as one line.
inline void print_json(const Json& json, std::ostream& out = std::cout) {
  out << json_text(json) << '\n';
}

}  // namespace joedb

#endif
