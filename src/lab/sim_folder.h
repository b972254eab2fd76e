#ifndef LAB_SIM_FOLDER_H
#define LAB_SIM_FOLDER_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "joedb/io/named_file.h"
#include "lab/sim_state.h"

namespace joedb::testing {

// The files beside that of a Sim_Disk, by the end of their names. They outlive processes; a power
// cut takes what is not durable: pieces of contents that were not synced, and of the new names,
// removals and renamings since the last sync of the directory any number, in no order. (A renaming
// or removal is durable when it returns, so only one is at stake at a time.)
class Sim_Folder {
 public:
  using Files = std::map<std::string, std::string>;

  // With these files, which are durable.
  explicit Sim_Folder(Files files = {});

  // What processes see.
  Files files() const { return read(names_); }
  // Of a running power cut: what the disk has without any change that is not durable.
  Files durable_files() const;
  // What a power cut leaves.
  Files power_cut(Random& random) const;

  void set_fault(Sim_Fault fault) { faults_.set(fault); }
  void remove_fault() { faults_.remove(); }
  const Sim_Faults& faults() const { return faults_; }
  // Somebody changes the content from outside; it is durable.
  void put(const std::string& name, std::string content);

  // Of processes, as Abstract_File has them. They throw Io_Error, Sim_Killed. `title` is for
  // messages.
  std::unique_ptr<Abstract_File> open(const std::string& name, const std::string& title,
                                      Open_Mode mode, std::shared_ptr<Sim_Process> process);
  void rename(const std::string& from, const std::string& to, Sim_Process& process);
  void remove(const std::string& name, Sim_Process& process);
  std::vector<std::string> list(const std::string& prefix, Sim_Process& process);

 private:
  class Open_File;
  // A file, which lives as long as a name, or somebody who has it open.
  struct Node {
    Sim_State state{"", true};
    Sim_History history = {};
    const Open_File* writer = nullptr;  // that has it alone
    std::shared_ptr<const Sim_Process> process = nullptr;
    void change(Sim_Operation operation);
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  // One that is not durable. Without a node: a removal.
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
