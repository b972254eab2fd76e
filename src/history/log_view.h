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

// Receives the transactions of a Log_View: as summaries, or with their changes.
class Transaction_Output {
 public:
  virtual ~Transaction_Output() = default;
  virtual void print(const Transaction_Summary& summary) = 0;
  virtual void print(const Transaction& transaction) = 0;
};

struct Log_Request {
  std::optional<When> since = {};  // only transactions after this position, or not before this time
  std::optional<When> until = {};  // only transactions up to this position or time
  std::size_t max = std::numeric_limits<std::size_t>::max();  // only the newest ones
  Change_Options changes = {};
  bool has_changes = false;  // transactions are printed with their changes
  bool is_reverse = false;   // the oldest transaction is printed first, not the newest
  bool is_followed = false;  // follow() will be called; implies is_reverse
  // Called for each transaction that is read or printed. May throw, to stop the view.
  std::function<void()> check = [] {};
};

// The transactions that `joedb log` and the command `log` of joedbi show: all except transactions
// that have only a time stamp, without changes, comments or blobs. Not thread-safe.
//
// All functions throw the exceptions of Summaries and Changes, of Log_Request::check, and of the
// output.
class Log_View {
 public:
  // Reads the journal up to its checkpoint. `file` must outlive this object. Throws Exception, with
  // a message for users, if the tag or position of `since` or `until` does not exist, or if one of
  // them is a time and the file has no time stamps. If the journal is damaged, the view ends before
  // the damage; with is_followed, the constructor throws instead.
  Log_View(Abstract_File& file, Log_Request request);

  const Tags& tags() const { return tags_; }
  Offset end() const { return summaries_.range_end(); }

  void print(Transaction_Output& out);
  // Throws the error of a damaged journal if the view ended before the damage.
  void require_complete() const {
    if (error_) std::rethrow_exception(error_);
  }
  // Requires is_followed, and a call of print() before. Prints the transactions that were written
  // since the last call of print() or follow(). Returns false if the journal has nothing new.
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

  // Maximum number of summaries that are kept when the constructor reads the journal. Older
  // summaries are read again.
  static constexpr std::size_t max_kept = 10'000;

  Abstract_File& file_;
  const Log_Request request_;
  const std::optional<Moment> since_, until_;
  Summaries summaries_;
  std::optional<Changes> changes_;  // the stream of follow(), if transactions have changes
  Tags tags_;
  std::deque<Transaction_Place> places_;
  std::deque<Transaction_Summary> kept_;  // summaries of the last elements of places_
  std::exception_ptr error_;              // the damage of the journal, after the last place
};

}  // namespace joedb::inline v1

#endif
