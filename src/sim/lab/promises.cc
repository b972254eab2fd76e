#include "sim/lab/promises.h"

#include <algorithm>
#include <cstring>

#include "sim/lab/hex.h"

namespace joedb::testing {

// ---- In_Force -----------------------------------------------------------------------------------

const Allowed* In_Force::find(Offset position, bool is_hard, std::string_view image,
                              bool with_unproven) const {
  const auto end = static_cast<std::size_t>(position);
  for (const Allowed& a : allowed) {
    if (a.position != position || (is_hard ? !a.is_hard : a.is_unproven && !with_unproven))
      continue;
    if (image.size() < end || a.file->size() < end) continue;
    if (std::memcmp(image.data() + header_size, a.file->data() + header_size, end - header_size) ==
        0)
      return &a;
  }
  return nullptr;
}

bool In_Force::has(Offset position, bool is_hard) const {
  return std::any_of(allowed.begin(), allowed.end(), [&](const Allowed& a) {
    return a.position == position && (!is_hard || a.is_hard);
  });
}

std::string In_Force::difference(Offset position, std::string_view image) const {
  const auto last = std::find_if(allowed.rbegin(), allowed.rend(),
                                 [&](const Allowed& a) { return a.position == position; });
  if (last == allowed.rend()) return "";
  const auto end = static_cast<std::size_t>(position);
  const std::string_view wanted(*last->file), found = image.substr(0, end);
  std::size_t at = header_size;
  while (at < std::min({wanted.size(), found.size(), end}) && wanted[at] == found[at]) ++at;
  constexpr std::size_t most = 40;
  return ", from " + std::to_string(at) +
         "\nwanted: " + hex(wanted.substr(std::min(at, wanted.size()), most)) +
         "\nfound:  " + hex(found.substr(std::min(at, found.size()), most));
}

std::string In_Force::text() const {
  std::string text = "a hard checkpoint at " + std::to_string(min_hard) + " at least, any at " +
                     std::to_string(least) + " at least; may be found:";
  for (const Allowed& a : allowed)
    text += (a.is_hard ? " hard " : " soft ") + std::to_string(a.position);
  return text;
}

// ---- Promises -----------------------------------------------------------------------------------

// is_hard_level: true if a header may report the checkpoint as hard. survives_power_cut: true if an
// acknowledged checkpoint survives a power cut.
static bool is_hard_level(Checkpoint_Level level) { return level != Checkpoint_Level::soft; }
static bool survives_power_cut(Checkpoint_Level level) { return level == Checkpoint_Level::hard; }

static const std::string header_only(header_size, '\0');

Promises::Promises() : is_found_(false) {
  epochs_.push_back({.begin = 0, .end = 0, .file = header_only, .promises = {}});
}

Promises::Promises(In_Force before)
    : before_(std::move(before)), is_found_(true), has_integrity_(before_.has_integrity) {
  epochs_.push_back({.begin = 0, .end = 0, .file = header_only, .promises = {}});
}

void Promises::begin_epoch(std::size_t io) {
  epochs_.push_back({.begin = io, .file = {}, .promises = {}});
}

void Promises::cancel_epoch(bool is_hard) {
  const std::size_t begin = current().begin;
  epochs_.pop_back();
  if (is_hard) current().hard_only_since = std::min(current().hard_only_since, begin);
}

void Promises::end_epoch(std::size_t io, Offset found, std::string_view content,
                         Offset found_by_default) {
  const bool is_adopted = found_by_default < found;
  Epoch& epoch = current();
  const Epoch& last = epochs_[epochs_.size() - 2];
  epoch.end = io;
  epoch.found = found;
  epoch.is_adopted = is_adopted;
  epoch.file = header_only;
  epoch.file.append(content.substr(header_size, static_cast<std::size_t>(found) - header_size));
  for (Promise promise : last.promises) {
    if (promise.position > found) continue;
    epoch.promises.push_back(promise);
    epoch.promises.back().is_own = false;
  }
  if (epochs_.size() == 2 && is_found_) {
    // Hard checkpoints that were acknowledged before the crash are certain; all others were only
    // possible.
    for (const Allowed& a : before_.allowed) {
      if (a.position > found) continue;
      const bool is_given = a.is_hard && a.position <= before_.min_hard;
      epoch.promises.push_back(
          {.level = a.is_hard ? Checkpoint_Level::hard : Checkpoint_Level::soft,
           .position = a.position,
           .is_classic = a.position <= before_.min_classic,
           .asked = 0,
           .given = is_given ? 0 : never,
           .is_unproven =
               a.is_unproven ||
               (!is_given && (before_.is_exact ? is_adopted && a.position > found_by_default
                                               : is_adopted || a.position != found))});
    }
  }
  if (!is_adopted && found > journal_start)
    epoch.promises.push_back({Checkpoint_Level::soft, found, true, epoch.begin, io});
}

void Promises::ask(Checkpoint_Level level, Offset position, std::size_t io, bool is_classic) {
  current().promises.push_back({level, position, is_classic, io, never, true});
}

void Promises::give(Offset position, std::size_t io) {
  Promise& promise = current().promises.back();
  promise.position = position;
  promise.given = io;
  if (promise.asked == io) promise.is_classic = false;  // nothing was written
}

Offset Promises::last_given() const {
  Offset result = epochs_.back().found;
  for (const Promise& p : epochs_.back().promises)
    if (p.given != never && p.is_own) result = std::max(result, p.position);
  return result;
}

void Promises::add(In_Force& in_force, const Epoch& epoch, std::size_t io, Crash crash) const {
  Offset least = journal_start, min_hard = journal_start, min_classic = journal_start;
  for (const Promise& p : epoch.promises) {
    if (p.asked > io) continue;
    const bool is_hard = is_hard_level(p.level);
    // A sealed checkpoint has no classic words, so later words may overwrite the last classic hard
    // checkpoint.
    if (is_hard && !p.is_classic) min_classic = journal_start;
    in_force.allowed.push_back({p.position, is_hard, &epoch.file, p.is_unproven});
    if (p.given > io) continue;
    if (crash == Crash::kill && io < epoch.hard_only_since) least = std::max(least, p.position);
    if (survives_power_cut(p.level) || (is_hard && crash == Crash::kill)) {
      min_hard = std::max(min_hard, p.position);
      if (p.is_classic) min_classic = std::max(min_classic, p.position);
    }
  }
  // While an epoch is beginning, the state before it may be found, too. So the lower bounds apply.
  const bool is_first = in_force.min_hard < 0;
  const auto combine = [&](Offset& a, Offset b) { a = is_first ? b : std::min(a, b); };
  combine(in_force.least, std::max(least, min_hard));
  combine(in_force.min_hard, min_hard);
  combine(in_force.min_classic, min_classic);
}

// True if only this epoch is in force. An adopted tail counts only when a checkpoint covers it.
bool Promises::is_in_force(const Epoch& epoch, std::size_t io) const {
  if (epoch.end > io) return false;
  return !epoch.is_adopted ||
         std::any_of(epoch.promises.begin(), epoch.promises.end(),
                     [&](const Promise& p) { return p.is_own && p.given <= io; });
}

In_Force Promises::in_force(std::size_t io, Crash crash) const {
  In_Force result;
  result.min_hard = -1;
  result.has_integrity = has_integrity_;
  result.is_exact = true;
  std::size_t last = epochs_.size() - 1;
  while (epochs_[last].begin > io) --last;
  const bool is_ended = is_in_force(epochs_[last], io);
  for (std::size_t i = is_ended || last == 0 ? last : last - 1; i <= last; ++i) {
    if (i == 0 && is_found_) {
      result.least = result.min_hard = before_.min_hard;
      result.min_classic = before_.min_classic;
      result.allowed = before_.allowed;
      result.is_exact = result.is_exact && before_.is_exact;
    } else {
      add(result, epochs_[i], io, crash);
    }
  }
  // Before the first hard checkpoint, integrity entries prove nothing.
  if (crash == Crash::power && !(has_integrity_ && result.min_hard > journal_start))
    result.is_exact = false;
  // A power cut may undo a truncation that was not synced.
  for (std::size_t i = 0; i < last; ++i)
    if (crash == Crash::power && epochs_[i].hard_only_since != never)
      for (const Promise& p : epochs_[i].promises)
        result.allowed.push_back({p.position, false, &epochs_[i].file});
  result.allowed.push_back({journal_start, true, &header_only});
  if (last > 0 && epochs_[last].end != never && !is_ended && !epochs_[last].is_adopted &&
      epochs_[last].found > journal_start)
    result.allowed.push_back({epochs_[last].found, false, &epochs_[last].file});
  return result;
}

// ---- the classic rule ---------------------------------------------------------------------------

Classic_Checkpoint classic_checkpoint(std::string_view image) {
  Classic_Checkpoint result;
  if (image.size() < checkpoint_words_size) return result;
  std::int64_t c[4];
  for (int i = 0; i < 4; ++i) {
    std::uint64_t word = 0;
    for (int byte = 7; byte >= 0; --byte)
      word = word << 8 | static_cast<unsigned char>(image[static_cast<std::size_t>(8 * i + byte)]);
    c[i] = static_cast<std::int64_t>(word);
  }
  const auto size = static_cast<std::int64_t>(image.size());
  for (int slot = 0; slot < 2; ++slot) {
    if (c[2 * slot] == c[2 * slot + 1] && c[2 * slot] >= result.hard_checkpoint)
      result.hard_checkpoint = c[2 * slot];
    for (int copy = 0; copy < 2; ++copy) {
      const std::int64_t word = c[2 * slot + copy];
      if (word < 0 && word >= -size && -word >= result.checkpoint) result.checkpoint = -word;
    }
  }
  result.checkpoint = std::max(result.checkpoint, result.hard_checkpoint);
  return result;
}

}  // namespace joedb::testing
