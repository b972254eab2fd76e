#include "joedb/journal/readonly_journal.h"

#include <array>
#include <cstring>

namespace joedb::inline v1 {

static constexpr std::size_t block_size = std::size_t{1} << 18;

// A wrong length can ask for more than the file has: memory is taken as the bytes arrive.
void File_Decoder_Input::refill(std::size_t size) {
  const Offset start = position();
  std::size_t have = window().size();
  if (have > 0) std::memmove(buffer_.data(), window().data(), have);
  const auto wanted =
      std::max(size, static_cast<std::size_t>(std::min<Offset>(remaining(), block_size)));
  while (have < size) {
    const std::size_t target = std::min(wanted, std::max(block_size, 2 * have));
    if (buffer_.size() < target) buffer_.resize(target);
    const std::size_t n =
        file_.pread(buffer_.data() + have, target - have, start + static_cast<Offset>(have));
    have += n;
    set_window(buffer_.data(), have, start + static_cast<Offset>(have));
    if (n == 0)
      fail("Trying to read past the end of file: " + file_.get_name() + " ends at offset " +
           std::to_string(position() + static_cast<Offset>(have)));
  }
}

void File_Decoder_Input::read_at(char* out, std::size_t size, Offset offset) {
  file_.read_exactly(out, size, offset);
}

Readonly_Journal::Readonly_Journal(Abstract_File& file, Recovery recovery)
    : Readonly_Journal(file, Unopened()) {
  const File_Lock head(file_, head_lock, File_Lock::Kind::shared);
  const Offset size = file_.get_size();
  if (size == 0) throw Corruption_Error("file is empty", 0);
  open_header(recovery, size, false);
  start_replay_at(journal_start);
}

void Readonly_Journal::open_header(Recovery recovery, Offset file_size, bool is_writer) {
  std::array<char, header_size> bytes;
  file_.read_exactly(bytes.data(), bytes.size(), 0);
  const Header header = decode_header(bytes);
  if (std::string_view(header.signature.data(), header.signature.size()) != signature)
    throw Corruption_Error("missing joedb signature", signature_offset);
  const bool size_is_known = file_size != Abstract_File::unknown_size;

  // A reader may ignore the version; what a writer adds must be readable.
  if (header.version != format_version && (recovery != Recovery::ignore_header || is_writer))
    throw Corruption_Error("unsupported file format version",
                           static_cast<Offset>(checkpoint_words_size));

  if (recovery == Recovery::ignore_header && size_is_known) {
    // Only the place of a hard checkpoint that may still be needed is taken from the header.
    for (int slot = 0; slot < 2; ++slot) {
      const std::int64_t word = header.checkpoints[2 * static_cast<std::size_t>(slot)];
      if (word == header.checkpoints[2 * static_cast<std::size_t>(slot) + 1] &&
          word > checkpoints_.hard_checkpoint && word <= file_size) {
        checkpoints_.hard_checkpoint = word;
        checkpoints_.hard_index = slot;
      }
    }
    checkpoints_.checkpoint = std::max(journal_start, file_size);
    return;
  }

  checkpoints_.read(header.checkpoints,
                    size_is_known ? std::optional<Offset>(file_size) : std::nullopt);
  if (recovery == Recovery::hard) checkpoints_.checkpoint = get_hard_checkpoint();
  if (size_is_known && file_size < checkpoints_.checkpoint)
    throw Corruption_Error("Checkpoint is bigger than file size", file_size);
}

Checkpoint_Words Readonly_Journal::read_words() const {
  std::array<char, checkpoint_words_size> bytes;
  file_.read_exactly(bytes.data(), bytes.size(), 0);
  return decode_checkpoints(bytes);
}

void Readonly_Journal::read_checkpoints() {
  const Offset size = file_.get_size();
  Checkpoints next = checkpoints_;
  next.read(read_words(),
            size == Abstract_File::unknown_size ? std::nullopt : std::optional<Offset>(size));
  if (size != Abstract_File::unknown_size && size < next.checkpoint)
    throw Corruption_Error("Checkpoint is bigger than file size", size);
  checkpoints_ = next;
}

Offset Readonly_Journal::pull() {
  const Offset old = get_checkpoint();
  const File_Lock head(file_, head_lock, File_Lock::Kind::shared);
  read_checkpoints();
  return get_checkpoint() - old;
}

void Readonly_Journal::rewind() {
  context_ = {};
  is_broken_ = false;
  start_replay_at(journal_start);
}

void Readonly_Journal::fail_replay(const char* what) { input_.fail(what); }

}  // namespace joedb::inline v1
