#ifndef DEBIAN_QUESTIONS_H
#define DEBIAN_QUESTIONS_H

#include <ostream>
#include <string_view>

#include "debian/readonly.h"

// Which packages, sections and maintainers stand out.
void answer_questions(std::ostream& out, const debian::Database& db);

// Everything about one package. False if there is none of this name.
bool show_package(std::ostream& out, const debian::Database& db, std::string_view name);

// How many records there are, one table a line.
void count_records(std::ostream& out, const debian::Database& db);

#endif
