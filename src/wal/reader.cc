#include "joedb/wal/log.h"

#include <algorithm>

#include "joedb/base/types.h"
#include "joedb/io/posix_file.h"
#include "kernel/base/zeros.h"
#include "wal/checksum.h"
#include "wal/format.h"
#include "wal/source.h"
#include "wal/wait.h"

namespace joedb::inline v1::wal {

struct Reader::State {
  std::unique_ptr<Source> source;
  bool has_begun = false;
  Header header;
  std::uint32_t epoch = 0;                // epoch_crc of the header
  std::optional<std::uint32_t> previous;  // CRC of the last entry; nullopt after a seek
  std::uint64_t known_durable = 0;
  Offset not_zero = 0;  // format `cwal`: bytes before this are zeros; 0 if unknown
};

Reader::Reader(std::unique_ptr<Source> source) : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
  state_->source->refresh();
  begin();
}

Reader::Reader(const Abstract_File& file) : Reader(std::make_unique<File_Source>(file)) {}

Reader::Reader(const std::string& file)
    : Reader(
          std::make_unique<File_Source>(std::make_unique<File>(file, Open_Mode::read_existing))) {}

Reader Reader::map(const std::string& file) { return Reader(std::make_unique<Map_Source>(file)); }

Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

std::uint64_t Reader::log_id() const { return state_->header.log_id; }
std::uint64_t Reader::epoch() const { return state_->header.epoch; }
std::uint64_t Reader::known_durable() const { return state_->known_durable; }
std::uint32_t Reader::last_crc() const { return state_->previous.value_or(0); }

// Reads the header. Returns false if the file has no header yet.
bool Reader::begin() {
  State& s = *state_;
  if (s.has_begun) return true;
  const Abstract_File& file = s.source->file();
  if (const auto found = read_header(file)) {
    format_ = Format::checked;
    s.header = found->header;
    s.epoch = epoch_crc(s.header);
    s.previous = s.epoch;
    s.known_durable = 0;
    next_ = {s.header.first_sequence, log_start};
  } else {
    if (is_blank(file)) return false;
    format_ = Format::cwal;
    next_ = {1, 0};
  }
  return s.has_begun = true;
}

void Reader::seek_first() {
  State& s = *state_;
  s.source->refresh();
  s.has_begun = false;
  s.not_zero = 0;
  if (!begin()) next_ = {1, 0};
}

// Continues with a new epoch, if there is one. Returns false if unread entries were overwritten.
bool Reader::follow_rotation() {
  State& s = *state_;
  if (format_ != Format::checked) return true;
  const auto found = read_header(s.source->file());
  if (!found) return true;
  const bool is_same_log = found->header.log_id == s.header.log_id;
  if (is_same_log && found->header.epoch <= s.header.epoch) return true;
  if (!is_same_log || found->header.first_sequence != next_.sequence) return false;
  s.has_begun = false;
  begin();
  return true;
}

std::optional<Entry> Reader::stop(Stop reason) {
  state_->source->require_intact();
  end_ = {reason, next_};
  return std::nullopt;
}

std::optional<Entry> Reader::next() {
  State& s = *state_;
  const auto take = [&] { return format_ == Format::checked ? take_checked() : take_cwal(); };
  if (s.has_begun)
    if (auto entry = take()) return entry;
  if (!begin()) return stop(Stop::clean);
  // The file may have grown meanwhile.
  s.source->refresh();
  s.not_zero = 0;
  if (!follow_rotation()) return stop(Stop::overwritten);
  if (s.source->size() < next_.offset)  // in format `cwal`, a reset truncates the file
    return stop(format_ == Format::checked ? Stop::torn : Stop::overwritten);
  return take();
}

void Reader::require_not_replaced() const {
  const Abstract_File& file = state_->source->file();
  file.require_not_replaced();
  if (format_ == Format::cwal || !state_->has_begun)
    return;  // in format `cwal`, a reset truncates the file
  const Offset size = file.get_size();
  if (size != Abstract_File::unknown_size && size < next_.offset)
    throw File_Replaced(file.get_name(), "was truncated by another program, to " +
                                             std::to_string(size) + " of " +
                                             std::to_string(next_.offset) + " bytes");
}

std::optional<Entry> Reader::wait_for_next(std::chrono::milliseconds timeout, System& system) {
  return wait_for(*this, timeout, system);
}

std::optional<Entry> Reader::take_checked() {
  State& s = *state_;
  for (;;) {
    std::string_view bytes = s.source->view(next_.offset, entry_header_size);
    if (are_zeros(bytes)) return stop(Stop::clean);
    if (bytes.size() < entry_header_size) return stop(Stop::torn);
    const auto header = load<Entry_Header>(bytes.data());
    if (header.sequence != 0 && header.sequence < s.header.first_sequence)
      return stop(Stop::wrong_epoch);
    const std::size_t size = entry_header_size + length_of(header);
    if (length_of(header) > max_entry_size) return stop(Stop::checksum);
    if (static_cast<Offset>(size) > s.source->size() - next_.offset)
      return stop(header.sequence == next_.sequence ? Stop::torn : Stop::checksum);
    bytes = s.source->view(next_.offset, size);
    if (bytes.size() < size) return stop(Stop::torn);
    // The bytes are read before require_intact is called: lost bytes of a truncated map read as
    // zeros, which require_intact detects only afterwards.
    const bool is_good = entry_crc(bytes, s.epoch) == header.crc;
    s.source->require_intact();
    if (!is_good) return stop(Stop::checksum);
    if (header.sequence != next_.sequence || (s.previous && header.previous != *s.previous))
      return stop(Stop::wrong_order);
    const Entry entry{next_, bytes.substr(entry_header_size)};
    s.previous = header.crc;
    s.known_durable = std::max(s.known_durable, durable_before(header));
    next_.offset += static_cast<Offset>(padded_size(length_of(header)));
    if (is_marker(header)) continue;
    ++next_.sequence;
    return entry;
  }
}

// Searches from next_ on for a byte that is not zero. Stops at the end of the file.
void Reader::find_not_zero() {
  State& s = *state_;
  for (s.not_zero = next_.offset; s.not_zero < s.source->size();) {
    const std::string_view block = s.source->view(s.not_zero, std::size_t{1} << 16);
    const std::size_t zeros = count_zeros(block);
    s.not_zero += static_cast<Offset>(zeros);
    if (zeros < block.size() || block.empty()) return;
  }
}

// In this format, zeros are empty entries. But zeros up to the end of the file count as the end of
// the log, because a power cut may leave them.
std::optional<Entry> Reader::take_cwal() {
  State& s = *state_;
  constexpr std::size_t length_size = sizeof(std::uint64_t);
  std::string_view bytes = s.source->view(next_.offset, cwal_overhead);
  if (are_zeros(bytes)) {
    if (s.not_zero <= next_.offset) find_not_zero();
    if (s.not_zero >= s.source->size()) {
      s.not_zero = 0;
      return stop(Stop::clean);
    }
    bytes = s.source->view(next_.offset, cwal_overhead);
  }
  if (bytes.size() < cwal_overhead) return stop(Stop::torn);
  const auto length = load<std::uint64_t>(bytes.data());
  const auto left = static_cast<std::uint64_t>(s.source->size() - next_.offset) - cwal_overhead;
  if (length > left || length > max_entry_size) return stop(Stop::torn);
  const std::size_t size = cwal_overhead + static_cast<std::size_t>(length);
  bytes = s.source->view(next_.offset, size);
  if (bytes.size() < size) return stop(Stop::torn);
  const std::string_view text = bytes.substr(length_size, size - cwal_overhead);
  const auto crc = load<std::uint32_t>(text.data() + text.size());
  const bool is_good = crc32(text) == crc;
  s.source->require_intact();
  if (!is_good) return stop(Stop::checksum);
  const Entry entry{next_, text};
  next_ = {next_.sequence + 1, next_.offset + static_cast<Offset>(size)};
  return entry;
}

void Reader::seek(Position position) {
  State& s = *state_;
  if (position == next_) return;
  s.source->refresh();
  // The log may have been created or reset since its header was read.
  const auto found = read_header(s.source->file());
  if (found && found->header != s.header) s.has_begun = false;
  const bool is_log = begin();
  const Position next_before = next_;
  const auto previous_before = s.previous;
  const auto refuse = [&] {
    next_ = next_before;
    s.previous = previous_before;
    throw Exception(s.source->file().get_name() + ": there is no good entry " +
                    std::to_string(position.sequence) + " at offset " +
                    std::to_string(position.offset));
  };
  const Offset start = format_ == Format::checked ? log_start : 0;
  const bool is_aligned = format_ != Format::checked || position.offset % 8 == 0;
  if (!is_log || position.offset < start || position.offset >= s.source->size() || !is_aligned)
    refuse();
  next_ = position;
  s.previous.reset();
  s.not_zero = 0;
  const auto entry = format_ == Format::checked ? take_checked() : take_cwal();
  if (!entry) refuse();
  next_ = position;
  s.previous.reset();
}

}  // namespace joedb::inline v1::wal
