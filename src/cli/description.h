#ifndef JOEDB_CLI_DESCRIPTION_H
#define JOEDB_CLI_DESCRIPTION_H

#include <cstddef>
#include <string>
#include <vector>

// The command line of a tool as data: --help, man pages and completion are made of it.

namespace joedb {

// What --help says about a tool.
struct Tool_Help {
  std::string usage;     // "joedbi [options] FILE"
  std::string summary;   // what it is for, in a sentence
  std::string details;   // whatever else must be known
  std::string examples;  // lines
};

// What stands for a value in --help, and which names of files complete it.
struct Value_Kind {
  std::string name;     // "FILE"
  std::string pattern;  // "*.joedb"; "/": directories; empty: it is not the name of a file
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
  Value_Kind value;                  // without a name: a flag
  std::vector<std::string> choices;  // all values it may have, if they are words
  std::string help;

  bool is_flag() const { return value.name.empty(); }
};

// A word that may stand where the names of files do.
struct Offered_Word {
  std::string word;
  std::string help;
  Value_Kind next = {};  // what stands behind it, if that is special
};

struct Tool_Description {
  Tool_Help help;
  std::vector<Option_Description> options;  // in the order of --help
  std::vector<std::string> marks;           // Options::allow_word
  // By position, the last also for all that follow.
  std::vector<Value_Kind> words;
  std::vector<std::vector<Offered_Word>> offered;
};

}  // namespace joedb

#endif
