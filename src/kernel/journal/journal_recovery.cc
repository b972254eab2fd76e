#include "joedb/journal/writable_journal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "joedb/base/log.h"
#include "kernel/base/counted.h"
#include "kernel/base/shell_word.h"
#include "kernel/io/file_pieces.h"
#include "kernel/journal/integrity.h"

namespace joedb::inline v1 {

Unfinished_Transaction::Unfinished_Transaction(std::string_view file, Offset checkpoint_position,
                                               Offset file_size)
    : Exception(std::string(file) + " ends with an unfinished transaction: its checkpoint is at " +
                std::to_string(checkpoint_position) + ", the file has " +
                std::to_string(file_size) + " bytes. No running process is writing them. 'joedb " +
                "recover " + shell_word(file) + "' (or Recovery::keep) saves the last " +
                std::to_string(file_size - checkpoint_position) + " bytes in " + std::string(file) +
                ".tail-" + std::to_string(checkpoint_position) + ", and removes them"),
      path(file),
      checkpoint(checkpoint_position),
      size(file_size) {}

Journal_Recovery::Journal_Recovery(Abstract_File& file, Fail_Stop_File& out,
                                   Checkpoint_Reader& header, Checkpoint_Writer& checkpoints,
                                   Append_Buffer& buffer, Integrity_Writer& integrity,
                                   Recovery mode)
    : file_(file),
      out_(out),
      header_(header),
      checkpoints_(checkpoints),
      buffer_(buffer),
      integrity_(integrity),
      mode_(mode) {
  if (file.is_readonly())
    throw Exception(file.get_name() + " is opened for reading only and cannot be written");
  if (mode == Recovery::ignore_signature)
    throw Exception(file.get_name() +
                    ": a file whose signature is ignored can only be read (Readonly_Journal)");
  if (mode == Recovery::hard) require_presence_alone();
}

Journal_Recovery::~Journal_Recovery() {
  try {
    end_presence_alone();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

// Recovery::hard may remove a soft checkpoint that other processes have read, so no other process
// may have the file open.
void Journal_Recovery::require_presence_alone() {
  if (file_.is_shared())
    throw Exception(file_.get_name() +
                    ": Recovery::hard may remove checkpoints that others rely on. Open the file "
                    "alone (not shared)");
  if (!file_.try_exclusive_lock(presence_lock.start, presence_lock.size))
    throw Exception(file_.get_name() +
                    ": Recovery::hard may remove checkpoints that others rely on, and other "
                    "processes have the file open: end them first");
  is_alone_ = true;
}

void Journal_Recovery::end_presence_alone() {
  if (!std::exchange(is_alone_, false) || file_.is_inherited()) return;
  file_.shared_lock(presence_lock.start, presence_lock.size);
}

// ---- opening ------------------------------------------------------------------------------------

// The size is read while the locks are held. A size that was read earlier could include an
// unfinished transaction of another writer.
void Journal_Recovery::open() {
  const Offset size = file_.get_size();
  has_file_size_ = size != Abstract_File::unknown_size;
  if (is_blank(size)) {
    checkpoints_.create_header();
    return end_recovery();
  }
  header_.open(mode_, true);
  checkpoints_.open();
  is_finished_ = false;
  if (!has_file_size_) return;
  require_no_tail(size);
  // There is no tail now. Only another process can leave a tail later.
  if (mode_ == Recovery::none) mode_ = Recovery::keep;
  if (mode_ == Recovery::ignore_header) find_header_checkpoint(size);
}

// True for a new file or device, and for a file whose creation was interrupted by a power cut or a
// kill: such a file contains zeros, or a part of a header.
bool Journal_Recovery::is_blank(Offset file_size) const {
  if (file_size == 0 || file_size > journal_start) return file_size == 0;
  std::array<char, header_size> bytes;
  const std::size_t size = file_.pread(bytes.data(), bytes.size(), 0);
  const std::string_view content(bytes.data(), size);
  if (content.find_first_not_of('\0') == content.npos)
    return file_size != Abstract_File::unknown_size || size == header_size;
  const auto header = encode_header(Header());
  return size < header_size && std::string_view(header.data(), header.size()).starts_with(content);
}

// True if the bytes from `start` on are zeros that a preallocating writer may have left.
bool Journal_Recovery::is_preallocated(Offset start, Offset file_size) const {
  return file_size - start <= 2 * Preallocator::max_step && is_zero(file_, start, file_size);
}

void Journal_Recovery::require_no_tail(Offset file_size) const {
  const Offset checkpoint = header_.checkpoint();
  if (mode_ == Recovery::none && file_size > checkpoint && !is_preallocated(checkpoint, file_size))
    throw Unfinished_Transaction(file_.get_name(), checkpoint, file_size);
}

Checkpoints Journal_Recovery::read_checkpoints(Offset file_size, Offset limit) {
  Checkpoints in_header;
  in_header.read(header_.without_seals(header_.read_words(), file_size), limit);
  return in_header;
}

void Journal_Recovery::find_header_checkpoint(Offset file_size) {
  const Checkpoints in_header = read_checkpoints(file_size, header_.checkpoint());
  for (const Offset end : {in_header.checkpoint, in_header.hard_checkpoint})
    if (const auto entry = integrity_entry_before(file_, end)) integrity_.enable(entry->kind);
  if (in_header.checkpoint < header_.checkpoint()) header_checkpoint_ = in_header.checkpoint;
}

// ---- before the first write ---------------------------------------------------------------------

void Journal_Recovery::reopen(Offset size) {
  if (size > header_.checkpoint()) header_.require_no_hidden_checkpoint(size);
  is_finished_ = is_finished_ && !header_.had_seal() && size <= header_.checkpoint();
}

void Journal_Recovery::finish() {
  out_.require_no_failure();
  // No word may change before the last hard checkpoint is on disk (invariant 1).
  checkpoints_.sync_hard();
  if (header_.had_seal()) checkpoints_.replace_seal();
  const Offset checkpoint = header_.checkpoint();
  const Offset size = file_.get_size();
  if (size == Abstract_File::unknown_size) {
    if (mode_ == Recovery::hard) checkpoints_.invalidate_words_beyond(checkpoint);
  } else {
    const bool has_tail = size > checkpoint && !is_preallocated(checkpoint, size);
    if (has_tail && mode_ == Recovery::keep) keep_tail(size);
    checkpoints_.create_hard_slot();
    checkpoints_.invalidate_words_beyond(checkpoint);
    if (size > checkpoint) drop_tail(size);
    if (has_tail) note_dropped(size - checkpoint);
    if (mode_ == Recovery::overwrite && size == checkpoint)
      checkpoints_.write_soft(checkpoint);  // as joedb 10 does
  }
  end_recovery();
}

// From here on, only other processes can leave a tail.
void Journal_Recovery::end_recovery() {
  end_presence_alone();
  mode_ = Recovery::keep;
  is_finished_ = true;
}

// Creates a file. Never opens an existing file for writing, because it may be a link to another
// file. Returns nullopt if the file exists, and null if no file can be beside this kind of file.
static std::optional<std::unique_ptr<Abstract_File>> create(Abstract_Directory& beside,
                                                            const std::string& name) {
  try {
    return beside.open(name, Open_Mode::create_new);
  } catch (const Io_Error& error) {
    if (error.code != EEXIST) throw;
    return std::nullopt;
  }
}

// True if the file `name` contains the tail from `start` on, or its beginning. A process that was
// killed while it saved the same tail may have left such a file.
static bool is_part_of_tail(const Abstract_File& file, Offset start, const std::string& name) {
  constexpr std::size_t piece_size = std::size_t{1} << 16;
  try {
    const auto part = file.beside()->open(name, Open_Mode::read_existing);
    bool is_same = true;
    std::string own;
    for_each_piece(*part, 0, part->get_size(), piece_size,
                   [&](std::string_view bytes, Offset offset) {
                     own.resize(bytes.size());
                     own.resize(file.pread(own.data(), own.size(), start + offset));
                     is_same = is_same && own == bytes;
                   });
    return is_same;
  } catch (const Exception&) {
    return false;
  }
}

// Copies the tail to a new file. Returns the name of the file; an empty name if no file can be
// beside this kind of file.
std::string Journal_Recovery::copy_tail(Offset start) const {
  constexpr int max_tails = 1000;
  const std::string suffix = ".tail-" + std::to_string(start);
  const auto beside = file_.beside();
  for (int number = 1; number <= max_tails; ++number) {
    const std::string name = number == 1 ? suffix : suffix + "-" + std::to_string(number);
    auto tail = create(*beside, name);
    if (!tail && is_part_of_tail(file_, start, name)) {
      beside->remove_durably(name);
      tail = create(*beside, name);
    }
    if (!tail) continue;
    if (!*tail) return "";
    try {
      copy_end(file_, start, **tail);
      (*tail)->sync();
    } catch (...) {  // on a full disk, each attempt would leave another file
      try {
        beside->remove_durably(name);
      } catch (const std::exception&) {
      }
      throw;
    }
    return (*tail)->get_name();
  }
  return "";
}

void Journal_Recovery::keep_tail(Offset file_size) {
  const Offset start = header_.checkpoint();
  const std::string& name = file_.get_name();
  const std::string bytes = "the last " + counted(file_size - start, "byte") + " of " + name;
  try {
    saved_tail_ = copy_tail(start);
  } catch (const Io_Error& error) {
    const std::string word = shell_word(name);
    throw_io_error("an unfinished transaction, " + bytes + ", cannot be saved: " + error.action,
                   error.path, error.offset, error.code,
                   "Until then, nobody can write " + name + ". 'joedb recover " + word +
                       "' saves them when that is possible; 'joedb recover --recovery overwrite " +
                       word +
                       "' removes them; 'joedb client --recovery overwrite --keep-tail OTHER " +
                       word + "' saves them in another file, and removes them");
  }
  if (saved_tail_.empty())
    throw Exception(bytes + ", behind the checkpoint, cannot be saved beside it. " +
                    "Recovery::overwrite removes them");
}

void Journal_Recovery::note_dropped(Offset size) const {
  std::string text = file_.get_name() + ": removed " + counted(size, "byte") +
                     " behind the checkpoint at " + std::to_string(header_.checkpoint());
  if (mode_ == Recovery::keep) text += "; they are saved in " + saved_tail_;
  Recovery_Logger::note(text);
}

// True if the first bytes of an integrity entry are anywhere in [start, end), or if these bytes
// cannot be read.
static bool may_have_integrity(const Abstract_File& file, Offset start, Offset end) {
  constexpr std::size_t prefix_size = 9;  // opcode, size, and the magic without the kind
  constexpr Offset block = 1 << 16;
  const auto entry = encode_integrity({journal_start, 0, Integrity::sparse});
  const std::string_view prefix(entry.data(), prefix_size);
  std::string bytes;
  try {
    for (; start < end; start += block) {
      const Offset block_end = std::min(end, start + block + Offset{prefix_size} - 1);
      bytes.resize(static_cast<std::size_t>(block_end - start));
      file.read_exactly(bytes.data(), bytes.size(), start);
      if (bytes.find(prefix) != bytes.npos) return true;
    }
  } catch (const Io_Error&) {
    return true;
  }
  return false;
}

// Called before [start, end) is truncated. If these bytes may contain an integrity entry, they are
// first overwritten with zeros, and synced. Otherwise, after a power cut, the disk could have the
// old bytes with the soft checkpoint, but without the entries, of the next writer. If the old
// integrity entry ended at this checkpoint, readers would accept the old bytes. If its end differed
// from the checkpoint in one bit, readers would report a damaged checkpoint. The old entry may be
// the first integrity entry of the file, so it is searched for even if the journal has none. Zeros
// are written even where zeros are read: after a failed sync of another writer, the disk may still
// hold other bytes.
void Journal_Recovery::erase(Abstract_File& file, Offset start, Offset end) const {
  if (end - start > 2 * Preallocator::max_step) return;
  const bool has_integrity = integrity_.is_enabled() || header_.is_covered();
  if (!has_integrity && !may_have_integrity(file_, start, end)) return;
  file.write_zeros(start, end);
  file.datasync();
}

void Journal_Recovery::drop_tail(Offset file_size) {
  erase(out_, header_.checkpoint(), file_size);
  buffer_.truncate(header_.checkpoint());
}

// ---- changes by other processes -----------------------------------------------------------------

bool Journal_Recovery::has_tail_been_overtaken() {
  const Offset old = header_.checkpoint();
  return checkpoints_.update() != buffer_.flushed() || header_.checkpoint() != old;
}

void Journal_Recovery::require_adopted_tail() {
  if (!header_checkpoint_) return;
  const Offset checkpoint = header_.checkpoint();
  const Offset size = file_.get_size();
  const Checkpoints in_header = read_checkpoints(size, checkpoint);
  const bool has_zeros = !is_finished_ && size > checkpoint && is_zero(file_, checkpoint, size);
  if (in_header.checkpoint != *header_checkpoint_ || (size != checkpoint && !has_zeros))
    throw Exception(
        file_.get_name() +
        ": another process has written since the tail was adopted: open the file again");
}

// After a failed write or sync, the program knows that its transaction has failed. Any part of the
// transaction that stayed in the file would only make the next writer refuse the file, so it is
// removed. Bytes before a checkpoint in the header stay, even if this object does not trust that
// checkpoint, because its sync may be the one that failed.
void Journal_Recovery::cut_after_failure() noexcept {
  if (!is_finished_) return;
  try {
    const Offset size = file_.get_size();
    const Offset end = std::max({header_.checkpoint(), read_checkpoints(size, size).checkpoint,
                                 header_checkpoint_ ? buffer_.flushed() : journal_start});
    if (size <= end) return;
    erase(file_, end, size);
    file_.truncate(end);
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

}  // namespace joedb::inline v1
