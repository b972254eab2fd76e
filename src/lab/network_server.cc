#include "lab/network_simulation.h"

namespace joedb::testing::network_lab {

// ---- the server ---------------------------------------------------------------------------------

void Simulation::crash(bool is_power_cut) {
  if (!core_) return;
  note(is_power_cut ? "the power of the server is cut" : "the server is killed");
  ++(is_power_cut ? counts_.power_cuts : counts_.kills);
  file_->kill_after(0);
  for (auto& jobs : jobs_) jobs.clear();
  for (auto& dones : dones_) dones.clear();
  core_.reset();
  journal_.reset();
  file_.reset();
  if (is_power_cut) {
    disk_ = std::make_unique<Sim_Disk>(disk_->power_cut(random_.next()));
    was_power_cut_ = true;
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    link.session = -1;
    if (!link.is_client_open || link.is_cut) continue;
    link.is_cut = true;
    link.drops_bytes = random_.flip();
    schedule(Event::Kind::lost_at_client, now_ + below(chance(50) ? 50 * millisecond : 5 * second),
             i);
  }
  ++generation_;
  is_power_next_ = false;
  schedule(Event::Kind::start, now_ + below(random_.flip() ? 100 * millisecond : 5 * second));
}

bool Simulation::open_journal(Recovery recovery, std::string& error) {
  Journal_Options options(recovery);
  if (chance(20)) options.preallocation = 4096;
  try {
    file_ = std::make_unique<Sim_File>(*disk_);
    journal_ = std::make_unique<Written_Journal>(*file_, Connection::dummy, Content_Check::none,
                                                 is_hard_, options);
    return true;
  } catch (const std::exception& e) {
    error = e.what();
    journal_.reset();
    file_.reset();
    return false;
  }
}

void Simulation::start_server() {
  if (core_) return;
  note("the server starts");
  const std::string image = disk_->content();
  const bool has_failed_before = disk_->has_failed();
  const Recovery mode = random_.flip() ? Recovery::keep : Recovery::overwrite;
  std::string error;
  std::string wrong;
  if (open_journal(mode, error)) wrong = recovered();
  const bool may_be_unproven = was_power_cut_ && (has_failed_before || !disk_->has_failed());
  if (may_be_unproven && (!journal_ || !wrong.empty())) {
    // A soft checkpoint that survives a power cut proves nothing: docs/crash-safety.md.
    note("recovery by the hard checkpoint: " + error + wrong);
    wrong.clear();
    error.clear();
    journal_.reset();
    file_.reset();
    disk_ = std::make_unique<Sim_Disk>(image);
    if (open_journal(Recovery::hard, error)) wrong = recovered();
    if (!journal_ && (!is_hard_ || served_.empty())) {  // the header was never durable
      disk_ = std::make_unique<Sim_Disk>();
      if (open_journal(mode, error)) wrong = recovered();
    }
  }
  if (!journal_) {
    if (!disk_->has_failed()) return fail("the server cannot open its journal: " + error);
    note("the server cannot start: " + error);
    disk_->remove_fault();
    // Half of a new header.
    if (served_.empty() || (was_power_cut_ && !is_hard_)) disk_ = std::make_unique<Sim_Disk>();
    return schedule(Event::Kind::start, now_ + below(second));
  }
  if (!wrong.empty()) return fail("after a restart of the server: " + wrong);
  was_power_cut_ = false;
  session_links_.clear();
  tick_time_.reset();
  done_times_ = {};
  core_ = std::make_unique<Server_Core>(*journal_, *this, *this, *server_log_, limits_, "scratch-");
  note("the server has " + std::to_string(served_.size()) + " bytes");
}

}  // namespace joedb::testing::network_lab
