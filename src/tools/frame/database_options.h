#ifndef JOEDB_SRC_TOOLS_FRAME_DATABASE_OPTIONS_H
#define JOEDB_SRC_TOOLS_FRAME_DATABASE_OPTIONS_H

#include <optional>
#include <string>
#include <vector>

#include "history/tags.h"
#include "joedb/table/table.h"
#include "tools/compiler/index_file.h"
#include "tools/compiler/options.h"
#include "tools/frame/arguments.h"
#include "tools/frame/progress.h"

// Options about the content of a database: its indexes, and which state of it to read.

namespace joedb {

// Adds --options: a .joedbc file with indexes.
void add_index_option(Options& options, std::string& options_file);

// Parses a position in the history as users write it (history/tags.h), relative to the current
// time. Throws Usage_Error if `text` is invalid. `option` is the name of the option, for the
// message.
When parse_when(const std::string& text, const std::string& option);

// Calls f(), which parses words of the command line. Turns an Exception into a Usage_Error.
template <class F>
auto usage(F f) {
  try {
    return f();
  } catch (const Usage_Error&) {
    throw;
  } catch (const Exception& error) {
    throw Usage_Error(error.what());
  }
}

// --at; also its older names --until, and --at-time, which takes a number as a time.
struct Moment_Options {
  std::optional<std::string> at;
  std::optional<std::string> time;
  bool is_given() const { return at || time; }
  // Returns what the user has typed. Precondition: is_given().
  const std::string& text() const { return at ? *at : *time; }
  // Precondition: is_given(). Throws Usage_Error if a text is invalid or both are given.
  When get() const;
};
void add_moment_options(Options& options, Moment_Options& moment);
// The prompt of a tool that shows a past state: "joedbi(at 2026-01-31)".
std::string past_prompt(const std::string& tool, const std::string& when);

// Options of read-only tools for how much of a database to read: --recovery, --ignore-header,
// --at.
struct Reading_Options {
  Recovery recovery = Recovery::none;
  bool ignore_header = false;  // equivalent to --recovery ignore_header
  Moment_Options moment;

  Recovery get_recovery() const { return ignore_header ? Recovery::ignore_header : recovery; }
  // Returns the position up to which to read entries. Throws the exceptions of Moment_Options::get
  // and find_position. With --classic, any position is valid: replay includes each entry that
  // begins before it.
  Offset end_of(const Readonly_Journal& journal) const;
  // Call this after a replay up to `end`. Throws Exception if `end` is inside an entry.
  void require_replayed_to(Offset end, const Readonly_Journal& journal) const;

  // Loads an empty database up to end_of(journal), from a snapshot if one matches. Shows progress.
  void load(Readonly_Journal& journal, Database& database) const;

  // Replays the journal up to end_of(journal). Shows progress.
  template <class Handler>
  void replay(Readonly_Journal& journal, Handler&& handler, std::string what) const {
    const Offset end = end_of(journal);
    replay_with_progress(journal, handler, std::move(what), end);
    require_replayed_to(end, journal);
  }
};
void add_reading_options(Options& options, Reading_Options& reading);

// Returns which initial values a record gets if its id was in use before: default values, as in
// programs; with --classic, the old values, as in joedb 10.
Deleted_Values deleted_values();

// Throws an Exception that tells users what to do after a divergence.
[[noreturn]] void throw_diverged(const std::string& name, const Content_Mismatch& error);

// Calls f(). If it throws an error about the content of the file, puts the file name before the
// message, unless the message begins with it.
template <class F>
auto name_file_in_errors(const std::string& name, F f) {
  try {
    return f();
  } catch (const Usage_Error&) {
    throw;
  } catch (const Io_Error&) {  // its message has the file name
    throw;
  } catch (const compiler::Schema_Errors&) {  // it is about another file
    throw;
  } catch (const Content_Mismatch& error) {
    if (is_classic()) throw;
    throw_diverged(name, error);
  } catch (const Exception& error) {
    const std::string text = error.what();
    if (is_classic() || text.starts_with(name)) throw;
    throw Exception(name + ": " + text);
  }
}

}  // namespace joedb

#endif
