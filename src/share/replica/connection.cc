#include "joedb/replica/client.h"

#include <algorithm>

namespace joedb::inline v1 {

namespace {

class Dummy_Connection final : public Connection {
 public:
  bool can_push() const override { return true; }
  Offset get_checkpoint() const override { return 0; }
  void compare(const Abstract_File&, Offset, Offset, Content_Check) override {}
  void pull(const Pull&, const Receive&) override {}
  void push(const Abstract_File&, Offset, Checkpoint_Level, After_Push) override {}
  void unlock() noexcept override {}
};

// Constant-initialized, so that static initializers can use it.
constinit Dummy_Connection dummy_connection;

}  // namespace

Content_Mismatch::Content_Mismatch(std::string_view file, Offset start_of_bytes,
                                   Offset end_of_bytes)
    : Disconnection("Content mismatch: the file and the connection have diverged"),
      path(file),
      start(start_of_bytes),
      end(end_of_bytes) {}

Conflict::Conflict(Offset pushed_from, Offset diverges_at)
    : Disconnection("push error: conflict: the other copy has gone on from position " +
                    std::to_string(pushed_from)),
      position(diverges_at) {}

constinit Connection& Connection::dummy = dummy_connection;

static constexpr Offset fast_check_size = Offset{1} << 16;

static void require_equal(const Abstract_File& local, const Abstract_File& other, Offset start,
                          Offset end) {
  if (!local.equal_to(other, start, end)) throw Content_Mismatch(local.get_name(), start, end);
}

File_Connection::File_Connection(Abstract_File& file, Journal_Options options) : file_(file) {
  options.recovery = Recovery::keep;
  if (file.is_shared()) throw Exception("the file of a connection cannot be shared");
  if (file.is_readonly())
    reader_ = std::make_unique<Readonly_Journal>(file);
  else
    writer_ = std::make_unique<Writable_Journal>(file, options);
}

void File_Connection::compare(const Abstract_File& local, Offset start, Offset end,
                              Content_Check check) {
  if (check == Content_Check::fast) start = std::max(start, end - fast_check_size);
  if (check != Content_Check::none && start < end) require_equal(local, file_, start, end);
}

void File_Connection::pull(const Pull& pull, const Receive& receive) {
  if (pull.takes_lock && !can_push()) refuse();
  if (reader_)
    reader_->pull();
  else
    file_.require_not_replaced();
  if (get_checkpoint() > pull.from) receive(file_, get_checkpoint());
}

void File_Connection::refuse() const {
  if (writer_) throw Disconnection(file_.get_name() + " has failed and cannot be pushed to");
  throw Pull_Only(file_.get_name() + " is opened for reading only and cannot be pushed to");
}

void File_Connection::push(const Abstract_File& local, Offset end, Checkpoint_Level level,
                           After_Push) {
  if (!can_push()) refuse();
  file_.require_not_replaced();
  if (end <= get_checkpoint()) return;
  if (!has_pushed_) prepare_push(local, end);
  writer_->copy_from(local, end);
  // After an error, the next push must compare and replay everything again (prepare_push).
  const auto forget = [this] {
    has_pushed_ = false;
    writer_->rollback();
  };
  try {
    writer_->replay_copied(Ignore_Entries());
  } catch (const Corruption_Error& error) {
    forget();
    throw Corruption_Error("nothing was pushed to " + file_.get_name() + ", because the source " +
                               local.get_name() +
                               " is damaged, or ends in an entry: " + error.reason(),
                           error.offset, local.get_name());
  } catch (...) {
    forget();
    throw;
  }
  writer_->checkpoint(level);
}

// Verifies that the copies are equal before the checkpoint, because the file would be unreadable if
// the entries to append followed other entries than in the source. Replays all entries, because
// later entries in short form refer to them.
void File_Connection::prepare_push(const Abstract_File& local, Offset end) {
  const Offset start = get_checkpoint();
  require_equal(local, file_, std::max(journal_start, start - fast_check_size), start);
  // An interrupted push may have left the same bytes. They are removed, and pushed again.
  const Offset size = file_.get_size();
  if (size > start && size <= end && local.equal_to(file_, start, size)) file_.truncate(start);
  writer_->rewind();
  writer_->replay(Ignore_Entries());
  has_pushed_ = true;
}

}  // namespace joedb::inline v1
