#ifndef JOEDB_SRC_TEXT_DIFFERENT_NAMES_H
#define JOEDB_SRC_TEXT_DIFFERENT_NAMES_H

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace joedb {

// Returns plain(name) for each name. If the key() of two results would be equal, appends _2, _3 …
// to one of them. A name that is equal to plain(name) changes only if an earlier name has the same
// key.
template <class Plain, class Key>
std::vector<std::string> different_names(const std::vector<std::string>& names, Plain plain,
                                         Key key) {
  std::set<std::string> reserved;  // keys of unchanged names, which no other name may get
  for (const std::string& name : names)
    if (plain(name) == name) reserved.insert(key(name));
  std::set<std::string> used;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const std::string form = plain(name);
    const std::string stem = form.ends_with('_') ? form : form + '_';
    std::string chosen = form;
    for (int number = 2;
         used.contains(key(chosen)) || (chosen != name && reserved.contains(key(chosen))); ++number)
      chosen = stem + std::to_string(number);
    used.insert(key(chosen));
    result.push_back(std::move(chosen));
  }
  return result;
}

}  // namespace joedb

#endif
