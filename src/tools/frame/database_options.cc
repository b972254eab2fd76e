#include "tools/frame/database_options.h"

#include <algorithm>
#include <cassert>
#include <ctime>

#include "joedb/table/load.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "text/entry_text.h"
#include "tools/frame/output.h"

namespace joedb {

// ---- indexes ------------------------------------------------------------------------------------

void add_index_option(Options& options, std::string& options_file) {
  options.add("--options", options_file,
              "a .joedbc file; its indexes can be searched (command find), and writes that violate "
              "its unique indexes are refused",
              kinds::options_file);
}

// ---- moments ------------------------------------------------------------------------------------

void add_moment_options(Options& options, Moment_Options& moment) {
  const Value_Kind when{"WHEN", ""};
  options.add(
      "--at", moment.at,
      "use a past state: at this position (as shown by joedb_log), at this tag, or at the "
      "last time stamp not later than this time: \"2026-01-31\", \"2026-01-31 23:59\", \"2 hours "
      "ago\", yesterday",
      when);
  options.accept("--until", "--at");
  options.add("--at-time", moment.time, "a time, or seconds since 1970", when);
  options.hide("--at-time");
  add_utc_option(options);
}

std::string past_prompt(const std::string& tool, const std::string& when) {
  return tool + "(at " + plain(when) + ")";
}

When parse_when(const std::string& text, const std::string& option) {
  if (const auto when = parse_when(text, std::time(nullptr))) return *when;
  throw Usage_Error(
      option + ": " + (text.empty() ? "\"\"" : text) +
      ": expected a position, a time like 2026-01-31, \"2026-01-31 12:00\", yesterday "
      "or \"2 hours ago\", or the name of a tag");
}

When Moment_Options::get() const {
  assert(is_given());
  if (at && time) throw Usage_Error("--at and --at-time exclude each other");
  if (at) return parse_when(*at, "--at");
  if (const auto seconds = parse_time(*time, std::time(nullptr))) return {*time, at_time(*seconds)};
  throw Usage_Error("--at-time " + (time->empty() ? "\"\"" : *time) +
                    ": expected a time like 2026-01-31 or \"2026-01-31 23:59:59\"");
}

// ---- reading ------------------------------------------------------------------------------------

void add_reading_options(Options& options, Reading_Options& reading) {
  add_recovery_option(options, reading.recovery);
  options.add_flag("--ignore-header", reading.ignore_header, "same as --recovery ignore_header");
  add_moment_options(options, reading.moment);
}

Offset Reading_Options::end_of(const Readonly_Journal& journal) const {
  const Offset checkpoint = journal.get_checkpoint();
  if (!moment.is_given()) return checkpoint;
  const Moment wanted = resolve(journal.get_file(), moment.get(), get_recovery());
  if (wanted.kind == Moment::Kind::position && is_classic())
    return std::min(wanted.value, checkpoint);
  return std::min(find_moment(journal.get_file(), wanted, get_recovery()), checkpoint);
}

void Reading_Options::load(Readonly_Journal& journal, Database& database) const {
  const Offset end = end_of(journal);
  // These tools read all content, so verify the snapshot, so that a flipped bit in it is not
  // copied.
  if (!is_classic()) begin_with_snapshot(database, journal, end, Trust::verified);
  print_snapshot_remark(database);
  database.limit_to_journal_of(journal.get_checkpoint());
  replay_with_progress(journal, database, "loading " + journal.get_file().get_name(), end);
  require_replayed_to(end, journal);
}

void Reading_Options::require_replayed_to(Offset end, const Readonly_Journal& journal) const {
  if (moment.is_given() && !is_classic()) require_entry_end(journal, end);
}

Deleted_Values deleted_values() {
  return is_classic() ? Deleted_Values::keep : Deleted_Values::reset;
}

void throw_diverged(const std::string& name, const Content_Mismatch& error) {
  throw Exception(name + " and its connection have diverged: they differ from position " +
                  std::to_string(error.start) + " on" +
                  ", and each has entries that the other one does not have. To keep both, rename " +
                  name + ", make a new copy with --new, and write again what only the old one has");
}

}  // namespace joedb
