#include "tools/compiler/service.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "tools/compiler/text.h"

namespace joedb::compiler {

namespace {

// A token: a name, a number, "::", or any other single character. A literal becomes "\"".
struct Token {
  std::string_view text;
  int line;
};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_name(std::string_view token) {
  return !token.empty() && is_name_character(token.front()) &&
         std::isdigit(static_cast<unsigned char>(token.front())) == 0;
}

// Splits C++ into tokens. Skips comments and preprocessor lines. Never fails: a literal or comment
// that is not closed extends to the end of the text.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      const int line = line_;
      if (c == '\n') {
        is_line_start_ = true;
        advance(1);
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        advance(1);
      } else if (rest().starts_with("//") || (c == '#' && is_line_start_)) {
        skip_line();
      } else if (rest().starts_with("/*")) {
        skip_behind("*/", 2);
      } else {
        is_line_start_ = false;
        tokens.push_back({take(), line});
      }
    }
    return tokens;
  }

 private:
  std::string_view rest() const { return text_.substr(position_); }

  std::string_view advance(std::size_t size) {
    const std::string_view taken = rest().substr(0, size);
    line_ += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
    position_ += taken.size();
    return taken;
  }

  void skip_behind(std::string_view end, std::size_t from) {
    const std::size_t found = rest().find(end, from);
    advance(found == rest().npos ? rest().size() : found + end.size());
  }

  // Skips the rest of the line. If the line ends with a backslash, also skips the next line.
  void skip_line() {
    std::size_t end = 0;
    while ((end = rest().find('\n', end)) != rest().npos) {
      const std::string_view line = rest().substr(0, end);
      if (!line.ends_with('\\') && !line.ends_with("\\\r")) break;
      ++end;
    }
    advance(std::min(end, rest().size()));
  }

  std::string_view take() {
    const char c = text_[position_];
    if (c == '"' || c == '\'') return skip_literal(c);
    if (rest().starts_with("::")) return advance(2);
    if (!is_name_character(c)) return advance(1);
    const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    std::size_t size = 1;
    const auto continues = [&](char next) {
      return is_name_character(next) || (is_number && (next == '\'' || next == '.'));
    };
    while (size < rest().size() && continues(rest()[size])) ++size;
    const std::string_view name = advance(size);
    if (name.ends_with('R') && name.size() <= 3 && rest().starts_with('"')) return skip_raw();
    return name;
  }

  std::string_view skip_literal(char quote) {
    std::size_t end = 1;
    while (end < rest().size() && rest()[end] != quote) end += rest()[end] == '\\' ? 2u : 1u;
    advance(std::min(end + 1, rest().size()));
    return "\"";
  }

  // Skips R"delimiter(…)delimiter".
  std::string_view skip_raw() {
    const std::size_t open = std::min(rest().find('('), rest().size());
    const std::string end = ")" + std::string(rest().substr(1, open > 0 ? open - 1 : 0)) + "\"";
    skip_behind(end, open);
    return "\"";
  }

  const std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  bool is_line_start_ = true;
};

class Service_Reader {
 public:
  explicit Service_Reader(std::string_view text) : tokens_(Tokenizer(text).run()) {}

  struct Found {
    int line = 0;
    std::vector<std::string> name_space;
    std::vector<Service_Method> methods;
  };

  // Finds the first definition of a class named Service.
  std::optional<Found> find() {
    std::vector<std::vector<std::string>> scopes;  // one per open brace
    while (i_ < tokens_.size()) {
      const int line = tokens_[i_].line;
      if (is("namespace")) {
        ++i_;
        std::vector<std::string> names = take_names();
        if (is("{")) {
          scopes.push_back(std::move(names));
          ++i_;
        }
      } else if ((is("class") || is("struct")) && is("Service", 1) && (is("{", 2) || has_bases())) {
        const bool is_public = is("struct");
        Found found{line, {}, {}};
        for (const auto& names : scopes)
          found.name_space.insert(found.name_space.end(), names.begin(), names.end());
        while (!is("{") && i_ < tokens_.size()) ++i_;
        ++i_;
        found.methods = take_methods(is_public);
        return found;
      } else {
        if (is("{")) scopes.emplace_back();
        if (is("}") && !scopes.empty()) scopes.pop_back();
        ++i_;
      }
    }
    return std::nullopt;
  }

 private:
  std::string_view token(std::size_t ahead = 0) const {
    return i_ + ahead < tokens_.size() ? tokens_[i_ + ahead].text : std::string_view();
  }
  bool is(std::string_view text, std::size_t ahead = 0) const { return token(ahead) == text; }

  bool has_bases() const { return is("final", 2) ? is("{", 3) || is(":", 3) : is(":", 2); }

  // Takes names of the form a::b::c.
  std::vector<std::string> take_names() {
    std::vector<std::string> names;
    while (is_name(token())) {
      names.emplace_back(token());
      ++i_;
      if (is("inline")) ++i_;
      if (!is("::")) break;
      ++i_;
      if (is("inline")) ++i_;
    }
    return names;
  }

  // Skips to the token after the matching bracket.
  void skip_brackets(std::string_view open, std::string_view close) {
    int depth = 0;
    do {
      if (is(open)) ++depth;
      if (is(close)) --depth;
      ++i_;
    } while (depth > 0 && i_ < tokens_.size());
  }

  std::vector<Service_Method> take_methods(bool is_public) {
    std::vector<Service_Method> methods;
    while (i_ < tokens_.size() && !is("}")) {
      if ((is("public") || is("private") || is("protected")) && is(":", 1)) {
        is_public = is("public");
        i_ += 2;
      } else if (is("void") && is_name(token(1)) && is("(", 2)) {
        const std::size_t start = i_;
        i_ += 2;
        skip_brackets("(", ")");
        if (!is_public) continue;
        if (auto method = method_between(start, i_)) methods.push_back(std::move(*method));
      } else if (is("{")) {
        skip_brackets("{", "}");
      } else if (is("(")) {
        skip_brackets("(", ")");
      } else {
        ++i_;
      }
    }
    return methods;
  }

  // Parses a method of the form void name ( schema :: Writable_Database & x ). Returns nullopt for
  // any other method.
  std::optional<Service_Method> method_between(std::size_t start, std::size_t end) const {
    Service_Method method;
    method.line = tokens_[start].line;
    method.name = tokens_[start + 1].text;
    std::vector<std::string_view> parameter;
    for (std::size_t i = start + 3; i + 1 < end; ++i) parameter.push_back(tokens_[i].text);

    std::size_t i = 0;
    const auto at = [&](std::size_t k) {
      return k < parameter.size() ? parameter[k] : std::string_view();
    };
    if (at(0) == "[" && at(1) == "[" && at(3) == "]" && at(4) == "]") i = 5;  // [[maybe_unused]]
    if (at(i) == "::") {
      method.is_global = true;
      ++i;
    }
    while (is_name(at(i)) && at(i + 1) == "::") {
      method.schema.emplace_back(at(i));
      i += 2;
    }
    if (method.schema.empty() || at(i) != "Writable_Database" || at(i + 1) != "&")
      return std::nullopt;
    i += 2;
    if (is_name(at(i))) ++i;
    if (i != parameter.size()) return std::nullopt;
    return method;
  }

  const std::vector<Token> tokens_;
  std::size_t i_ = 0;
};

}  // namespace

std::vector<Service_Method> find_procedures(std::string_view text, const std::string& file,
                                            const std::vector<std::string>& name_space) {
  const auto found = Service_Reader(text).find();
  const auto fail = [&](int line, const std::string& message) {
    throw Schema_Errors({{file, line, message}});
  };
  const std::string wanted = join(name_space, "::");
  if (!found) fail(0, "there is no class Service (in the namespace " + wanted + ")");
  if (found->name_space != name_space)
    fail(found->line, "the class Service must be in the namespace " + wanted);
  if (found->methods.empty())
    fail(found->line,
         "Service has no procedure: no public method like "
         "void name(schema::Writable_Database& message)");
  return found->methods;
}

}  // namespace joedb::compiler
