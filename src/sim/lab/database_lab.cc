#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "joedb/io/memory_file.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/split.h"
#include "sim/lab/scenario.h"
#include "sim/lab/world.h"

namespace joedb::testing {

namespace {

constexpr char fill_letters[] = {'z', 'o', 'n'};
constexpr const char* fill_names[] = {"zeros", "old bytes", "noise"};

// ---- images -------------------------------------------------------------------------------------

// The file that a crash leaves.
struct Image_Choice {
  enum class Kind {
    kill,     // all bytes that the process has written
    torn,     // the same, and a part of the write during which the process was killed
    no_file,  // the file has lost its name
    power     // the units of `mask` are on the disk
  };
  Kind kind = Kind::kill;
  Sim_Mask mask = {};
  Sim_Fill fill = Sim_Fill::zeros;
  friend bool operator==(const Image_Choice&, const Image_Choice&) = default;
};

std::string text_of(const Image_Choice& choice) {
  switch (choice.kind) {
    case Image_Choice::Kind::kill:
      return "kill";
    case Image_Choice::Kind::torn:
      return "torn";
    case Image_Choice::Kind::no_file:
      return "none";
    case Image_Choice::Kind::power:
      break;
  }
  return "0x" + choice.mask.text() + fill_letters[static_cast<std::size_t>(choice.fill)];
}

Image_Choice parse_image(std::string_view text) {
  if (text == "kill") return {.kind = Image_Choice::Kind::kill};
  if (text == "torn") return {.kind = Image_Choice::Kind::torn};
  if (text == "none") return {.kind = Image_Choice::Kind::no_file};
  if (text.starts_with("0x") && text.size() > 3)
    for (std::size_t fill = 0; fill < sim_fill_count; ++fill)
      if (text.back() == fill_letters[fill])
        if (const auto mask = Sim_Mask::parse(text.substr(2, text.size() - 3)))
          return {Image_Choice::Kind::power, *mask, static_cast<Sim_Fill>(fill)};
  throw Exception("this is no image of a crash: " + std::string(text));
}

// One crash. A Path is a crash, followed by crashes during the recovery from the previous crash.
struct Step {
  std::size_t disk = 0;
  std::size_t cut = 0;
  Image_Choice image = {};
};
using Path = std::vector<Step>;

std::size_t number_of_cut(std::string_view text) {
  if (const auto number = parse_number<std::size_t>(text)) return *number;
  throw Exception("this is no number of a cut: " + std::string(text));
}

// Parses "23/4" and "0x2bz/kill"; "1:23" is cut 23 of the second disk.
Path parse_path(std::string_view cuts, std::string_view images) {
  Path path;
  if (cuts.empty()) return path;
  for (std::string_view cut : split(cuts, "/")) {
    Step& step = path.emplace_back();
    if (const std::size_t colon = cut.find(':'); colon != cut.npos) {
      step.disk = number_of_cut(cut.substr(0, colon));
      cut.remove_prefix(colon + 1);
    }
    step.cut = number_of_cut(cut);
  }
  const std::vector<std::string_view> parts = split(images, "/");
  if (parts.size() != path.size()) throw Exception("--cut and --image belong together");
  for (std::size_t i = 0; i < path.size(); ++i) path[i].image = parse_image(parts[i]);
  return path;
}

std::string cuts_text(const Path& path) {
  std::string text;
  for (const Step& step : path) {
    if (!text.empty()) text += '/';
    if (step.disk != 0) text += std::to_string(step.disk) + ":";
    text += std::to_string(step.cut);
  }
  return text;
}

std::string images_text(const Path& path) {
  std::string text;
  for (const Step& step : path) text += (text.empty() ? "" : "/") + text_of(step.image);
  return text;
}

// ---- hashes -------------------------------------------------------------------------------------

State_Hash hash_of(const In_Force& promises) {
  std::vector<std::uint64_t> words{
      static_cast<std::uint64_t>(promises.least), static_cast<std::uint64_t>(promises.min_hard),
      static_cast<std::uint64_t>(promises.min_classic), promises.is_exact};
  // The last position in each file. The hash up to this position covers the other positions, too.
  std::map<const std::string*, Offset> ends;
  for (const Allowed& a : promises.allowed) {
    words.push_back(static_cast<std::uint64_t>(a.position) << 2 | (a.is_hard ? 1 : 0) |
                    (a.is_unproven ? 2 : 0));
    Offset& end = ends[a.file];
    end = std::max(end, a.position);
  }
  std::vector<State_Hash> files;
  for (const auto& [file, end] : ends) {
    const std::size_t size = std::min(file->size(), static_cast<std::size_t>(end));
    files.push_back(hash_of_bytes(file->data() + header_size, size - header_size));
  }
  std::sort(files.begin(), files.end(), [](State_Hash a, State_Hash b) { return a.high < b.high; });
  for (const State_Hash& hash : files) words.insert(words.end(), {hash.low, hash.high});
  return hash_of_bytes(words.data(), words.size() * sizeof words[0]);
}

// ---- judging an image ---------------------------------------------------------------------------

// The checkpoints that a reader accepts, or the reason why it refuses the image.
struct Reading {
  bool is_open = false;
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;
  std::string refusal;
  std::optional<Offset> hidden_checkpoint;
};

Reading read(std::string_view image, Recovery recovery) {
  Reading reading;
  try {
    Readonly_Memory_File file(image);
    Readonly_Journal journal(file, recovery);
    journal.replay(Ignore_Entries());
    reading.checkpoint = journal.get_checkpoint();
    reading.hard_checkpoint = journal.get_hard_checkpoint();
    reading.is_open = true;
  } catch (const Hidden_Checkpoint& error) {
    reading.refusal = error.what();
    reading.hidden_checkpoint = error.checkpoint;
  } catch (const Exception& error) {
    reading.refusal = error.what();
  }
  return reading;
}

Checkpoint_Words words_of(std::string_view image) {
  std::array<char, checkpoint_words_size> bytes;
  image.copy(bytes.data(), bytes.size());
  return decode_checkpoints(bytes);
}

// True if the image has a signature and a hard checkpoint. (No soft checkpoint is promised after a
// power cut.)
bool has_header(std::string_view image) {
  if (image.size() < header_size || image.substr(signature_offset, signature.size()) != signature)
    return false;
  const Checkpoint_Words words = words_of(image);
  const auto size = static_cast<std::int64_t>(image.size());
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == words[i ^ 1] && words[i] >= journal_start && words[i] <= size) return true;
  return false;
}

bool has_soft_word_beyond(std::string_view image) {
  const Checkpoint_Words words = words_of(image);
  return std::any_of(words.begin(), words.end(), [&](std::int64_t word) {
    return word < -static_cast<std::int64_t>(image.size());
  });
}

// The results of reading an image, and a description of the error in these results; empty if there
// is none.
struct Judgement {
  Reading found;         // result of the default mode
  Reading hard;          // result of Recovery::hard
  bool is_true = false;  // true if the default mode has found a state that existed
  std::string wrong;
};

std::string at(Offset position) { return "at " + std::to_string(position); }

// The default mode may refuse a newer soft checkpoint if its bytes differ from the written bytes,
// or, if there is no hard checkpoint, are missing. The message must then contain the position of
// the last hard checkpoint.
bool names_hard_checkpoint(const std::string& refusal, Offset hard) {
  return refusal.find("hard checkpoint is at " + std::to_string(hard)) != refusal.npos;
}

// The default mode may also refuse the file if a power cut has lost the word of a checkpoint whose
// bytes are correct, and another word differs from the lost word in a single bit: the other word
// may be a damaged copy of the lost word.
bool hides_lost_checkpoint(const Reading& refused, Offset hard, const In_Force& promises,
                           std::string_view image) {
  const auto hidden = refused.hidden_checkpoint;
  return hidden && *hidden > hard && promises.find(*hidden, false, image, true) != nullptr;
}

// `must_open` says that the image certainly has a header.
Judgement judge(std::string_view image, const In_Force& promises, bool must_open) {
  Judgement j;
  j.hard = read(image, Recovery::hard);
  if (!j.hard.is_open) {
    if (must_open) j.wrong = "Recovery::hard refuses: " + j.hard.refusal;
    return j;
  }
  const Offset hard = j.hard.checkpoint;
  if (hard < promises.min_hard) {
    j.wrong = "Recovery::hard opens " + at(hard) + ": something hard is lost";
  } else if (promises.find(hard, true, image) == nullptr) {
    j.wrong = "Recovery::hard opens " + at(hard) +
              (promises.has(hard, true) ? ", with bytes that are not those of the checkpoint" +
                                              promises.difference(hard, image)
                                        : ", where no hard checkpoint was asked for");
  }
  if (!j.wrong.empty()) return j;

  const Classic_Checkpoint classic = classic_checkpoint(image);
  if (classic.hard_checkpoint > hard || classic.hard_checkpoint < promises.min_classic ||
      promises.find(classic.hard_checkpoint, true, image) == nullptr) {
    j.wrong = "a classic reader takes a hard checkpoint " + at(classic.hard_checkpoint) +
              ", Recovery::hard one " + at(hard);
    return j;
  }

  const bool is_unproven = std::any_of(
      promises.allowed.begin(), promises.allowed.end(),
      [&](const Allowed& a) { return a.position == classic.checkpoint && a.is_unproven; });
  if (promises.is_exact && !promises.has_integrity && !is_unproven &&
      promises.find(classic.checkpoint, false, image) == nullptr) {
    j.wrong = "a classic reader opens " + at(classic.checkpoint) + ", which is no true state";
    return j;
  }

  j.found = read(image, Recovery::none);
  if (!j.found.is_open) {
    const bool is_lost = classic.checkpoint > hard
                             ? promises.find(classic.checkpoint, false, image) == nullptr
                             : hard == journal_start && has_soft_word_beyond(image);
    const bool is_hidden = hides_lost_checkpoint(j.found, hard, promises, image);
    if (must_open && !((is_lost || is_hidden) && names_hard_checkpoint(j.found.refusal, hard)))
      j.wrong = "the default mode refuses: " + j.found.refusal;
    return j;
  }
  const Offset found = j.found.checkpoint;
  if (found < promises.least) {
    j.wrong = "the default mode opens " + at(found) + ": a checkpoint is lost";
  } else if (found == hard) {
    j.is_true = true;
  } else if (!promises.has(found, false)) {
    j.wrong = "the default mode opens " + at(found) + ", where no checkpoint was asked for";
  } else if (promises.find(found, false, image) != nullptr) {
    j.is_true = true;
  } else if (promises.is_exact && promises.find(found, false, image, true) == nullptr) {
    j.wrong =
        "the default mode opens " + at(found) + ", with bytes that are not those of the checkpoint";
  }
  return j;
}

// ---- one seed -----------------------------------------------------------------------------------

constexpr int error_codes[] = {EIO, ENOSPC, EINTR, EDQUOT, EROFS, ENOLCK};
constexpr const char* call_names[] = {"change", "read", "opening",    "lock", "size",
                                      "write",  "sync", "truncation", "name"};

// The crashes of one scenario.
class Database_World final : public World {
 public:
  explicit Database_World(const Context& context)
      : World(context),
        workload_{seed_, settings_.script, settings_.has_lying_disk},
        is_replay_(!settings_.cut.empty()) {}

  void run() override {
    const Scenario scenario(workload_);
    kind_ = scenario.kind();
    sector_size_ = scenario.sector_size();
    if (settings_.attacks.has_kill || settings_.attacks.has_power) {
      if (is_replay_ && !settings_.image.empty())
        wanted_ = parse_path(settings_.cut, settings_.image);
      if (!is_replay_ || !wanted_.empty())
        for (std::size_t i = 0; i < scenario.disks().size(); ++i)
          explore(scenario.disks()[i], i, settings_.effort);
    }
    if (settings_.attacks.has_error && wanted_.empty()) fail_calls(scenario);
  }

  std::string kind() const override { return std::string(kind_); }
  std::string details() const override { return details_; }
  std::string replay() const override {
    if (fault_number_)
      return seed_argument() + " --attack error --cut " + std::to_string(*fault_number_);
    return details_.empty()
               ? seed_argument()
               : seed_argument() + " --cut " + cuts_text(path_) + " --image " + images_text(path_);
  }
  bool is_of_user(const std::exception& error) const override {
    return details_.empty() && (is_replay_ || !workload_.script.empty()) &&
           dynamic_cast<const Exception*>(&error) != nullptr;
  }

 private:
  // At the previous cut, all subsets of `units` units were tried, with these promises.
  struct Tried {
    State_Hash promises = {};
    std::size_t units = 0;
  };

  // Simulates a crash after each operation of a disk.
  void explore(const Scenario_Disk& disk, std::size_t number, const Lab_Effort& effort) {
    if (path_.empty()) {
      trace_.clear();
      note_operations(disk, disk.name);
    }
    Sim_State state = disk.disk.start();
    const Sim_History& history = disk.disk.history();
    Tried tried;
    for (std::size_t io = 0; io <= history.size(); ++io) {
      if (io > 0) {
        if (has_kill()) kill_in_write(disk, number, state, history[io - 1]);
        state.advance(history);
      }
      path_.push_back({number, io, {}});
      if (is_selected_cut()) cut(disk, state, effort, tried);
      path_.pop_back();
    }
  }

  // After a failed call, every kind of crash is tried.
  bool has_kill() const { return settings_.attacks.has_kill || fault_number_; }
  bool has_power() const { return settings_.attacks.has_power || fault_number_; }

  bool is_selected_cut() const {
    if (wanted_.empty() || path_.size() > wanted_.size()) return true;
    const Step &step = path_.back(), &wanted = wanted_[path_.size() - 1];
    return step.disk == wanted.disk && step.cut == wanted.cut;
  }
  bool is_wanted(const Image_Choice& choice) const {
    if (wanted_.empty() || path_.size() > wanted_.size()) return true;
    return choice == wanted_[path_.size() - 1].image;
  }

  // Simulates a kill during a large write, which the system copies page by page.
  void kill_in_write(const Scenario_Disk& disk, std::size_t number, const Sim_State& state,
                     const Sim_Operation& operation) {
    constexpr std::size_t page = 4096;
    const auto offset = static_cast<std::size_t>(operation.offset);
    const std::size_t end = offset / page * page + page;
    if (operation.kind != Sim_Operation::Kind::write || offset + operation.bytes.size() <= end)
      return;
    path_.push_back({number, state.io_count(), {}});
    if (is_selected_cut()) {
      image_ = state.content();
      if (image_.size() < end) image_.resize(end);
      image_.replace(offset, end - offset, operation.bytes, 0, end - offset);
      const In_Force promises = disk.promises.in_force(state.io_count(), Crash::kill);
      check({.kind = Image_Choice::Kind::torn}, promises, hash_of(promises),
            has_header(image_) || promises.least > journal_start);
    }
    path_.pop_back();
  }

  void cut(const Scenario_Disk& disk, const Sim_State& state, const Lab_Effort& effort,
           Tried& tried) {
    ++counts_.cuts;
    const std::size_t io = state.io_count();
    if (has_kill()) {
      const In_Force promises = disk.promises.in_force(io, Crash::kill);
      image_ = state.content();
      check({.kind = Image_Choice::Kind::kill}, promises, hash_of(promises),
            has_header(image_) || promises.least > journal_start);
    }
    if (!has_power()) return;
    const In_Force promises = disk.promises.in_force(io, Crash::power);
    const State_Hash promises_hash = hash_of(promises);
    // If no hard checkpoint was promised, a failed sync may have lost a part of the header
    // permanently, and a process that stopped at a failed write has not synced its words.
    const bool must_open =
        promises.min_hard > journal_start || (!state.has_failure() && has_header(state.durable()));
    if (!state.has_durable_name()) {
      image_.clear();
      check({.kind = Image_Choice::Kind::no_file}, promises, promises_hash,
            promises.min_hard > journal_start);
    }
    const std::vector<Sim_Unit> units = state.units(disk.disk.history(), sector_size_);
    const bool has_grown = std::any_of(units.begin(), units.end(), [&](const Sim_Unit& unit) {
      return unit.kind == Sim_Unit::Kind::size;
    });
    const auto check_mask = [&](const Sim_Mask& mask, Sim_Fill fill) {
      const Image_Choice choice{Image_Choice::Kind::power, mask, fill};
      if (!is_wanted(choice)) return;
      state.power_cut(units, mask, fill, image_);
      check(choice, promises, promises_hash, must_open);
    };
    if (path_.size() <= wanted_.size()) {  // this is a replay
      const Image_Choice& wanted = wanted_[path_.size() - 1].image;
      if (wanted.kind == Image_Choice::Kind::power) check_mask(wanted.mask, wanted.fill);
      return;
    }
    const auto check_fills = [&](const Sim_Mask& mask) {
      for (std::size_t fill = 0; fill < (has_grown ? sim_fill_count : 1); ++fill)
        check_mask(mask, static_cast<Sim_Fill>(fill));
    };
    const bool is_same_epoch = tried.promises == promises_hash && tried.units <= units.size() &&
                               units.size() <= effort.all_subsets_up_to;
    choose(units.size(), is_same_epoch ? tried.units : 0, effort, check_fills);
    tried = {promises_hash, units.size()};
  }

  // Calls f for all subsets of the units. If there are too many subsets, calls f only for the empty
  // set, the full set, prefixes, single units, all units but one, pairs, all units but two, and
  // random subsets. All subsets of the first `tried` units have been tried already.
  template <class F>
  void choose(std::size_t size, std::size_t tried, const Lab_Effort& effort, F f) {
    if (size <= effort.all_subsets_up_to) {
      const std::uint64_t first = tried == 0 ? 0 : std::uint64_t{1} << tried;
      for (std::uint64_t bits = first; bits < std::uint64_t{1} << size; ++bits) f(Sim_Mask(bits));
      return;
    }
    Sim_Mask all;
    for (std::size_t i = 0; i < size; ++i) {
      f(all);
      all.add(i);
    }
    f(all);
    for (std::size_t i = 0; i < size; ++i) {
      Sim_Mask single, lost = all;
      single.add(i);
      lost.remove(i);
      f(single);
      f(lost);
      for (std::size_t j = 0; j < i && size <= 64; ++j) {
        Sim_Mask pair = single, both_lost = lost;
        pair.add(j);
        both_lost.remove(j);
        f(pair);
        f(both_lost);
      }
    }
    Random random(workload_.seed * 1'000'003 + path_.back().cut);
    for (std::size_t n = 0; n < effort.random_subsets; ++n) {
      // The share of the units that survive varies.
      const std::size_t share = 1 + random.below(7);
      Sim_Mask mask;
      for (std::size_t i = 0; i < size; ++i)
        if (random.below(8) < share) mask.add(i);
      f(mask);
    }
  }

  // Checks image_ if its state is new.
  void check(const Image_Choice& choice, const In_Force& promises, State_Hash promises_hash,
             bool must_open) {
    if (!is_wanted(choice)) return;
    ++counts_.images;
    const State_Hash image_hash = hash_of_bytes(image_.data(), image_.size());
    const std::uint64_t both[] = {image_hash.low, image_hash.high, promises_hash.low,
                                  promises_hash.high};
    const State_Hash state = hash_of_bytes(both, sizeof both);
    if (!states_.insert(state) && wanted_.empty()) return;
    path_.back().image = choice;
    try {
      const Judgement judgement = judge(image_, promises, must_open);
      if (!judgement.wrong.empty()) throw Broken_Rule(judgement.wrong);
      if (judgement.found.is_open && !judgement.is_true && must_open) ++counts_.unprovable;
      if (judgement.is_true && path_.size() == 1 && state.low % 64 == 0)
        expect_tables(judgement.found.checkpoint);
      expect_recovery(promises, must_open, judgement, state);
    } catch (const std::exception&) {
      if (details_.empty()) details_ = crash_text(promises);
      throw;
    }
  }

  void expect_tables(Offset position) const {
    try {
      tables_of(image_, position);
    } catch (const Exception& error) {
      throw Broken_Rule("the journal up to " + std::to_string(position) +
                        " is true and cannot be read: " + error.what());
    }
  }

  // Opens the image for writing, and continues to write.
  void expect_recovery(const In_Force& promises, bool must_open, const Judgement& before,
                       State_Hash state) {
    ++counts_.recoveries;
    Random random(state.high);
    const auto recovery = static_cast<Recovery>(random.below(std::size(names_)));
    // A journal without tables may have accepted wrong bytes, which cannot be loaded as tables.
    const bool has_tables = random.below(16) == 0 && path_.size() == 1;
    const bool is_clean =
        before.found.is_open && static_cast<Offset>(image_.size()) <= before.found.checkpoint;
    Scenario_Disk disk("recovered", image_, promises);
    const Recovered recovered = recover(disk, recovery, has_tables, random);
    if (!recovered.is_open) {
      const bool may_refuse = recovery == Recovery::ignore_header || !must_open ||
                              (recovery != Recovery::hard && !before.is_true) ||
                              (recovery == Recovery::none && !is_clean);
      if (!may_refuse)
        throw Broken_Rule("a writer (" + names_[static_cast<std::size_t>(recovery)] +
                          ") is refused: " + recovered.refusal);
      const Judgement after = judge(disk.disk.content(), promises, must_open);
      if (after.hard.checkpoint != before.hard.checkpoint ||
          after.hard.is_open != before.hard.is_open)
        throw Broken_Rule("a writer (" + names_[static_cast<std::size_t>(recovery)] +
                          ") that was refused has changed the hard checkpoint: " +
                          recovered.refusal + "; header " + words_text(disk.disk.content()));
    } else {
      const Reading reader = read(image_, recovery);
      if (before.hard.is_open && recovered.found != reader.checkpoint)
        throw Broken_Rule("a writer opens " + at(recovered.found) + ", a reader " +
                          at(reader.checkpoint));
      if (recovery == Recovery::keep) expect_kept_tail(disk, recovered.found);
      const In_Force kept = disk.promises.in_force(disk.disk.io_count(), Crash::kill);
      const Judgement after =
          judge(disk.disk.content(), kept, must_open || has_header(disk.disk.content()));
      if (!after.wrong.empty())
        throw Broken_Rule("after a recovery (" + names_[static_cast<std::size_t>(recovery)] +
                          "), " + after.wrong + "; " + kept.text() + "; header " +
                          words_text(disk.disk.content()));
    }
    if (!explores_recovery(random)) return;
    std::string image;
    image.swap(image_);
    const Lab_Effort effort{.all_subsets_up_to = 8, .random_subsets = 16};
    const std::string before_recovery = trace_;
    note_operations(disk, names_[static_cast<std::size_t>(recovery)]);
    explore(disk, 0, effort);
    trace_ = before_recovery;
    image_.swap(image);
  }

  // Checks that the bytes past the checkpoint were saved in another file, unless they were all
  // zeros.
  void expect_kept_tail(const Scenario_Disk& disk, Offset found) const {
    if (image_.size() <= static_cast<std::size_t>(found)) return;
    const std::string_view tail = std::string_view(image_).substr(static_cast<std::size_t>(found));
    const auto& beside = disk.disk.beside();
    const auto kept = beside.find(".tail-" + std::to_string(found));
    const bool has_tail = tail.find_first_not_of('\0') != tail.npos;
    if (has_tail != (kept != beside.end()) || (has_tail && kept->second != tail))
      throw Broken_Rule("what stood behind the checkpoint " + at(found) + " was not kept");
  }

  bool explores_recovery(Random& random) const {
    const std::size_t depth = path_.size();
    if (depth < wanted_.size()) return true;
    if (!wanted_.empty()) return false;
    return static_cast<int>(depth) < settings_.effort.depth &&
           random.below(depth == 1 ? 16 : 64) == 0;
  }

  // Describes the crashes that have left image_.
  std::string crash_text(const In_Force& promises) const {
    std::string details;
    for (const Step& step : path_) {
      details += details.empty() ? "crash: " : "then:  ";
      details += "after I/O " + std::to_string(step.cut);
      if (step.disk != 0) details += " of disk " + std::to_string(step.disk);
      switch (step.image.kind) {
        case Image_Choice::Kind::kill:
          details += ", killed";
          break;
        case Image_Choice::Kind::torn:
          details += ", killed in a write";
          break;
        case Image_Choice::Kind::no_file:
          details += ", power cut, and the file has no name";
          break;
        case Image_Choice::Kind::power:
          details += ", power cut, units 0x" + step.image.mask.text() + " are on the disk, else " +
                     fill_names[static_cast<std::size_t>(step.image.fill)];
      }
      details += '\n';
    }
    return details + "promised: " + promises.text() + "\nheader: " + words_text(image_) + ", " +
           std::to_string(image_.size()) + " bytes\n";
  }

  // In a replay, records the operations that reached the disk, in order.
  void note_operations(const Scenario_Disk& disk, const std::string& who) {
    if (!is_replay_) return;
    trace_ += "operations of " + who + ":\n";
    std::size_t number = 0;
    for (const Sim_Operation& operation : disk.disk.history()) {
      trace_ += "  " + std::to_string(++number) + ": " + text_of(operation) + '\n';
    }
  }

  // Runs the scenario with a fault of each call, which fails either once or permanently.
  void fail_calls(const Scenario& scenario) {
    std::size_t number = 0;
    for (std::size_t disk = 0; disk < scenario.disks().size(); ++disk)
      for (std::size_t kind = 1; kind < Sim_Fault::calls_count; ++kind) {
        const auto calls = static_cast<Sim_Fault::Calls>(kind);
        const std::size_t count = scenario.disks()[disk].disk.count(calls);
        for (std::size_t call = 0; call < count; ++call)
          for (const bool lasts : {false, true})
            for (const double part : {0.0, 0.6, 1.0}) {
              if (part > 0 && calls != Sim_Fault::Calls::writes) break;
              const int code = error_codes[(number + workload_.seed) % std::size(error_codes)];
              if (!is_replay_ || number_of_cut(settings_.cut) == number)
                fail_call(number, {disk, {calls, call, code, lasts, part}});
              ++number;
            }
      }
    for (std::size_t disk = 0; disk < scenario.disks().size(); ++disk)
      fill_disk(number, disk, scenario.disks()[disk].disk.count(Sim_Fault::Calls::writes));
  }

  // Runs the scenario with a disk that is almost full from one of the writes on, either until a
  // write has failed or permanently.
  void fill_disk(std::size_t& number, std::size_t disk, std::size_t writes) {
    Random random(workload_.seed);
    for (std::size_t write = 0; write < writes; ++write)
      for (const bool lasts : {false, true}) {
        const Sim_Fault fault{.calls = Sim_Fault::Calls::writes,
                              .number = write,
                              .code = ENOSPC,
                              .lasts = lasts,
                              .room = random.below(12),
                              .block_size = Offset{64} << random.below(3)};
        if (!is_replay_ || number_of_cut(settings_.cut) == number) fail_call(number, {disk, fault});
        ++number;
      }
  }

  static std::string fault_text(const Scenario_Fault& fault) {
    if (fault.fault.room)
      return "from write " + std::to_string(fault.fault.number) + " of disk " +
             std::to_string(fault.disk) + " on, it has room for " +
             std::to_string(*fault.fault.room) + " more blocks of " +
             std::to_string(fault.fault.block_size) + " bytes, " +
             (fault.fault.lasts ? "for ever" : "until a write has failed");
    std::string text =
        std::string(call_names[static_cast<std::size_t>(fault.fault.calls)]) + " " +
        std::to_string(fault.fault.number) + " of disk " + std::to_string(fault.disk) + " fails " +
        (fault.fault.lasts ? "for ever" : "once") + " with " + std::strerror(fault.fault.code);
    if (fault.fault.calls == Sim_Fault::Calls::writes)
      text += ", " + std::to_string(static_cast<int>(100 * fault.fault.part_written)) +
              " % of it is written";
    return text;
  }

  void fail_call(std::size_t number, const Scenario_Fault& fault) {
    ++counts_.faults;
    fault_number_ = number;
    try {
      const Scenario scenario(workload_, fault);
      for (std::size_t i = 0; i < scenario.disks().size(); ++i) {
        const Scenario_Disk& disk = scenario.disks()[i];
        path_.push_back({i, disk.disk.io_count(), {}});
        trace_.clear();
        note_operations(disk, disk.name);
        const Lab_Effort effort{.all_subsets_up_to = 4, .random_subsets = 16};
        Tried tried;
        cut(disk, disk.disk.state(), effort, tried);
        path_.pop_back();
      }
    } catch (const std::exception&) {
      details_ = "fault: " + fault_text(fault) + "\n" + details_;
      throw;
    }
    fault_number_.reset();
  }

  inline static const std::string names_[] = {"none", "ignore_header", "overwrite", "hard", "keep"};

  const Workload workload_;
  const bool is_replay_;
  Path wanted_;
  std::string_view kind_;
  std::size_t sector_size_ = 512;
  Path path_;
  std::string image_;
  std::optional<std::size_t> fault_number_;
  std::string details_;  // details of the crash or the fault that broke a rule
};

}  // namespace

std::unique_ptr<World> make_database_world(const World::Context& context) {
  return std::make_unique<Database_World>(context);
}

std::string judge_image(std::string_view image, std::string_view promised) {
  const std::string file(promised);
  const auto end = static_cast<Offset>(promised.size());
  In_Force promises;
  promises.least = promises.min_hard = promises.min_classic = end;
  promises.allowed.push_back({end, true, &file});
  return judge(image, promises, true).wrong;
}

}  // namespace joedb::testing
