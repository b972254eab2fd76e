#ifndef JOEDB_BASE_STRING_H
#define JOEDB_BASE_STRING_H

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// std::filesystem::path, without its header, which is slow to compile.
template <class T>
concept File_Path = std::constructible_from<T, std::string> && requires(const T& path) {
  path.lexically_normal();
  path.root_directory();
};

// A std::string_view that converts to std::string: `std::string s = text;` makes a copy. The
// characters must outlive it, and need not be followed by a zero byte.
class Text_View : public std::string_view {
 public:
  constexpr Text_View() = default;
  constexpr explicit Text_View(std::string_view text) : std::string_view(text) {}

  std::string str() const { return std::string(data(), size()); }
  operator std::string() const { return str(); }
  template <File_Path Path>
  operator Path() const {
    return Path(str());
  }

  // Returns a view of the characters [start, start + count), or to the end. Throws
  // std::out_of_range if start > size().
  constexpr Text_View substr(std::size_t start = 0, std::size_t count = npos) const {
    return Text_View(std::string_view::substr(start, count));
  }

  // As with std::string, the result is a copy.
  friend std::string operator+(std::string a, Text_View b) { return std::move(a.append(b)); }
  friend std::string operator+(Text_View a, const std::string& b) { return a.str().append(b); }
  friend std::string operator+(Text_View a, const char* b) { return a.str().append(b); }
  friend std::string operator+(const char* a, Text_View b) { return std::string(a).append(b); }
  friend std::string operator+(Text_View a, char b) { return a.str().append(1, b); }
  friend std::string operator+(char a, Text_View b) { return std::string(1, a).append(b); }
  friend std::string operator+(Text_View a, Text_View b) { return a.str().append(b); }
};

// A string in a column: a view followed by a zero byte. It is valid until any table of the database
// changes; after that it may show other bytes, or freed memory. To keep the text, copy it:
// `std::string name = db.get_name(id);`, or `const std::string& name = db.get_name(id);`.
class String : public Text_View {
 public:
  constexpr String() : Text_View("") {}
  // The byte at data[size] must be 0.
  constexpr String(const char* data, std::size_t size) : Text_View({data, size}) {}
  // Implicit, so that `is_known ? db.get_name(id) : "unknown"` is a String.
  constexpr String(const char* text) : Text_View(std::string_view(text)) {}
  String(std::nullptr_t) = delete;

  // If the text contains a zero byte, the C string ends there.
  constexpr const char* c_str() const { return data(); }
};

}  // namespace joedb::inline v1

template <>
struct std::hash<joedb::Text_View> : std::hash<std::string_view> {};
template <>
struct std::hash<joedb::String> : std::hash<std::string_view> {};

#endif
