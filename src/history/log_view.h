#ifndef JOEDB_SRC_HISTORY_LOG_VIEW_H
#define JOEDB_SRC_HISTORY_LOG_VIEW_H

#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <optional>

#include "history/tags.h"
#include "joedb/history/changes.h"

namespace joedb::inline v1 {

// Receives the transactions of a Log_View, either as summaries or with their changes.
class Transaction_Output {
 public:
  virtual ~Transaction_Output() = default;
  virtual void print(const Transaction_Summary& summary) = 0;
  virtual void print(const Transaction& transaction) = 0;
};

struct Log_Request {
  std::optional<When> since = {};  // only transactions after this position, or from this time on
  std::optional<When> until = {};  // only transactions up to this position or time
  std::size_t max = std::numeric_limits<std::size_t>::max();  // only so few of the newest
  Change_Options changes = {};
  bool has_changes = false;  // print transactions with their changes
  bool is_reverse = false;   // print the oldest transaction first
  bool is_followed = false;  // follow() will be called; implies is_reverse
  // Called for each transaction that is read or printed. May throw, to stop reading or printing.
  std::function<void()> check = [] {};
};

// The transactions that `joedb log` and the command `log` of joedbi show. Transactions without
// changes, comments and blobs are omitted: they have only a time stamp. Not thread-safe.
//
// All functions pass on the exceptions of Summaries, of Changes, of Log_Request::check and of the
// output.
class Log_View {
 public:
  // Reads the journal up to its checkpoint. `file` must outlive this object. Throws Exception, with
  // a message for users, if `since` or `until` is a tag or position that does not exist, or is a
  // time and the file has no time stamps. If the journal is damaged, the view ends before the
  // damage; but if is_followed, the constructor throws.
  Log_View(Abstract_File& file, Log_Request request);

  const Tags& tags() const { return tags_; }
  Offset end() const { return summaries_.range_end(); }

  void print(Transaction_Output& out);
  // If the view ends before a damaged part of the journal, throws the error of that part.
  void require_complete() const {
    if (error_) std::rethrow_exception(error_);
  }
  // Prints the transactions written since the last call of print() or follow(). Returns false if
  // there are none. Requires is_followed, and that print() was called.
  bool follow(Transaction_Output& out);

 private:
  std::optional<Moment> moment(const std::optional<When>& when) const;
  bool is_shown(const Transaction_Info& info, bool has_changes) const;
  bool is_shown(const Transaction_Summary& summary) const {
    return is_shown(summary, summary.has_changes());
  }
  bool is_shown(const Transaction& transaction) const {
    return is_shown(transaction, !transaction.changes.empty());
  }
  void find();
  void require_times() const;
  template <class Item>
  void print(const Item& item, Transaction_Output& out) const;
  template <class Stream>
  void print_forwards(Stream& stream, Transaction_Output& out) const;
  void print_forwards(Transaction_Output& out);
  void print_backwards(Transaction_Output& out) const;
  template <class Stream>
  bool follow(Stream& stream, Transaction_Output& out) const;

  // Maximum number of summaries to keep in memory when the constructor reads the journal. Older
  // summaries are read again.
  static constexpr std::size_t max_kept = 10'000;

  Abstract_File& file_;
  const Log_Request request_;
  const std::optional<Moment> since_, until_;
  Summaries summaries_;
  std::optional<Changes> changes_;  // the stream of follow(), if has_changes
  Tags tags_;
  std::deque<Transaction_Place> places_;
  std::deque<Transaction_Summary> kept_;  // the summaries of the last elements of places_
  std::exception_ptr error_;              // damage of the journal after the last place
};

}  // namespace joedb::inline v1

#endif
