#include "sim/lab/sim_folder.h"

#include <cerrno>
#include <utility>

namespace joedb::testing {

using Calls = Sim_Fault::Calls;

void Sim_Folder::Node::change(Sim_Operation operation) {
  history.push_back(std::move(operation));
  state.advance(history);
}

void Sim_Folder::Name_Change::apply(Names& names) const {
  if (!removed.empty()) names.erase(removed);
  if (node) names[added] = node;
}

// ---- an open file -------------------------------------------------------------------------------

class Sim_Folder::Open_File final : public Named_File {
 public:
  Open_File(Sim_Folder& folder, std::shared_ptr<Node> node, const std::string& title,
            Open_Mode mode, std::shared_ptr<Sim_Process> process)
      : Named_File(title, mode), folder_(folder), node_(std::move(node)), process_(process) {
    if (is_readonly()) return;
    if (node_->writer != nullptr && !node_->process->is_killed())
      throw_io_error("locking", get_name(), -1, EAGAIN);
    node_->writer = this;
    node_->process = std::move(process);
    set_new_name();
  }
  ~Open_File() override {
    if (node_->writer == this) node_->writer = nullptr;
  }

  Offset get_size() const override {
    process_->require_alive();
    if (folder_.faults_.fails(Calls::sizes)) folder_.fail("reading the size of", get_name());
    return static_cast<Offset>(content().size());
  }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    process_->require_alive();
    if (folder_.faults_.fails(Calls::reads)) folder_.fail("reading", get_name());
    if (offset < 0 || static_cast<std::size_t>(offset) >= content().size()) return 0;
    return content().copy(data, size, static_cast<std::size_t>(offset));
  }
  void pwrite(const char* data, std::size_t size, Offset offset) override {
    Sim_Operation write{Sim_Operation::Kind::write, offset, std::string(data, size)};
    const bool is_failure = begin_change(Calls::writes);
    if (!is_failure) return node_->change(std::move(write));
    write.bytes = written_part(write, folder_.faults_.fault());
    write.has_failed = true;
    node_->change(std::move(write));
    folder_.fail("writing", get_name());
  }
  bool truncate(Offset size) override {
    if (begin_change(Calls::truncations)) folder_.fail("truncating", get_name());
    node_->change({Sim_Operation::Kind::truncate, size, {}});
    return true;
  }
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 protected:
  void sync_content() override {
    const bool is_failure = begin_change(Calls::syncs);
    node_->change(
        {is_failure ? Sim_Operation::Kind::failed_sync : Sim_Operation::Kind::sync, 0, {}});
    if (is_failure) folder_.fail("syncing", get_name());
  }
  void datasync_content() override { sync_content(); }
  void sync_directory() override {
    process_->begin_other_change();
    folder_.sync_names(get_name());
  }

 private:
  const std::string& content() const { return node_->state.content(); }
  // Counts a change. Returns true if it fails.
  bool begin_change(Calls calls) {
    process_->begin_other_change();
    if (is_readonly()) throw std::logic_error(get_name() + " is open for reading");
    const bool kind_fails = folder_.faults_.fails(calls);
    return folder_.faults_.fails(Calls::changes) || kind_fails;
  }

  Sim_Folder& folder_;
  const std::shared_ptr<Node> node_;
  const std::shared_ptr<Sim_Process> process_;
};

// ---- the folder ---------------------------------------------------------------------------------

Sim_Folder::Sim_Folder(Files files) {
  for (auto& [name, content] : files) put(name, std::move(content));
}

void Sim_Folder::put(const std::string& name, std::string content) {
  auto node = std::make_shared<Node>();
  node->state = Sim_State(std::move(content), true);
  names_[name] = durable_names_[name] = node;
}

Sim_Folder::Files Sim_Folder::read(const Names& names) {
  Files files;
  for (const auto& [name, node] : names) files[name] = node->state.content();
  return files;
}

Sim_Folder::Files Sim_Folder::durable_files() const {
  Files files;
  for (const auto& [name, node] : durable_names_) files[name] = node->state.durable();
  return files;
}

Sim_Folder::Files Sim_Folder::power_cut(Random& random) const {
  Names names = durable_names_;
  for (const Name_Change& change : pending_)
    if (random.flip()) change.apply(names);
  Files files;
  for (const auto& [name, node] : names) {
    const auto fill = static_cast<Sim_Fill>(random.below(sim_fill_count));
    files[name] = node->state.power_cut(node->history, fill, random);
  }
  return files;
}

void Sim_Folder::fail(const char* action, const std::string& title) const {
  throw_io_error(action, title, -1, faults_.fault().code);
}

void Sim_Folder::change_names(Name_Change change) {
  change.apply(names_);
  pending_.push_back(std::move(change));
}

void Sim_Folder::sync_names(const std::string& title) {
  const bool is_failure = faults_.fails(Calls::syncs);
  Random random(pending_.size());
  for (const Name_Change& change : pending_)
    if (!is_failure || random.flip()) change.apply(durable_names_);
  pending_.clear();
  if (is_failure) fail("syncing the directory of", title);
}

std::unique_ptr<Abstract_File> Sim_Folder::open(const std::string& name, const std::string& title,
                                                Open_Mode mode,
                                                std::shared_ptr<Sim_Process> process) {
  process->require_alive();
  if (faults_.fails(Calls::opens)) fail("opening", title);
  const auto found = names_.find(name);
  const bool exists = found != names_.end();
  const bool must_exist = mode == Open_Mode::read_existing || mode == Open_Mode::write_existing;
  if (must_exist && !exists) throw_io_error("opening", title, -1, ENOENT);
  if (mode == Open_Mode::create_new && exists) throw_io_error("opening", title, -1, EEXIST);
  if (exists) return std::make_unique<Open_File>(*this, found->second, title, mode, process);
  auto node = std::make_shared<Node>();
  change_names({{}, name, node});
  return std::make_unique<Open_File>(*this, node, title, mode, process);
}

// A process may be killed, and the power be cut, between the renaming and the sync.
void Sim_Folder::rename(const std::string& from, const std::string& to, Sim_Process& process) {
  process.begin_other_change();
  if (faults_.fails(Calls::names)) fail("renaming", from);
  const auto found = names_.find(from);
  if (found == names_.end()) throw_io_error("renaming", from, -1, ENOENT);
  change_names({from, to, found->second});
  process.begin_other_change();
  sync_names(to);
}

void Sim_Folder::remove(const std::string& name, Sim_Process& process) {
  process.begin_other_change();
  if (faults_.fails(Calls::names)) fail("removing", name);
  if (!names_.contains(name)) return;
  change_names({name, {}, nullptr});
  process.begin_other_change();
  sync_names(name);
}

std::vector<std::string> Sim_Folder::list(Sim_Process& process) {
  process.require_alive();
  if (faults_.fails(Calls::names)) fail("listing files", "beside a file");
  std::vector<std::string> found;
  for (const auto& [name, node] : names_) found.push_back(name);
  return found;
}

}  // namespace joedb::testing
