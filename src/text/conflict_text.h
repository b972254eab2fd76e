#ifndef JOEDB_SRC_TEXT_CONFLICT_TEXT_H
#define JOEDB_SRC_TEXT_CONFLICT_TEXT_H

#include <ostream>
#include <string>

#include "joedb/history/undo.h"

namespace joedb::inline v1 {

// Returns a conflict as text for people, in one line: "person 0 age is 38, not 37". Control
// characters are escaped.
std::string conflict_text(const Change_Conflict& conflict);

// Prints the conflicts of the plan, one per line.
void print_conflicts(std::ostream& out, const Plan& plan);
// Returns the error message for a plan that is not possible. is_theirs: true if the user gave
// --theirs.
std::string refusal_text(const Plan& plan, bool is_theirs);

}  // namespace joedb::inline v1

#endif
