#include "sql/plan.h"

#include <charconv>

namespace joedb {

std::string Plan::text() const {
  std::string result;
  const auto add = [&](auto number) { (result += std::to_string(number)) += ' '; };
  add(static_cast<int>(access));
  add(index);
  add(used_columns);
  add(static_cast<int>(conditions.size()));
  for (const Condition& condition : conditions) {
    add(condition.column);
    add(condition.op);
    add(condition.is_list);
  }
  add(static_cast<int>(order.size()));
  for (const Term& term : order) {
    add(term.column);
    add(term.is_descending);
  }
  return result;
}

Plan Plan::parse(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto read = [&](auto& number) {
    at = std::from_chars(at, end, number).ptr;
    if (at != end) ++at;
  };
  const auto next = [&] {
    int number = 0;
    read(number);
    return number;
  };
  Plan plan;
  plan.access = static_cast<Access>(next());
  plan.index = next();
  read(plan.used_columns);
  plan.conditions.resize(static_cast<std::size_t>(next()));
  for (Condition& condition : plan.conditions) {
    condition.column = next();
    condition.op = static_cast<unsigned char>(next());
    condition.is_list = next() != 0;
  }
  plan.order.resize(static_cast<std::size_t>(next()));
  for (Term& term : plan.order) {
    term.column = next();
    term.is_descending = next() != 0;
  }
  return plan;
}

}  // namespace joedb
