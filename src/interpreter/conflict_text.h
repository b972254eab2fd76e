#ifndef JOEDB_INTERPRETER_CONFLICT_TEXT_H
#define JOEDB_INTERPRETER_CONFLICT_TEXT_H

#include <ostream>
#include <string>

#include "joedb/history/apply.h"

namespace joedb::inline v1 {

// A conflict as text for people, without a line end: "person 0 age is 38, not 37". Control
// characters do not reach the terminal.
std::string conflict_text(const Change_Conflict& conflict);

// A line for each conflict of the plan.
void print_conflicts(std::ostream& out, const Plan& plan);
// The message that a plan is not possible.
std::string refusal_text(const Plan& plan, bool is_theirs);

}  // namespace joedb::inline v1

#endif
