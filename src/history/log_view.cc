#include "history/log_view.h"

#include <algorithm>

#include "history/requests.h"

namespace joedb::inline v1 {

static bool is_before(const Transaction_Info& info, const Moment& since) {
  if (since.kind == Moment::Kind::position) return info.entries_end <= since.value;
  return !info.time || *info.time < since.value;
}

static bool is_after(const Transaction_Info& info, const Moment& until) {
  if (until.kind == Moment::Kind::position) return info.entries_end > until.value;
  return info.time && *info.time > until.value;
}

Log_View::Log_View(Abstract_File& file, Log_Request request)
    : file_(file),
      request_(std::move(request)),
      since_(moment(request_.since)),
      until_(moment(request_.until)),
      summaries_(file, request_.changes) {
  find();
}

std::optional<Moment> Log_View::moment(const std::optional<When>& when) const {
  if (!when) return {};
  return resolve(file_, *when, request_.changes.recovery);
}

bool Log_View::is_shown(const Transaction_Info& info, bool has_changes) const {
  return has_content(info, has_changes) && (!since_ || !is_before(info, *since_)) &&
         (!until_ || !is_after(info, *until_));
}

// Finds the transactions to show. Keeps the places of all of them, and the summaries of the last
// ones.
void Log_View::find() {
  const bool has_filter = !request_.changes.tables.empty();
  bool has_times = false;
  try {
    // A filter makes summaries_ skip transactions, so the tags must be read in a separate pass.
    if (has_filter) tags_ = read_tags(file_, request_.changes.recovery);
    while (const Transaction_Summary* const summary = summaries_.next()) {
      request_.check();
      if (!has_filter) tags_.read(*summary);
      has_times = has_times || summary->time;
      if (!is_shown(*summary)) continue;
      places_.push_back({summary->begin, summary->end});
      if (places_.size() > request_.max) places_.pop_front();
      kept_.push_back(*summary);
      if (kept_.size() > std::min(request_.max, max_kept)) kept_.pop_front();
    }
  } catch (const Corruption_Error&) {
    if (request_.is_followed) throw;
    error_ = std::current_exception();
  }
  if (!has_times && !error_) require_times();
}

void Log_View::require_times() const {
  for (const auto& moment : {since_, until_})
    if (moment && moment->kind == Moment::Kind::time)
      find_moment(file_, at_time(std::numeric_limits<std::int64_t>::max()),
                  request_.changes.recovery);
}

// ---- printing -----------------------------------------------------------------------------------

template <class Item>
void Log_View::print(const Item& item, Transaction_Output& out) const {
  request_.check();
  out.print(item);
}

template <class Stream>
void Log_View::print_forwards(Stream& stream, Transaction_Output& out) const {
  auto place = places_.begin();
  while (const auto* const item = stream.next()) {
    if (place == places_.end() || item->begin != place->begin) continue;
    print(*item, out);
    ++place;
  }
}

void Log_View::print_forwards(Transaction_Output& out) {
  if (places_.empty()) return;
  const Offset begin = places_.front().begin;
  const Offset end = places_.back().end;
  if (request_.has_changes) {
    Changes changes(file_, begin, end, request_.changes);
    print_forwards(changes, out);
  } else if (kept_.size() == places_.size()) {
    for (const Transaction_Summary& summary : kept_) print(summary, out);
  } else {
    Summaries summaries(file_, begin, end, request_.changes);
    print_forwards(summaries, out);
  }
}

void Log_View::print_backwards(Transaction_Output& out) const {
  if (request_.has_changes) {
    for (const Transaction& transaction :
         Reversed<Changes>(file_, {places_.begin(), places_.end()}, request_.changes))
      print(transaction, out);
    return;
  }
  for (auto summary = kept_.rbegin(); summary != kept_.rend(); ++summary) print(*summary, out);
  const auto end = places_.end() - static_cast<std::ptrdiff_t>(kept_.size());
  for (const Transaction_Summary& summary :
       Reversed<Summaries>(file_, {places_.begin(), end}, request_.changes))
    print(summary, out);
}

void Log_View::print(Transaction_Output& out) {
  if (request_.is_followed && request_.has_changes) {
    const Offset end = summaries_.range_end();
    changes_.emplace(file_, places_.empty() ? end : places_.front().begin, end, request_.changes);
    print_forwards(*changes_, out);
  } else if (request_.is_followed || request_.is_reverse) {
    print_forwards(out);
  } else {
    print_backwards(out);
  }
}

template <class Stream>
bool Log_View::follow(Stream& stream, Transaction_Output& out) const {
  if (!stream.pull()) return false;
  while (const auto* const item = stream.next())
    if (is_shown(*item)) print(*item, out);
  return true;
}

bool Log_View::follow(Transaction_Output& out) {
  return changes_ ? follow(*changes_, out) : follow(summaries_, out);
}

}  // namespace joedb::inline v1
