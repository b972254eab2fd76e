#ifndef JOEDB_BASE_STRING_H
#define JOEDB_BASE_STRING_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// A string that lives in a column: a view whose end is followed by a zero byte. It is valid until
// the database is changed. It converts to std::string, so that `const std::string& name =
// db.get_name(id);` makes a copy that stays.
class String : public std::string_view {
 public:
  constexpr String() : std::string_view("") {}
  // The byte at data[size] must be 0.
  constexpr String(const char* data, std::size_t size) : std::string_view(data, size) {}

  constexpr const char* c_str() const { return data(); }
  std::string str() const { return std::string(data(), size()); }
  operator std::string() const { return str(); }

  friend std::string operator+(std::string a, String b) { return std::move(a.append(b)); }
  friend std::string operator+(String a, const std::string& b) { return a.str().append(b); }
  friend std::string operator+(String a, const char* b) { return a.str().append(b); }
  friend std::string operator+(const char* a, String b) { return std::string(a).append(b); }
  friend std::string operator+(String a, String b) { return a.str().append(b); }
};

}  // namespace joedb::inline v1

#endif
