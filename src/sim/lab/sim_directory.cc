#include "sim/lab/sim_directory.h"

#include <algorithm>
#include <cerrno>

#include "sim/lab/sim_file.h"

namespace joedb::testing {

using Calls = Sim_Fault::Calls;

void Sim_Directory::Name_Change::apply(Names& names) const {
  names.erase(removed);
  if (file != no_file) names[added] = file;
}

Sim_Directory::Sim_Directory(const Contents& contents, Kind kind) : kind_(kind) {
  for (const auto& [name, content] : contents) put(name, content);
}

const std::string& Sim_Directory::get_name() const {
  static const std::string name = "directory";
  return name;
}

void Sim_Directory::put(const std::string& name, const std::string& content) {
  const std::size_t file = add(name, std::make_shared<Sim_Node>(content));
  names_[name] = durable_names_[name] = file;
}

std::size_t Sim_Directory::add(const std::string& name, std::shared_ptr<Sim_Node> node) {
  files_.push_back({name, std::move(node), time()});
  return files_.size() - 1;
}

Sim_Directory::Contents Sim_Directory::contents(const Names& names) const {
  Contents result;
  for (const auto& [name, file] : names) result[name] = files_[file].node->content();
  return result;
}

std::vector<Sim_State> Sim_Directory::states() const {
  std::vector<Sim_State> result;
  for (const File& file : files_) result.push_back(file.node->state());
  return result;
}

std::vector<Sim_State> Sim_Directory::start() const {
  std::vector<Sim_State> result;
  for (const File& file : files_) result.push_back(file.node->start());
  return result;
}

Sim_Directory::Contents Sim_Directory::durable_contents() const {
  Contents result;
  for (const auto& [name, file] : durable_names_) result[name] = files_[file].node->durable();
  return result;
}

Sim_Directory::Contents Sim_Directory::power_cut(Random& random) const {
  Names names = durable_names_;
  for (const Name_Change& change : pending_)
    if (random.flip()) change.apply(names);
  Contents result;
  for (const auto& [name, file] : names) {
    const Sim_Node& node = *files_[file].node;
    const auto fill = static_cast<Sim_Fill>(random.below(sim_fill_count));
    result[name] = node.state().power_cut(node.history(), fill, random);
  }
  return result;
}

// ---- faults -------------------------------------------------------------------------------------

void Sim_Directory::set_fault(std::size_t file, Sim_Fault fault) {
  file_fault_.emplace(file, fault);
  if (file < files_.size()) files_[file].node->set_fault(fault);
}

void Sim_Directory::remove_faults() {
  file_fault_.reset();
  for (const File& file : files_) file.node->remove_fault();
}

bool Sim_Directory::has_failed() const {
  return std::any_of(files_.begin(), files_.end(),
                     [](const File& file) { return file.node->has_failed(); });
}

void Sim_Directory::fill() {
  for (const File& file : files_) file.node->fill();
}

void Sim_Directory::fail(const char* action, const std::string& title) const {
  throw_io_error(action, title, -1, faults_.fault().code);
}

// ---- names --------------------------------------------------------------------------------------

bool Sim_Directory::has_name(const Sim_Node& node) const {
  return std::any_of(names_.begin(), names_.end(),
                     [&](const auto& name) { return files_[name.second].node.get() == &node; });
}

void Sim_Directory::change_names(Name_Change change) {
  for (const std::string& name : {change.removed, change.added})
    if (const auto found = names_.find(name); found != names_.end())
      files_[found->second].removed = time();
  change.apply(names_);
  if (is_beside()) pending_.push_back(std::move(change));
}

void Sim_Directory::sync_names(const std::string& title) {
  const bool is_failure = faults_.fails(Calls::syncs);
  Random random(pending_.size());
  for (const Name_Change& change : pending_)
    if (!is_failure || random.flip()) change.apply(durable_names_);
  pending_.clear();
  if (is_failure) fail("syncing the directory of", title);
}

std::unique_ptr<Abstract_File> Sim_Directory::open(const std::string& name,
                                                   const std::string& title, Open_Mode mode,
                                                   std::shared_ptr<Sim_Process> process) {
  process->begin_call();
  if (is_beside() && faults_.fails(Calls::opens)) fail("opening", title);
  const auto found = names_.find(name);
  const bool exists = found != names_.end();
  const bool must_exist = mode == Open_Mode::read_existing || mode == Open_Mode::write_existing;
  if (must_exist && !exists) throw_io_error("opening", title, -1, ENOENT);
  if (mode == Open_Mode::create_new && exists) throw_io_error("opening", title, -1, EEXIST);
  const std::size_t file =
      exists ? found->second : add(name, std::make_shared<Sim_Node>(std::string()));
  const std::shared_ptr<Sim_Node> node = files_[file].node;
  if (!exists) {
    change_names({{}, name, file});
    if (file_fault_ && file_fault_->first == file) node->set_fault(file_fault_->second);
  }
  return std::unique_ptr<Sim_File>(new Sim_File(*this, file, node, title, mode, process));
}

// Between the renaming and the sync, the process may be killed, or the power may be cut.
void Sim_Directory::rename(const std::string& from, const std::string& to, Sim_Process& process) {
  process.begin_other_change();
  if (faults_.fails(Calls::names)) fail("renaming", from);
  const auto found = names_.find(from);
  if (found == names_.end()) throw_io_error("renaming", from, -1, ENOENT);
  change_names({from, to, add(to, files_[found->second].node)});
  process.begin_other_change();
  sync_names(to);
}

void Sim_Directory::remove(const std::string& name, Sim_Process& process) {
  process.begin_other_change();
  if (faults_.fails(Calls::names)) fail("removing", name);
  if (!names_.contains(name)) return;
  change_names({name, {}, no_file});
  process.begin_other_change();
  sync_names(name);
}

void Sim_Directory::remove(const std::string& name) {
  process_->begin_call();
  if (names_.contains(name)) change_names({name, {}, no_file});
}

std::vector<std::string> Sim_Directory::list(Sim_Process& process) const {
  process.begin_call();
  if (faults_.fails(Calls::names)) fail("listing files", "beside a file");
  std::vector<std::string> found;
  for (const auto& [name, file] : names_) found.push_back(name);
  return found;
}

}  // namespace joedb::testing
