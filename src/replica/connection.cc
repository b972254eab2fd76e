#include "replica/connection.h"

#include <algorithm>

namespace joedb::inline v1 {

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

namespace {

// The file is locked as long as it is open: nobody else can push.
class File_Connection : public Connection {
 public:
  explicit File_Connection(Abstract_File& file) : journal_(file) {}

  bool can_push() const override { return true; }
  Offset get_checkpoint() const override { return journal_.get_checkpoint(); }
  void refresh() override {}
  const Abstract_File& content() const override { return journal_.get_file(); }
  void lock() override {}
  void unlock() noexcept override {}

  void push(const Abstract_File& local, Offset end, Checkpoint_Level level) override {
    if (end <= get_checkpoint()) return;
    journal_.copy_from(local, end);
    journal_.checkpoint(level);
  }

 private:
  Writable_Journal journal_;
};

class Readonly_File_Connection : public Connection {
 public:
  explicit Readonly_File_Connection(Abstract_File& file) : journal_(file) {}

  bool can_push() const override { return false; }
  Offset get_checkpoint() const override { return journal_.get_checkpoint(); }
  void refresh() override { journal_.pull(); }
  const Abstract_File& content() const override { return journal_.get_file(); }
  void lock() override {}
  void unlock() noexcept override {}

  void push(const Abstract_File&, Offset, Checkpoint_Level) override {
    throw Exception(content().get_name() + " is opened for reading only and cannot be pushed to");
  }

 private:
  Readonly_Journal journal_;
};

}  // namespace

std::unique_ptr<Connection> make_file_connection(Abstract_File& file) {
  if (file.is_readonly()) return std::make_unique<Readonly_File_Connection>(file);
  if (file.is_shared()) throw Exception("the file of a connection cannot be shared");
  return std::make_unique<File_Connection>(file);
}

}  // namespace joedb::inline v1
