#include "joedb/replica/connection.h"

#include <algorithm>

namespace joedb::inline v1 {

namespace {

class Dummy_Connection final : public Connection {
 public:
  bool can_push() const override { return true; }
  Offset get_checkpoint() const override { return 0; }
  void refresh() override {}
  const Abstract_File& content() const override { throw Exception("a dummy has no content"); }
  void lock() override {}
  void unlock() noexcept override {}
  void push(const Abstract_File&, Offset, Checkpoint_Level) override {}
};

// Ready before the program begins.
constinit Dummy_Connection dummy_connection;

}  // namespace

constinit Connection& Connection::dummy = dummy_connection;

static constexpr Offset fast_check_size = Offset{1} << 16;

void require_equal(const Abstract_File& local, const Abstract_File& other, Offset start,
                   Offset end) {
  if (!local.equal_to(other, start, end))
    throw Content_Mismatch("Content mismatch: the file and the connection have diverged");
}

void check_content(const Abstract_File& local, Offset local_checkpoint,
                   const Connection& connection, Content_Check check) {
  if (check == Content_Check::none) return;
  const Offset end = std::min(local_checkpoint, connection.get_checkpoint());
  const Offset start =
      check == Content_Check::full ? journal_start : std::max(journal_start, end - fast_check_size);
  require_equal(local, connection.content(), start, end);
}

File_Connection::File_Connection(Abstract_File& file) {
  if (file.is_shared()) throw Exception("the file of a connection cannot be shared");
  if (file.is_readonly())
    reader_ = std::make_unique<Readonly_Journal>(file);
  else
    writer_ = std::make_unique<Writable_Journal>(file);
}

void File_Connection::refresh() {
  if (reader_) reader_->pull();
}

void File_Connection::push(const Abstract_File& local, Offset end, Checkpoint_Level level) {
  if (!can_push())
    throw Exception(content().get_name() + " is opened for reading only and cannot be pushed to");
  if (end <= get_checkpoint()) return;
  writer_->copy_from(local, end);
  writer_->checkpoint(level);
}

}  // namespace joedb::inline v1
