#include "joedb/journal/readonly_journal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "joedb/io/fail_stop_file.h"
#include "kernel/format/seal.h"
#include "kernel/io/file_pieces.h"
#include "kernel/journal/integrity.h"

namespace joedb::inline v1 {

void Checkpoint_Reader::open(Recovery recovery, bool is_writer) {
  std::array<char, header_size> bytes;
  file_.read_exactly(bytes.data(), bytes.size(), 0);
  Header header = decode_header(bytes);
  if (!is_writer) header.checkpoints = stable(header.checkpoints);
  // The size must be read after the words. The bytes that a word claims were written to the file
  // before the word (invariant 3), so the size that is read now includes these bytes.
  const Offset file_size = file_.get_size();
  const bool ignores_signature = recovery == Recovery::ignore_signature && !is_writer;
  const bool ignores_header = recovery == Recovery::ignore_header || ignores_signature;
  if (!ignores_signature && !header.has_signature())
    throw Corruption_Error(file_.get_name() + ": missing joedb signature", signature_offset,
                           file_.get_name());

  // A reader may ignore the version. A writer must not, because other programs must be able to read
  // the entries that the writer appends.
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
  if (size_is_known) require_claimed_bytes(header.checkpoints, checkpoint(), file_size, recovery);
  if (recovery != Recovery::hard) require_no_hidden_checkpoint(header.checkpoints, file_size);
  check_integrity();
}

static std::string hard_checkpoint_text(Offset hard) {
  return ". The last hard checkpoint is at " + std::to_string(hard) +
         (hard > journal_start ? ": --recovery hard opens the file there"
                               : ", before the first entry");
}

// Recovery::ignore_header: the checkpoint is the end of the file's entries. Only the hard
// checkpoint and its slot are taken from the header, because a writer must not overwrite a slot
// that may still be needed.
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
  if (!has_hard_slot) {  // must not be the slot of a soft checkpoint
    Checkpoints in_header;
    in_header.read(words, file_size);
    checkpoints_.hard_index = in_header.hard_index;
    checkpoints_.soft_index = in_header.soft_index;
  }
  checkpoints_.checkpoint = std::max(journal_start, end_of_entries(file_size));
  checks_integrity_ = false;
}

// True if the words hold a hard checkpoint, or a soft checkpoint within the file.
static bool has_checkpoint_within(const Checkpoint_Words& words, Offset file_size) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if ((words[i] == words[i ^ 1] && words[i] >= journal_start) ||
        (words[i] <= -journal_start && words[i] >= -file_size))
      return true;
  return false;
}

// Returns the position in a soft word that claims more bytes than the file has; nullopt if there is
// no such word.
static std::optional<Offset> missing_soft_checkpoint(const Checkpoint_Words& words,
                                                     Offset file_size) {
  for (const std::int64_t word : words)
    if (word < -file_size && word > std::numeric_limits<std::int64_t>::min()) return -word;
  return std::nullopt;
}

// Returns a text that also says what can still be read: the file up to the hard checkpoint, and a
// copy of all whole entries.
std::string Checkpoint_Reader::damage_text(const std::string& what, Offset file_size) const {
  std::string text =
      file_.get_name() + " is damaged: " + what + hard_checkpoint_text(hard_checkpoint());
  const Offset whole = end_of_whole_entries(file_size);
  if (whole == file_size)
    text += "; --recovery ignore_header reads all entries of the file";
  else if (whole > journal_start)
    text += "; its entries are whole up to offset " + std::to_string(whole) +
            ": joedb_push --recovery ignore_header --until " + std::to_string(whole) +
            " FILE file NEW_FILE copies them";
  return text;
}

void Checkpoint_Reader::fail_as_damaged(const std::string& what, Offset file_size) const {
  throw Corruption_Error(damage_text(what, file_size), file_size, file_.get_name());
}

// A hard checkpoint is written when its bytes are on disk. So if the file ends before a hard
// checkpoint, the file was truncated. A soft checkpoint may survive a power cut in which its bytes
// were lost, and then does not count. But a file that has or had entries is not opened as an empty
// file, except with Recovery::hard.
void Checkpoint_Reader::require_claimed_bytes(const Checkpoint_Words& words, Offset found,
                                              Offset file_size, Recovery recovery) const {
  const bool has_checkpoint = has_checkpoint_within(words, file_size);
  const auto fail = [&](const char* level, Offset position) {
    fail_as_damaged(std::string("its header has a ") + level + " checkpoint at " +
                        std::to_string(position) + ", and the file ends at " +
                        std::to_string(file_size),
                    file_size);
  };
  if (recovery != Recovery::hard) {
    for (std::size_t slot = 0; slot < 4; slot += 2)
      if (words[slot] == words[slot + 1] && words[slot] > file_size) fail("hard", words[slot]);
    const auto missing = missing_soft_checkpoint(words, file_size);
    if (found == journal_start && has_checkpoint && missing) fail("soft", *missing);
  }
  if (found > journal_start || has_checkpoint || is_zero(file_, journal_start, file_size)) return;
  fail_as_damaged(
      "its header has no checkpoint, and the file has " + std::to_string(file_size) + " bytes",
      file_size);
}

// ---- hidden checkpoints -------------------------------------------------------------------------

// True if the words differ in exactly one bit.
static bool is_one_bit_from(std::int64_t a, std::int64_t b) {
  return std::has_single_bit(static_cast<std::uint64_t>(a ^ b));
}

// Returns the end of the bytes after the checkpoint, excluding zeros that a preallocating writer
// may have left. A hash at the end may itself end with zeros; the caller handles this case.
static Offset end_of_tail(const Abstract_File& file, Offset start, Offset file_size) {
  constexpr Offset block = 1 << 16;
  start = std::max(start, file_size - 2 * Preallocator::max_step);
  std::string bytes;
  for (Offset end = file_size; end > start;) {
    const Offset from = std::max(start, end - block);
    bytes.resize(static_cast<std::size_t>(end - from));
    file.read_exactly(bytes.data(), bytes.size(), from);
    const std::size_t last = bytes.find_last_not_of('\0');
    if (last != bytes.npos) return from + static_cast<Offset>(last) + 1;
    end = from;
  }
  return file_size;
}

// A writer appends an integrity entry, then writes a word. If it is killed between the two, all
// words of the header were written earlier: they are positions at which an integrity entry, or at
// least an entry, ends. So if a word is not such a position, and differs in one bit from the end of
// undamaged bytes after the checkpoint, a bit of the word has flipped on the disk. If these bytes
// were treated as an unfinished transaction, acknowledged entries would be removed.
void Checkpoint_Reader::require_no_hidden_checkpoint(const Checkpoint_Words& words,
                                                     Offset file_size) const {
  const Offset start = checkpoint();
  if (!checks_integrity_ || file_size == Abstract_File::unknown_size || file_size <= start) return;
  const Offset first = end_of_tail(file_, start, file_size);
  Integrity_Reader reader(file_, first - integrity_entry_size);
  Offset end = std::min(file_size, first + static_cast<Offset>(sizeof(std::uint64_t)));
  while (end > first && !reader.entry_before(end)) --end;
  const auto hides_end = [&](std::size_t i) {
    const std::int64_t word = words[i];
    if (word == words[i ^ 1]) return false;  // that a bit flips in both copies is unlikely
    if (i % 2 == 1 && words[i - 1] == end && is_one_bit_from_seal(word, end)) return true;
    return (is_one_bit_from(word, end) || is_one_bit_from(word, -end)) &&
           !is_checkpoint_of_writer(word < 0 ? -word : word);
  };
  const auto is_good = [&] {
    try {
      return Integrity_Reader(file_).check(end, start);
    } catch (const Corruption_Error&) {
      return false;
    }
  };
  for (std::size_t i = 0; i < words.size(); ++i)
    if (hides_end(i) && is_good())
      throw Hidden_Checkpoint(
          damage_text("a bit of its header has changed that hides the checkpoint at " +
                          std::to_string(end) + ", up to which the bytes are good",
                      file_size),
          file_size, file_.get_name(), end);
}

// If a bit of the size in the seal has flipped, the number of bytes that the seal covers can only
// be derived from the previous hard checkpoint. So both sizes are tried.
bool Checkpoint_Reader::is_one_bit_from_seal(std::int64_t word, Offset position) const {
  const Offset sizes[] = {(word >> 40) & (seal_limit - 1), position - hard_checkpoint()};
  return std::any_of(std::begin(sizes), std::end(sizes), [&](Offset size) {
    return size > 0 && size < seal_limit && size <= position - journal_start &&
           is_one_bit_from(word, seal_of(position - size, position));
  });
}

// True if a writer may have written a checkpoint at this position.
bool Checkpoint_Reader::is_checkpoint_of_writer(Offset position) const {
  if (position > file_.get_size() || position <= journal_start) return position == journal_start;
  if (integrity_entry_before(file_, position)) return true;
  return end_of_whole_entries(position) == position;
}

static const std::string advice = "; joedb_verify says what is good";

// If the damaged bytes are after the hard checkpoint, Replay adds the hard checkpoint to the text.
void Checkpoint_Reader::fail_in_replay(const Corruption_Error& error, Offset end) const {
  const Offset hard = hard_checkpoint();
  if (error.offset >= hard) throw error;
  throw Corruption_Error(error.what() + (end > hard ? hard_checkpoint_text(hard) : advice),
                         error.offset, error.path);
}

void Checkpoint_Reader::fail_in_file(const Corruption_Error& error, bool names_hard) const {
  const Offset hard = hard_checkpoint();
  std::string more;
  if (names_hard) more = hard < checkpoint() ? hard_checkpoint_text(hard) : advice;
  const bool is_named = !error.path.empty() && error.reason() == error.what();
  if (is_named) throw Corruption_Error(error.what() + more, error.offset, error.path);
  throw Corruption_Error::in_file(file_.get_name(), error.reason() + more, error.offset);
}

// If writers append an integrity entry before each checkpoint, a soft checkpoint without such an
// entry is an error: either a power cut has damaged the bytes before it, or a program that does not
// write integrity entries has written it.
void Checkpoint_Reader::check_integrity() {
  if (!checks_integrity_) return;
  const Offset hard = hard_checkpoint();
  try {
    const auto last = integrity_entry_before(file_, checkpoint());
    if (last && last->kind == Integrity::sparse) return;
    if (Integrity_Reader(file_).check(checkpoint(), covered_)) {
      set_covered(checkpoint(), Integrity::each_checkpoint);
      return;
    }
    if (hard >= checkpoint() || hard == journal_start) return;
    const auto before_hard = integrity_entry_before(file_, hard);
    if (before_hard && before_hard->kind == Integrity::each_checkpoint)
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

void Checkpoint_Reader::resume(Offset position, Offset covered) {
  resumed_at_ = position;
  if (position <= covered_ || !checks_integrity_) return;
  if (const auto entry = integrity_entry_before(file_, position))
    set_covered(position, entry->kind);
  else
    covered_ = std::max(covered_, std::min(covered, position));
}

// Zeros after the last entry are not entries, because no entry begins with a zero. Replay will
// report errors in the entries.
Offset Checkpoint_Reader::end_of_entries(Offset file_size) const {
  if (file_size <= journal_start || !is_zero(file_, file_size - 1, file_size)) return file_size;
  const Offset end = end_of_whole_entries(file_size);
  return is_zero(file_, end, file_size) ? end : file_size;
}

Offset Checkpoint_Reader::end_of_whole_entries(Offset file_size) const {
  if (file_size <= journal_start) return journal_start;
  File_Decoder_Input input(file_);
  Context context;
  input.start(journal_start, file_size);
  try {
    decode_entries(input, context, Ignore_Entries(), file_size);
  } catch (const Corruption_Error&) {
    return input.entry_offset();
  }
  return file_size;
}

Checkpoint_Words Checkpoint_Reader::read_words() const {
  Checkpoint_Words words;
  file_.load_words(words, 0);
  return words;
}

// Seals of positions before the known hard checkpoint are not checked.
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

// A writer may store words while they are read, and a mixture of old and new words can claim fewer
// bytes than were acknowledged. Once words were replaced, the same words are never written again.
// So if two reads return the same words, these words were all in the file at the same time.
Checkpoint_Words Checkpoint_Reader::stable(Checkpoint_Words words) const {
  constexpr int max_tries = 100;  // a writer may write checkpoints without a pause
  for (int i = 0; i < max_tries; ++i) {
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
    next.read(proved, size);
    require_claimed_bytes(proved, next.checkpoint, size, Recovery::keep);
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
  update(read_stable_words());
  return checkpoint() - old;
}

}  // namespace joedb::inline v1
