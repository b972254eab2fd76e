#include "joedb/cluster/log_connection.h"

namespace joedb::inline v1 {

const char* text_of(Durability durability) {
  switch (durability) {
    case Durability::process:
      return "survives the end of a process, not of a machine";
    case Durability::machine:
      return "survives the loss of a machine, not a power cut of all";
    case Durability::power:
      return "survives a power cut of all machines";
    case Durability::unknown:
      break;
  }
  return "has no known durability";
}

}  // namespace joedb::inline v1
