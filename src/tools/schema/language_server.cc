#include "tools/schema/language_server.h"

#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "joedb/base/error.h"
#include "joedb/base/version.h"
#include "kernel/schema/logical_type.h"
#include "tools/frame/json_output.h"
#include "tools/schema/schema_check.h"

// A language server for schemas, with diagnostics and completion:
// https://microsoft.github.io/language-server-protocol. If a document is open in the editor, its
// text there is used instead of the file. The size of messages is limited. The answer to an unknown
// request is an error; an unknown notification is ignored.

namespace joedb {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_message_size = std::size_t{1} << 26;
constexpr std::size_t max_documents = 1000;
constexpr std::size_t max_completions = 1000;

// ---- messages -----------------------------------------------------------------------------------

// Reads the header of a message. Returns the length of the message; 0 at the end of the input.
// Throws Exception if the header is invalid.
std::size_t read_length(std::istream& in) {
  constexpr std::string_view name = "Content-Length: ";
  constexpr int max_lines = 100;
  std::size_t length = 0;
  for (int i = 0; i < max_lines; ++i) {
    std::string line;
    for (int c; (c = in.get()) != '\n';) {
      if (c == EOF) return 0;
      if (line.size() == 1000) throw Exception("a header is too long");
      line += static_cast<char>(c);
    }
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) {
      if (length == 0 || length > max_message_size) throw Exception("Content-Length is wrong");
      return length;
    }
    if (line.starts_with(name))
      std::from_chars(line.data() + name.size(), line.data() + line.size(), length);
  }
  throw Exception("there are too many headers");
}

// ---- texts --------------------------------------------------------------------------------------

std::string path_of(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return "";
  uri.remove_prefix(scheme.size());
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    unsigned char code = 0;
    if (uri[i] == '%' && i + 2 < uri.size() &&
        std::from_chars(uri.data() + i + 1, uri.data() + i + 3, code, 16).ptr ==
            uri.data() + i + 3) {
      path += static_cast<char>(code);
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

std::string uri_of(const std::string& path) {
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("/-._~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      uri.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return uri;
}

std::string_view line_of(std::string_view text, int number) {
  for (; number > 0 && !text.empty(); --number)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

// In UTF-16, a character that has four bytes in UTF-8 counts as two units.
bool is_start(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }
int units_of(char c) { return static_cast<unsigned char>(c) >= 0xf0 ? 2 : is_start(c) ? 1 : 0; }

// Converts an offset from characters to UTF-16 units.
int units_before(std::string_view line, int characters) {
  int units = 0;
  for (const char c : line) {
    if (is_start(c) && characters-- == 0) break;
    units += units_of(c);
  }
  return units;
}

// Returns the part of a line before an offset, which is in UTF-16 units.
std::string_view prefix_of(std::string_view line, int units) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (is_start(line[i]) && (units -= units_of(line[i])) < 0) return line.substr(0, i);
  return line;
}

std::vector<std::string> text_words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

// ---- completion ---------------------------------------------------------------------------------

// The names that the lines of a schema declare, even if the schema is invalid.
class Names {
 public:
  explicit Names(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const auto words = text_words(line);
      if (words.size() > 1 && words[0] == "create_table") fields_[words[1]];
      if (words.size() > 2 && words[0] == "rename_table") fields_[words[2]] = fields_[words[1]];
      if (words.size() > 2 && words[0] == "add_field") fields_[words[1]].insert(words[2]);
      if (words.size() > 3 && words[0] == "rename_field") fields_[words[1]].insert(words[3]);
    }
  }
  std::vector<std::string> tables() const {
    std::vector<std::string> result;
    for (const auto& [table, fields] : fields_) result.push_back(table);
    return result;
  }
  std::vector<std::string> fields_of(const std::string& table) const {
    const auto found = fields_.find(table);
    if (found == fields_.end()) return {};
    return {found->second.begin(), found->second.end()};
  }

 private:
  std::map<std::string, std::set<std::string>> fields_;  // by table
};

const std::vector<std::string> schema_commands{
    "create_table",  "drop_table", "rename_table",  "add_field",    "drop_field",
    "rename_field",  "set_type",   "retype_field",  "create_index", "create_unique_index",
    "drop_index",    "custom",     "insert_into",   "delete_from",  "insert_vector",
    "delete_vector", "update",     "update_vector", "comment",      "timestamp",
    "valid_data"};
const std::vector<std::string> option_commands{
    "namespace",      "create_index",           "create_unique_index",
    "set_single_row", "timestamp_transactions", "unmarked_transactions"};
std::vector<std::string> types() {
  std::vector<std::string> names{"string", "blob",    "int8",    "int16",   "int32",
                                 "int64",  "float32", "float64", "boolean", "references"};
  names.insert(names.end(), logical_type_names().begin(), logical_type_names().end());
  return names;
}

// Returns the words that may come after `words` in a line.
std::vector<std::string> possible(const std::vector<std::string>& words, const Names& names,
                                  bool is_schema) {
  static const std::set<std::string> without_table{"create_table",
                                                   "custom",
                                                   "drop_index",
                                                   "comment",
                                                   "timestamp",
                                                   "valid_data",
                                                   "namespace",
                                                   "timestamp_transactions",
                                                   "unmarked_transactions"};
  const std::size_t n = words.size();
  if (n == 0) return is_schema ? schema_commands : option_commands;
  const std::string& command = words[0];
  if (without_table.contains(command)) return {};
  const bool is_index = command.ends_with("_index");
  const std::size_t table = is_index ? 2 : 1;
  if (n == table) return names.tables();
  if (command == "add_field" || command == "set_type" || command == "retype_field") {
    if (n == 2 && command != "add_field") return names.fields_of(words[table]);
    if (n == 3) return types();
    if (n == 4 && words[3] == "references") return names.tables();
    const bool is_whole =
        n > 3 && (words[3].find('(') == std::string::npos || words.back().ends_with(')'));
    return is_whole && words.back() != "optional" ? std::vector<std::string>{"optional"}
                                                  : std::vector<std::string>();
  }
  if (command == "set_single_row" && n == 2) return {"true"};
  const std::size_t field = is_index || command.starts_with("update") ? 3
                            : command.ends_with("_field")             ? 2
                                                                      : 0;
  return n == field ? names.fields_of(words[table]) : std::vector<std::string>();
}

// ---- the server ---------------------------------------------------------------------------------

class Language_Server {
 public:
  int run() {
    while (!has_exited_) {
      const std::size_t length = read_length(std::cin);
      if (length == 0) break;
      std::string text(length, '\0');
      if (!std::cin.read(text.data(), static_cast<std::streamsize>(length))) break;
      // Drop values that are nested more deeply, because copying them would need a deep stack.
      constexpr int deepest = 50;
      const auto is_wanted = [](int depth, auto, auto&) { return depth < deepest; };
      handle(nlohmann::json::parse(text, is_wanted, false));
    }
    return has_shut_down_ ? 0 : 1;
  }

 private:
  using Message = nlohmann::json;

  static void send(Message message) {
    message["jsonrpc"] = "2.0";
    const std::string text = json_text(message);
    std::cout << "Content-Length: " << text.size() << "\r\n\r\n" << text << std::flush;
  }

  static void refuse(const Message& id, int code, const std::string& text) {
    send({{"id", id}, {"error", {{"code", code}, {"message", text}}}});
  }

  void handle(const Message& message) {
    constexpr int parse_error = -32700, invalid_request = -32600, internal_error = -32603;
    if (message.is_discarded()) return refuse(nullptr, parse_error, "this is not JSON");
    if (!message.is_object()) return refuse(nullptr, invalid_request, "this is not a request");
    const Message id = message.value("id", Message());
    if (!id.is_null() && !id.is_number_integer() && !id.is_string())
      return refuse(nullptr, invalid_request, "an id is a number or a string");
    try {
      const auto method = message.at("method").get<std::string>();
      const Message parameters = message.value("params", Message::object());
      if (id.is_null())
        notice(method, parameters);
      else
        answer(id, method, parameters);
    } catch (const std::exception& error) {
      if (!id.is_null()) refuse(id, internal_error, error.what());
    }
  }

  void answer(const Message& id, const std::string& method, const Message& parameters) {
    constexpr int method_not_found = -32601;
    if (method == "initialize")
      send({{"id", id},
            {"result",
             {{"capabilities",
               {{"textDocumentSync", {{"openClose", true}, {"change", 1}}},
                {"completionProvider", {{"triggerCharacters", {" ", ","}}}}}},
              {"serverInfo", {{"name", "joedbc"}, {"version", version}}}}}});
    else if (method == "shutdown")
      send({{"id", id}, {"result", (has_shut_down_ = true, Message())}});
    else if (method == "textDocument/completion")
      send({{"id", id}, {"result", complete(parameters)}});
    else
      refuse(id, method_not_found, "unknown method: " + method);
  }

  void notice(const std::string& method, const Message& parameters) {
    if (method == "exit") has_exited_ = true;
    if (!method.starts_with("textDocument/")) return;
    const Message& document = parameters.at("textDocument");
    const std::string path = path_of(document.at("uri").get<std::string>());
    if (path.empty()) return;
    if (method == "textDocument/didOpen" && texts_.size() < max_documents)
      texts_[path] = document.at("text").get<std::string>();
    else if (method == "textDocument/didChange" && texts_.contains(path))
      // Each change has the whole text.
      for (const Message& change : parameters.at("contentChanges"))
        texts_[path] = change.at("text").get<std::string>();
    else if (method == "textDocument/didClose")
      texts_.erase(path);
    publish(base_of_schema(path));
  }

  std::optional<std::string> read(const std::string& path) const {
    const auto found = texts_.find(path);
    return found == texts_.end() ? read_from_disk(path) : found->second;
  }

  // Publishes the diagnostics of all files of a schema. Publishes an empty list for a file that had
  // diagnostics before, to clear them.
  void publish(const std::string& base) {
    std::map<std::string, Message> by_file;
    for (const std::string& file : published_[base]) by_file[file] = Message::array();
    for (const std::string& file : {base + ".joedbi", base + ".joedbc"})
      if (texts_.contains(file)) by_file[file] = Message::array();
    try {
      for (const Finding& f : check_schema(base, [this](const auto& path) { return read(path); }))
        by_file.try_emplace(f.file, Message::array()).first->second.push_back(diagnostic_of(f));
    } catch (const Io_Error&) {  // there is no schema yet
    }
    published_[base].clear();
    for (const auto& [file, diagnostics] : by_file) {
      if (!diagnostics.empty()) published_[base].insert(file);
      send({{"method", "textDocument/publishDiagnostics"},
            {"params", {{"uri", uri_of(file)}, {"diagnostics", diagnostics}}}});
    }
  }

  // Makes a diagnostic whose range is from the position of the error to the end of the word.
  Message diagnostic_of(const Finding& finding) const {
    const std::string text = read(finding.file).value_or("");
    const std::string_view line = line_of(text, finding.line - 1);
    const int start = units_before(line, finding.column - 1);
    const std::size_t place = prefix_of(line, start).size();
    const std::size_t end = std::min(line.find_first_of(" \t\r,", place), line.size());
    int last = start;
    for (const char c : line.substr(place, end - place)) last += units_of(c);
    const auto position = [&](int units) {
      return Message{{"line", finding.line - 1}, {"character", units}};
    };
    return {{"range", {{"start", position(start)}, {"end", position(last)}}},
            {"severity", finding.is_warning ? 2 : 1},
            {"source", "joedbc"},
            {"message", finding.text}};
  }

  static int number_of(const Message& message) {
    constexpr std::int64_t largest = 1 << 30;
    if (!message.is_number_integer()) throw Exception("a whole number is expected");
    return static_cast<int>(std::clamp<std::int64_t>(message.get<std::int64_t>(), 0, largest));
  }

  Message complete(const Message& parameters) const {
    const std::string path = path_of(parameters.at("textDocument").at("uri").get<std::string>());
    const Message& position = parameters.at("position");
    const std::string text = read(path).value_or("");
    const std::string_view before = prefix_of(line_of(text, number_of(position.at("line"))),
                                              number_of(position.at("character")));
    auto words = text_words(before);
    const bool is_at_word = !before.empty() && before.back() != ' ' && before.back() != '\t';
    if (is_at_word) words.pop_back();  // the editor filters by this word
    const Names names(read(base_of_schema(path) + ".joedbi").value_or(""));
    Message items = Message::array();
    for (const std::string& label : possible(words, names, path.ends_with(".joedbi")))
      if (items.size() < max_completions) items.push_back({{"label", label}});
    return items;
  }

  std::map<std::string, std::string> texts_;                // open documents, by path
  std::map<std::string, std::set<std::string>> published_;  // files with diagnostics, by base
  bool has_shut_down_ = false;
  bool has_exited_ = false;
};

}  // namespace

int run_language_server() { return Language_Server().run(); }

}  // namespace joedb
