#ifndef JOEDB_SRC_SIM_LAB_SIM_FOLDER_H
#define JOEDB_SRC_SIM_LAB_SIM_FOLDER_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "joedb/io/posix_file.h"
#include "sim/lab/sim_state.h"

namespace joedb::testing {

// The files beside the file of a Sim_Disk, by the suffixes of their names. They outlive processes.
// A power cut loses pieces of contents that were not synced, and any subset of the creations,
// removals and renamings since the last sync of the directory, not only the latest ones. (A
// renaming or removal is durable when it returns, so only one is pending at a time.)
class Sim_Folder {
 public:
  using Files = std::map<std::string, std::string>;

  // Begins with these files, which are durable.
  explicit Sim_Folder(Files files = {});

  // The files as processes see them.
  Files files() const { return read(names_); }
  // The files after a power cut that loses every change that is not durable.
  Files durable_files() const;
  // Returns the files after a random power cut.
  Files power_cut(Random& random) const;

  void set_fault(Sim_Fault fault) { faults_.set(fault); }
  void remove_fault() { faults_.remove(); }
  const Sim_Faults& faults() const { return faults_; }
  // Replaces the content of a file from outside; the new content is durable.
  void put(const std::string& name, std::string content);

  // Calls of processes, with the contracts of Abstract_Directory; remove is durable. They throw
  // Io_Error and Sim_Killed. `title` is the name for messages.
  std::unique_ptr<Abstract_File> open(const std::string& name, const std::string& title,
                                      Open_Mode mode, std::shared_ptr<Sim_Process> process);
  void rename(const std::string& from, const std::string& to, Sim_Process& process);
  void remove(const std::string& name, Sim_Process& process);
  std::vector<std::string> list(Sim_Process& process);

 private:
  class Open_File;
  // A file, which exists as long as it has a name or is open.
  struct Node {
    Sim_State state{"", true};
    Sim_History history = {};
    const Open_File* writer = nullptr;  // has the file open exclusively
    std::shared_ptr<const Sim_Process> process = nullptr;
    void change(Sim_Operation operation);
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  // A change of a name that is not durable. Without a node: a removal.
  struct Name_Change {
    std::string removed;
    std::string added;
    std::shared_ptr<Node> node;
    void apply(Names& names) const;
  };

  static Files read(const Names& names);
  void change_names(Name_Change change);
  void sync_names(const std::string& title);
  [[noreturn]] void fail(const char* action, const std::string& title) const;

  Names names_;
  Names durable_names_;
  std::vector<Name_Change> pending_;
  Sim_Faults faults_;
};

}  // namespace joedb::testing

#endif
