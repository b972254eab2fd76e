#ifndef JOEDB_SRC_TOOLS_FRAME_DESCRIPTION_H
#define JOEDB_SRC_TOOLS_FRAME_DESCRIPTION_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Describes the command line of a tool as data, from which --help, man pages and completion are
// made.

namespace joedb {

// The text of --help for a tool.
struct Tool_Help {
  std::string usage;     // "joedbi [options] FILE"
  std::string summary;   // its purpose, in one sentence
  std::string details;   // further explanation
  std::string examples;  // lines
};

// The placeholder for a value in --help, and the pattern of file names that can complete it.
struct Value_Kind {
  std::string name;     // "FILE"
  std::string pattern;  // "*.joedb"; "/": directories; empty: not a file name
};
namespace kinds {
inline const Value_Kind text{"TEXT", ""};
inline const Value_Kind number{"N", ""};
inline const Value_Kind seconds{"SECONDS", ""};
inline const Value_Kind file{"FILE", "*"};
inline const Value_Kind database{"FILE", "*.joedb"};
inline const Value_Kind schema{"FILE", "*.joedbi"};
inline const Value_Kind options_file{"FILE", "*.joedbc"};
inline const Value_Kind socket{"PATH", "*.sock"};
inline const Value_Kind directory{"DIRECTORY", "/"};
}  // namespace kinds

struct Option_Description {
  std::vector<std::string> names;    // "-h", "--help"
  Value_Kind value;                  // without a name: the option is a flag
  std::vector<std::string> choices;  // all valid values if they are words, else empty
  std::string help;

  bool is_flag() const { return value.name.empty(); }
};

// A word that may be used in the position of a file name.
struct Offered_Word {
  std::string word;
  std::string help;
  Value_Kind next = {};  // kind of the word that must follow it, if any
};

// Returns the name that the first line of a usage has for the word in this position, without its
// brackets: "WHEN" for 1 in "joedb_show [options] FILE [WHEN]". Empty if it has none.
std::string word_in_usage(std::string_view usage, std::size_t position);

struct Tool_Description {
  Tool_Help help;
  std::vector<Option_Description> options;  // in the order of --help
  std::vector<std::string> marks;           // words declared by Options::allow_word
  // By position. The last kind also applies to all later positions.
  std::vector<Value_Kind> words;
  // By position.
  std::vector<std::vector<Offered_Word>> offered;
};

}  // namespace joedb

#endif
