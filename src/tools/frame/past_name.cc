#include "tools/frame/past_name.h"

namespace joedb {

struct Past {
  std::string name;
  Offset end = 0;
};
static Past past;

void set_past(const std::string& name, Offset end) { past = {name, end}; }

std::optional<Offset> find_past(const std::string& name) {
  if (past.end == 0 || name != past.name) return {};
  return past.end;
}

}  // namespace joedb
