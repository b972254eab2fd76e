#include <algorithm>
#include <deque>
#include <exception>
#include <iostream>
#include <limits>

#include "history/requests.h"
#include "kernel/io/file_watch.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/history_options.h"
#include "tools/frame/output.h"
#include "tools/frame/pager.h"
#include "tools/frame/standard_input.h"
#include "tools/frame/stop_signal.h"
#include "tools/history/history_output.h"

namespace joedb {

namespace {

struct Log_Command {
  History_Options history;
  bool has_changes = false;
  bool is_reverse = false;
  bool is_following = false;
  std::optional<std::int64_t> max;
  std::optional<When> since;
  std::optional<When> until;
};

class Log {
 public:
  Log(Abstract_File& file, const Log_Command& command)
      : file_(file),
        command_(command),
        options_(command.history.for_file(file)),
        filter_(moment(command.since), moment(command.until)),
        summaries_(file, options_) {}

  void run() {
    find();
    const bool may_page = !command_.history.is_json && !command_.is_following && is_interactive() &&
                          has_pager_program();
    Paged_Output out(may_page);
    try {
      History_Output printer(out.stream(), settings());
      if (command_.is_following)
        follow(printer);
      else if (command_.is_reverse)
        print_forwards(printer);
      else
        print_backwards(printer);
    } catch (const Display_Stopped&) {
    }
    out.finish();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Limit on the summaries kept from the first pass; the others are read again.
  static constexpr std::size_t max_kept = 10'000;

  std::optional<Moment> moment(const std::optional<When>& when) const {
    if (!when) return {};
    return resolve(file_, *when, options_.recovery);
  }

  History_Output::Settings settings() const {
    return {.is_json = command_.history.is_json,
            .style = {.has_colours = has_colours(command_.history.colour),
                      .is_complete = command_.history.is_complete,
                      .record = options_.record,
                      .position_width = std::to_string(summaries_.range_end()).size(),
                      .tags = &tags_}};
  }

  // Finds the transactions to show: the places of all, the summaries of the last ones. Transactions
  // before damage are shown.
  void find() {
    constexpr std::int64_t max_followed = 10;
    const auto most = static_cast<std::size_t>(command_.max.value_or(
        command_.is_following ? max_followed : std::numeric_limits<std::int64_t>::max()));
    bool has_times = false;
    try {
      // With --table, summaries_ skips transactions, so tags need a separate pass.
      if (!options_.tables.empty()) tags_ = read_tags(file_, options_.recovery);
      while (const Transaction_Summary* const summary = summaries_.next()) {
        if (options_.tables.empty()) tags_.read(*summary);
        has_times = has_times || summary->time;
        if (!filter_(*summary)) continue;
        places_.push_back({summary->begin, summary->end});
        if (places_.size() > most) places_.pop_front();
        kept_.push_back(*summary);
        if (kept_.size() > std::min(most, max_kept)) kept_.pop_front();
      }
    } catch (const Corruption_Error&) {
      if (command_.is_following) throw;
      error_ = std::current_exception();
    }
    if (!has_times && !error_) filter_.require_times(file_, options_.recovery);
  }

  template <class Stream>
  Reversed<Stream> reversed(std::size_t skip_last = 0) const {
    return {
        file_, {places_.begin(), places_.end() - static_cast<std::ptrdiff_t>(skip_last)}, options_};
  }

  void print_backwards(History_Output& printer) {
    if (command_.has_changes) {
      for (const Transaction& transaction : reversed<Changes>()) printer.print(transaction);
      return;
    }
    for (auto summary = kept_.rbegin(); summary != kept_.rend(); ++summary) printer.print(*summary);
    for (const Transaction_Summary& summary : reversed<Summaries>(kept_.size()))
      printer.print(summary);
  }

  template <class Stream>
  void print_forwards(Stream& stream, History_Output& printer) {
    auto place = places_.begin();
    while (const auto* const item = stream.next()) {
      if (place == places_.end() || item->begin != place->begin) continue;
      printer.print(*item);
      ++place;
    }
  }
  void print_forwards(History_Output& printer) {
    if (places_.empty()) return;
    const Offset begin = places_.front().begin;
    const Offset end = places_.back().end;
    if (command_.has_changes) {
      Changes changes(file_, begin, end, options_);
      print_forwards(changes, printer);
    } else if (kept_.size() == places_.size()) {
      for (const Transaction_Summary& summary : kept_) printer.print(summary);
    } else {
      Summaries summaries(file_, begin, end, options_);
      print_forwards(summaries, printer);
    }
  }

  void follow(History_Output& printer) {
    if (!command_.has_changes) {
      for (const Transaction_Summary& summary : kept_) printer.print(summary);
      follow(summaries_, printer);
      return;
    }
    const Offset end = summaries_.range_end();
    Changes changes(file_, places_.empty() ? end : places_.front().begin, end, options_);
    print_forwards(changes, printer);
    follow(changes, printer);
  }

  template <class Stream>
  void follow(Stream& stream, History_Output& printer) {
    constexpr std::chrono::milliseconds max_wait{500};
    File_Watch watch(file_.get_name());
    Stop_Signal stop;
    finish_standard_output();
    while (!stop.has_come()) {
      if (!stream.pull()) {
        watch.wait(max_wait);
        continue;
      }
      while (const auto* const item = stream.next())
        if (filter_(*item)) printer.print(*item);
      finish_standard_output();
    }
  }

  Abstract_File& file_;
  const Log_Command& command_;
  const Change_Options options_;
  const Transaction_Filter filter_;
  Summaries summaries_;
  Tags tags_;
  std::deque<Transaction_Place> places_;
  std::deque<Transaction_Summary> kept_;  // summaries of the last places
  std::exception_ptr error_;              // the error after the last place
};

const char* const log_details =
    R"(A transaction is shown by its end position in the journal, its time, author and comment, and the
numbers of records inserted (+), updated (~) and deleted (-). Tools end their transactions with time
stamps. A journal without time stamps is divided at comments.

WHEN is a position; a time: "2026-01-31", "2026-01-31 12:00" (GMT), yesterday, "2 hours ago"; or a
tag. The tags (joedb_tag) at the end of a transaction are shown in parentheses.
)";

}  // namespace

int run_log(std::vector<std::string> arguments) {
  Options options({"joedb_log [options] FILE",
                   "Shows the transactions of a database, newest first.", log_details,
                   "  joedb_log people.joedb\n"
                   "  joedb_log -p --table person --record 3 people.joedb\n"
                   "  joedb_log --since '2 hours ago' people.joedb\n"
                   "  joedb_log --follow people.joedb\n"});
  Log_Command command;
  options.add_flag("-p,--changes", command.has_changes,
                   "show the changes, with old and new values");
  std::optional<std::string> since, until;
  options.add("--since", since,
              "only transactions after this position or tag, or not before this time",
              Value_Kind{"WHEN", ""});
  options.add("--until", until, "only transactions up to this position, tag or time",
              Value_Kind{"WHEN", ""});
  options.add("--max", command.max, "show only the newest N transactions");
  options.add_flag("--reverse", command.is_reverse, "show the oldest transaction first");
  options.add_flag("--follow", command.is_following,
                   "show the last transactions (10, or --max), oldest first, then new transactions "
                   "as they are written, until Ctrl-C");
  add_history_options(options, command.history);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  const std::string name = words->take_last_name();
  command.history.check(*words);
  if (since) command.since = parse_when(*since, "--since");
  if (until) command.until = parse_when(*until, "--until");
  if (command.is_following && command.until) words->fail("--follow and --until exclude each other");
  const auto file = open_source(name, command.history.source);
  if (command.is_following && dynamic_cast<File*>(file.get()) == nullptr)
    throw Exception(shown_name(name) + ": only a file of this machine can be followed");
  name_file_in_errors(file->get_name(), [&] { Log(*file, command).run(); });
  return 0;
}

}  // namespace joedb
