#include "joedb/journal/checkpoint_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "joedb/format/seal.h"
#include "joedb/journal/integrity.h"
#include "joedb/journal/replay.h"

namespace joedb::inline v1 {

void Checkpoint_Reader::open(Recovery recovery, bool is_writer) {
  std::array<char, header_size> bytes;
  file_.read_exactly(bytes.data(), bytes.size(), 0);
  Header header = decode_header(bytes);
  if (!is_writer) header.checkpoints = stable(header.checkpoints);
  // Only now: what the words claim was there before them.
  const Offset file_size = file_.get_size();
  const bool ignores_signature = recovery == Recovery::ignore_signature && !is_writer;
  const bool ignores_header = recovery == Recovery::ignore_header || ignores_signature;
  if (!ignores_signature &&
      std::string_view(header.signature.data(), header.signature.size()) != signature)
    throw Corruption_Error(file_.get_name() + ": missing joedb signature", signature_offset,
                           file_.get_name());

  // A reader may ignore the version; what a writer adds must be readable.
  if (header.version != format_version && (!ignores_header || is_writer))
    throw Corruption_Error(
        file_.get_name() + ": unsupported file format version " + std::to_string(header.version),
        static_cast<Offset>(checkpoint_words_size), file_.get_name());

  const bool size_is_known = file_size != Abstract_File::unknown_size;
  header.checkpoints = without_seals(header.checkpoints, file_size);
  if (ignores_header && size_is_known) return take_whole_file(header.checkpoints, file_size);
  checkpoints_.read(header.checkpoints,
                    size_is_known ? std::optional<Offset>(file_size) : std::nullopt);
  if (recovery == Recovery::hard) checkpoints_.checkpoint = hard_checkpoint();
  if (size_is_known) require_claimed_bytes(header.checkpoints, file_size, recovery);
  check_integrity();
}

static std::string hard_checkpoint_text(Offset hard) {
  return ". The last hard checkpoint is at " + std::to_string(hard) +
         (hard > journal_start ? ": --recovery hard opens the file there"
                               : ", before the first entry");
}

// Only the place of a hard checkpoint that may still be needed is taken from the header.
void Checkpoint_Reader::take_whole_file(const Checkpoint_Words& words, Offset file_size) {
  bool has_hard_slot = false;
  for (int slot = 0; slot < 2; ++slot) {
    const auto first = 2 * static_cast<std::size_t>(slot);
    const std::int64_t word = words[first];
    const bool is_hard = word == words[first + 1] && word >= hard_checkpoint() && word <= file_size;
    if (!is_hard || (has_hard_slot && word == hard_checkpoint())) continue;
    checkpoints_.hard_checkpoint = word;
    checkpoints_.hard_index = slot;
    has_hard_slot = true;
  }
  if (!has_hard_slot) {  // the slot of a soft checkpoint must not be taken for that of a hard one
    Checkpoints in_header;
    in_header.read(words, file_size);
    checkpoints_.hard_index = in_header.hard_index;
    checkpoints_.soft_index = in_header.soft_index;
  }
  checkpoints_.checkpoint = std::max(journal_start, end_of_entries(file_size));
  checks_integrity_ = false;
}

// A hard checkpoint is written when its bytes are on disk: where the file ends before one, the file
// was truncated. A soft one may survive a power cut that its bytes did not survive, so that it does
// not count; but a file that has entries is not shown as an empty one.
void Checkpoint_Reader::require_claimed_bytes(const Checkpoint_Words& words, Offset file_size,
                                              Recovery recovery) const {
  const auto fail = [&](const std::string& what) {
    throw Corruption_Error(file_.get_name() + " is damaged: " + what +
                               hard_checkpoint_text(hard_checkpoint()) +
                               "; --recovery ignore_header reads all entries of the file",
                           file_size, file_.get_name());
  };
  bool has_checkpoint = false;
  std::int64_t missing = 0;
  for (std::size_t slot = 0; slot < 4; slot += 2) {
    const bool is_pair = words[slot] == words[slot + 1];
    if (is_pair && words[slot] > file_size && recovery != Recovery::hard)
      fail("its header has a hard checkpoint at " + std::to_string(words[slot]) +
           ", and the file ends at " + std::to_string(file_size));
    has_checkpoint = has_checkpoint || (is_pair && words[slot] >= journal_start);
    for (const std::int64_t word : {words[slot], words[slot + 1]}) {
      has_checkpoint = has_checkpoint || (word <= -journal_start && word >= -file_size);
      if (word < -file_size && word > std::numeric_limits<std::int64_t>::min()) missing = -word;
    }
  }
  if (recovery != Recovery::none) missing = 0;
  if (checkpoint() > journal_start || (has_checkpoint && missing == 0) ||
      file_.is_zero(journal_start, file_size))
    return;
  if (has_checkpoint)
    fail("its header has a soft checkpoint at " + std::to_string(missing) +
         ", and the file ends at " + std::to_string(file_size));
  fail("its header has no checkpoint, and the file has " + std::to_string(file_size) + " bytes");
}

void Checkpoint_Reader::fail_in_file(const Corruption_Error& error, bool names_hard) const {
  const Offset hard = hard_checkpoint();
  const std::string more =
      names_hard && hard < checkpoint() ? hard_checkpoint_text(hard) : std::string();
  const bool is_named = !error.path.empty() && error.reason() == error.what();
  if (is_named) throw Corruption_Error(error.what() + more, error.offset, error.path);
  throw Corruption_Error::in_file(file_.get_name(), error.reason() + more, error.offset);
}

// Where integrity entries are used, a checkpoint without one is a soft one whose bytes a power cut
// has damaged, or that of a program that does not write them.
void Checkpoint_Reader::check_integrity() {
  if (!checks_integrity_) return;
  const Offset hard = hard_checkpoint();
  Integrity_Reader reader(file_);
  try {
    if (reader.check(checkpoint(), covered_)) {
      covered_ = checkpoint();
      return;
    }
    if (hard < checkpoint() && hard > journal_start && reader.entry_before(hard))
      throw Corruption_Error::in_file(
          file_.get_name(),
          "no integrity entry stands before the soft checkpoint at " +
              std::to_string(checkpoint()) +
              ": damaged by a power cut, or written by a program without integrity entries",
          checkpoint());
  } catch (const Corruption_Error& error) {
    fail_in_file(error, true);
  }
}

// Zeros behind the last entry are none: no entry begins with one. An error in the entries is left
// to those who replay them.
Offset Checkpoint_Reader::end_of_entries(Offset file_size) const {
  if (file_size <= journal_start || !file_.is_zero(file_size - 1, file_size)) return file_size;
  File_Decoder_Input input(file_);
  Context context;
  input.start(journal_start, file_size);
  try {
    decode_entries(input, context, Ignore_Entries(), file_size);
  } catch (const Corruption_Error&) {
    if (file_.is_zero(input.entry_offset(), file_size)) return input.entry_offset();
  }
  return file_size;
}

Checkpoint_Words Checkpoint_Reader::read_words() const {
  Checkpoint_Words words;
  file_.load_words(words, 0);
  return words;
}

// Seals that say nothing new are not looked at.
Checkpoint_Words Checkpoint_Reader::without_seals(Checkpoint_Words words, Offset file_size) {
  had_seal_ = false;
  for (std::size_t slot = 0; slot < 4; slot += 2) {
    const Offset position = words[slot];
    const Offset size = sealed_size(words[slot + 1]);
    if (size > 0 && position >= hard_checkpoint() && position - size >= journal_start &&
        (file_size == Abstract_File::unknown_size || position <= file_size) &&
        seal_of(position - size, position) == words[slot + 1]) {
      words[slot + 1] = position;
      had_seal_ = true;
    }
  }
  return words;
}

std::int64_t Checkpoint_Reader::seal_of(Offset start, Offset position) const {
  std::string body(static_cast<std::size_t>(position - start), '\0');
  body.resize(file_.pread(body.data(), body.size(), start));
  return make_seal(body, position);
}

// A writer may store words while they are read: a mixture of old and new ones can say less than
// was acknowledged. The same words never come back, so what was read twice stood there at once.
Checkpoint_Words Checkpoint_Reader::stable(Checkpoint_Words words) const {
  constexpr int most_tries = 100;  // somebody may write checkpoints without a pause
  for (int i = 0; i < most_tries; ++i) {
    const Checkpoint_Words again = read_words();
    if (again == words) break;
    words = again;
  }
  return words;
}

Offset Checkpoint_Reader::update(const Checkpoint_Words& words) {
  const Offset size = file_.get_size();
  Checkpoints next = checkpoints_;
  const Checkpoint_Words proved = without_seals(words, size);
  if (size == Abstract_File::unknown_size) {
    next.read(proved, std::nullopt);
  } else {
    require_claimed_bytes(proved, size, Recovery::keep);
    next.read(proved, size);
    if (size < next.checkpoint)
      throw Corruption_Error(file_.get_name() + " was truncated to " + std::to_string(size) +
                                 " bytes: its checkpoint was at " + std::to_string(next.checkpoint),
                             size, file_.get_name());
  }
  if (next == checkpoints_) return size;
  const Checkpoints old = std::exchange(checkpoints_, next);
  try {
    check_integrity();
  } catch (...) {
    checkpoints_ = old;
    throw;
  }
  return size;
}

Offset Checkpoint_Reader::pull() {
  const Offset old = checkpoint();
  update(stable(read_words()));
  return checkpoint() - old;
}

}  // namespace joedb::inline v1
