#include "joedb/replica/clients.h"
#include "sim/lab/network_simulation.h"

namespace joedb::testing::network_lab {

// ---- another process that writes to the file of the hub -----------------------------------------

// Lock calls do not block in this simulation. So the process polls for the lock, and performs a
// whole transaction at once.
void Network::run_writer(Client& client) {
  while (!is_stopping_ && !client.is_finished) {
    try {
      sleep_of(client, below(random_.flip() ? 20 * millisecond : second));
      const bool is_last = client.actions_left == 0;
      if ((is_last && !is_healed_) || !is_file_free()) continue;
      write_directly(client);
      client.is_finished = is_last;
      if (!is_last) --client.actions_left;
    } catch (const Sim_Killed&) {
      client.is_killed = is_stopping_;
    } catch (const std::exception& error) {
      note(client.name + ": " + error.what());
      if (!hub().disk->has_failed()) fail(client.name + ": " + error.what());
    }
  }
}

bool Network::is_file_free() {
  if (hub().disk->content().size() < header_bytes) return false;
  Sim_File file(*hub().disk, Open_Mode::shared_write);
  if (!file.try_exclusive_lock(tail_lock.start, tail_lock.size)) return false;
  file.unlock(tail_lock.start, tail_lock.size);
  return true;
}

void Network::write_directly(Client& client) {
  begin(client, "writes to the file");
  schedule(Event::Kind::refresh, now_ + delay(), hub().index, hub().generation);
  Sim_File file(*hub().disk, Open_Mode::shared_write);
  if (!is_healed_ && chance(15)) file.kill_after(random_.below(8));
  Writable_Journal_Client store(file, Connection::dummy, Content_Check::fast,
                                Journal_Options::without_marks());
  store.settings().end = Transaction_Settings::End::none;
  store.set_hard_checkpoint(client.is_hard);
  store.transaction([&](Writable_Journal& journal) {
    std::vector<std::string> comments;
    const std::size_t number = new_transaction(client, random_, comments);
    for (const std::string& comment : comments) journal.append(Comment{comment});
    client.transactions[number].is_cancelled = false;
  });
  written_ = body_size(store.get_journal_checkpoint());
}

bool Network::can_hub_write() const { return hub().core && hub().journal->can_push(); }

// Checks that the hub serves changes in its file within a time limit.
void Network::check_hub_lag() {
  const Duration limit = late_percent_ == 0 ? 2 * second : 60 * second;
  const bool may_lag = !can_hub_write() || served_.size() >= written_ || hub().is_working() ||
                       hub().core->status().lock_holder.has_value();
  if (may_lag) hub_lag_start_ = now_;
  if (now_ - hub_lag_start_ > limit) fail("the server does not take what is in its file");
}

}  // namespace joedb::testing::network_lab
