#include "sql/writer.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <sstream>

#include "commands/commands.h"

namespace joedb {

namespace {

// Throws Sql_Error if the file was replaced. A commit must go to the file that was read, and that
// other programs open.
void require_not_replaced(const Abstract_File& file) {
  if (file.is_replaced())
    throw Sql_Error(SQLITE_BUSY,
                    file.get_name() + " was replaced by another file; end all statements");
}

// Opens the file, and takes the write lock within `patience`. Takes the lock here, because opening
// the journal waits for it, too.
std::unique_ptr<Abstract_File> open_for_writing(const Abstract_File& file,
                                                System::Duration patience) {
  require_not_replaced(file);
  std::unique_ptr<Abstract_File> result;
  try {
    result = file.reopen(Open_Mode::shared_write);
  } catch (const Io_Error& error) {
    if (error.code == EACCES || error.code == EROFS || error.code == EPERM)
      throw Sql_Error(SQLITE_READONLY, error.what());
    throw;
  }
  if (result == nullptr) throw Sql_Error(SQLITE_READONLY, file.get_name() + " can only be read");
  require_not_replaced(file);  // it may have been replaced before it was opened
  result->set_busy_timeout(patience);
  result->exclusive_lock(tail_lock.start, tail_lock.size);
  return result;
}

Journal_Options journal_options() {
  Journal_Options options = Recovery::keep;
  options.ends_transactions = true;
  return options;
}

}  // namespace

// Use Recovery::keep, so that the tail of a process that was killed in a transaction does not stop
// other processes.
Writer::Writer(const Abstract_File& file, Database& database, const Replay_Place& place,
               System::Duration patience)
    : file_(open_for_writing(file, patience)),
      database_(*file_, journal_options(), database, place),
      changes_(database_) {}

void Writer::lock() {
  file_->exclusive_lock(tail_lock.start, tail_lock.size);
  try {
    // The file may have been replaced during the wait for the lock.
    require_not_replaced(*file_);
    database_.lock_pull();
  } catch (...) {
    is_broken_ = true;
    file_->unlock(tail_lock.start, tail_lock.size);
    throw;
  }
  start_ = changes_.savepoint();
}

void Writer::change_schema(std::string_view commands) {
  is_broken_ = true;  // Undo_Log cannot undo schema changes
  Command_Loop loop({.is_echoing = false, .is_prompting = false, .is_bailing = true},
                    [] { return std::string(); });
  add_schema_commands(loop, database_);
  std::ostringstream nowhere;
  Text_Line_Source lines(commands, nowhere);
  if (loop.run(lines, nowhere) == Command_Loop::End::error)
    throw Exception(loop.failures().line + ": " + loop.failures().text);
  is_broken_ = false;
}

void Writer::set_savepoint(int number) {
  const auto size = static_cast<std::size_t>(number + 1);
  while (savepoints_.size() < size) savepoints_.push_back(changes_.savepoint());
}

void Writer::release(int number) {
  const auto size = static_cast<std::size_t>(std::max(number, 0));
  if (savepoints_.size() > size) savepoints_.resize(size);
}

void Writer::rollback_to(int number) {
  const auto size = static_cast<std::size_t>(number + 1);
  if (size > savepoints_.size()) return;
  savepoints_.resize(size);
  changes_.rollback_to(size == 0 ? start_ : savepoints_.back());
}

void Writer::rollback() {
  savepoints_.clear();
  if (!is_broken()) changes_.rollback_to(start_);
}

void Writer::commit() {
  if (!has_changes()) return;
  if (is_broken()) throw Exception(file_->get_name() + ": a change could not be taken back");
  // The state is broken until the checkpoint is complete, because a rollback would not undo the
  // time stamp.
  is_broken_ = true;
  database_.write(Timestamp{static_cast<std::int64_t>(std::time(nullptr))});
  database_.hard_checkpoint();
  // If an SQLite file is busy, SQLite continues the transaction. The changes so far are in the
  // file, so a rollback must end here.
  changes_.clear();
  start_ = changes_.savepoint();
  std::fill(savepoints_.begin(), savepoints_.end(), start_);
  is_broken_ = false;
}

Database Writer::end(Replay_Place& place) {
  place = database_.place();
  return database_.release();
}

}  // namespace joedb
