#include "cli/output.h"

#include <iostream>

namespace joedb {

void finish_standard_output() {
  std::cout.flush();
  if (!std::cout) throw Exception("writing standard output failed");
}

}  // namespace joedb
