#ifndef JOEDB_INTERPRETER_CONFLICT_TEXT_H
#define JOEDB_INTERPRETER_CONFLICT_TEXT_H

#include <string>

#include "joedb/history/apply.h"

namespace joedb::inline v1 {

// A conflict as text for people, without a line end: "person 0 age is 38, not 37". Control
// characters do not reach the terminal.
std::string conflict_text(const Change_Conflict& conflict);

}  // namespace joedb::inline v1

#endif
