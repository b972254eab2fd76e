#include "joedb/wal/log.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/base/types.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/io/posix_file.h"
#include "wal/checksum.h"
#include "wal/recovery.h"

// Invariants of a log of format `checked`:
//
// 1. Entries are written only after the header of their epoch is durable. So entries of an epoch
//    are overwritten only after the header of the next epoch is durable, and no sequence is used
//    twice in an epoch.
// 2. Entries are acknowledged only after a sync that began after they were written to the file.
// 3. Stale bytes past the end, from an earlier writer, must not reappear between new entries. So
//    there are durable zeros where the next entry begins. A marker with a random number is written
//    there first; the checksums of all later entries are chained to this marker.
// 4. If the file does not end with the last entry, zeros follow the last entry, so that a reader
//    finds no stale entry there.

namespace joedb::inline v1::wal {

namespace {

void validate(const Options& options) {
  constexpr std::size_t most = std::size_t{1} << 30;
  if (options.buffer_size < 1 || options.buffer_size > most)
    throw Exception("the buffer of a log has 1 to 2^30 bytes");
  if (options.batch_size < 0) throw Exception("a batch cannot have less than 0 bytes");
}

}  // namespace

class Writer::Implementation {
 public:
  // `start` is the header to which the file is reset. If null, the log in the file is continued.
  Implementation(std::unique_ptr<Abstract_File> owned, Abstract_File& file, Options options,
                 const Header* start = nullptr)
      : owned_(std::move(owned)),
        file_(file),
        options_(std::move(options)),
        preallocator_(file, file_) {
    validate(options_);
    preallocator_.set_step(options_.preallocate);
    if (file.is_readonly() || file.is_shared())
      throw Exception(file.get_name() + ": the writer of a log must be alone");
    if (start != nullptr)
      open_again(file, *start);
    else
      open(file);
    buffer_ = std::make_unique<char[]>(options_.buffer_size + terminator_size);
    if (options_.sync.time.count() > 0)
      timer_ = std::jthread([this](std::stop_token token) { run_timer(token); });
  }

  ~Implementation() { stop_timer(); }

  // True in a child process (base/threads.h), unless the log is entirely in the memory of this
  // process.
  bool is_inherited() const {
    return process_.is_inherited() && (timer_.joinable() || file_.is_inherited());
  }
  void require_own_process() const {
    if (is_inherited()) [[unlikely]]
      throw Inherited_Object(file_.get_name());
  }

  Position append(std::string_view bytes) {
    const auto lock = take_lock();
    file_.require_no_failure();
    require_entry_size(bytes.size(), format());
    const std::size_t size = size_of(bytes.size());
    if (options_.batch_size > 0) begin_batch(size);
    if (needs_marker_) append_marker();
    const Position position = next_;
    append_entry(bytes, size);
    ++next_.sequence;
    sync_if_due();
    return position;
  }

  void flush() {
    const auto lock = take_lock();
    file_.require_no_failure();
    write_buffer();
  }

  void sync() {
    const auto lock = take_lock();
    file_.require_no_failure();
    sync_all();
  }

  void rotate() {
    const auto lock = take_lock();
    file_.require_no_failure();
    reset(header_.epoch + 1, next_.sequence, next_.sequence);
  }

  void stop_timer() {
    if (!timer_.joinable()) return;
    timer_.request_stop();
    // After this lock was held, the timer thread either waits or will see the request, so no wakeup
    // is lost.
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
    timer_.join();
  }

  void close() {
    stop_timer();
    file_.require_no_failure();
    file_.require_not_replaced();
    write_buffer();
    const Sync_Policy& policy = options_.sync;
    if (policy.entries > 0 || policy.bytes > 0 || policy.time.count() > 0) sync_all();
    write_mark();
  }

  // True if a call has thrown the failure. A failure in the timer thread may not have been reported
  // yet.
  bool has_reported_failure() const { return file_.has_failed() && !timer_.joinable(); }

  Position position() const {
    const auto lock = take_lock();
    constexpr auto marker = static_cast<Offset>(entry_header_size + marker_size);
    return {next_.sequence, next_.offset + (needs_marker_ ? marker : 0)};
  }
  std::uint64_t durable() const {
    const auto lock = take_lock();
    return durable_;
  }
  Format format() const { return found_.format; }
  const Header& header() const { return header_; }
  const Report& found() const { return found_; }

  void set_oldest(std::uint64_t sequence) {
    const auto lock = take_lock();
    file_.require_no_failure();
    header_.oldest = sequence;
    write_next_header();
    sync_header();
  }

 private:
  static constexpr std::size_t terminator_size = entry_header_size;

  std::unique_lock<std::mutex> take_lock() const {
    if (options_.sync.time.count() > 0) return std::unique_lock(mutex_);
    return {};
  }

  // Resets the file, whose entries are no longer needed.
  void reset(std::uint64_t epoch, std::uint64_t first_sequence, std::uint64_t oldest) {
    buffer_used_ = 0;
    next_.sequence = first_sequence;
    durable_ = marked_ = first_sequence - 1;
    if (format() == Format::cwal) return reset_cwal();
    header_ = {header_.log_id, epoch, first_sequence, oldest};
    needs_marker_ = false;
    write_next_header();
    begin_epoch();
    durable_offset_ = next_.offset = written_ = log_start;
  }

  // Writes the next header to the other slot, so that the previous header stays valid until the
  // next header is durable.
  void write_next_header() {
    if (!is_header_durable_) sync_header();
    slot_ = 1 - slot_;
    is_header_durable_ = false;
    write_header(file_, header_, slot_);
  }

  // ---- opening ----------------------------------------------------------------------------------

  void open(Abstract_File& file) {
    const bool is_new = file.get_size() <= 0 || (!read_header(file) && is_blank(file));
    if (is_new) return create({.log_id = options_.system->random(), .epoch = 1});
    found_ = examine(file);
    require_log(file, found_);
    if (found_.is_damaged()) refuse(file);
    if (format() == Format::cwal) require_no_preallocation();
    if (const auto header = read_header(file)) {
      header_ = header->header;
      slot_ = header->slot;
    }
    is_header_durable_ = true;
    next_ = found_.end.position;
    written_ = next_.offset;
    preallocator_.set_end(std::max(found_.file_size, written_));
    if (found_.later_entries > 0) found_.saved = save_later_entries(file, found_);
    // Bytes of the file may be in memory only: after a failed sync, the system considers pages as
    // written that are not. So everything that is not known to be durable is written again.
    if (format() == Format::checked) {
      write_header(file_, header_, slot_);
      clear_torn_header(file_, 1 - slot_);
    }
    // If there are no entries, the removed bytes may be entries of the previous epoch, which counts
    // until this header is durable.
    if (format() == Format::checked && next_.offset == log_start) sync_header();
    remove_tail();
    not_zeros_ = preallocator_.end();
    file.copy_to(file_, found_.durable_offset, next_.offset - found_.durable_offset);
    file_.datasync();
    durable_ = found_.last_sequence();
    marked_ = found_.known_durable;
    durable_offset_ = next_.offset;
    begin_epoch();
    previous_ = found_.last_crc;
  }

  void require_no_preallocation() const {
    if (options_.preallocate > 0)
      throw Exception(
          "a log in the format of CWal cannot be preallocated: zeros are entries there");
  }

  [[noreturn]] void refuse(const Abstract_File& file) const {
    const std::string& name = file.get_name();
    throw Corruption_Error(
        name + ": " + found_.text() + ". Nothing was changed. joedb wal verify " + name +
            " shows what is there; joedb wal repair " + name +
            " cuts the log before the damaged entry" +
            (found_.later_entries > 0 ? ", and saves the good ones behind it in a file" : ""),
        found_.end.position.offset, name);
  }

  void open_again(Abstract_File& file, const Header& start) {
    const auto header = read_header(file);
    if (!header) return create(start);
    header_ = header->header;
    slot_ = header->slot;
    is_header_durable_ = !clear_torn_header(file_, 1 - slot_);
    not_zeros_ = std::max(file.get_size(), log_start);
    preallocator_.set_end(not_zeros_);
    reset(start.epoch, start.first_sequence, start.oldest);
  }

  void create(const Header& header) {
    found_.format = options_.format;
    if (format() == Format::cwal) {
      require_no_preallocation();
      file_.truncate(0);
      is_header_durable_ = true;
      return;
    }
    // The magic is written first, so that a file with a torn header is not taken for a file of
    // another kind. If the file had bytes, the magic must be durable before the file grows: a power
    // cut may leave arbitrary bytes where the file has grown, and without the magic they could be
    // read as entries of CWal.
    const bool had_bytes = file_.get_size() > 0;
    file_.pwrite(magic.data(), magic.size(), 0);
    if (had_bytes) file_.datasync();
    // Allocates the blocks of all header pages now, so that a rotation is possible on a full disk.
    // A file with a header is never shorter than this, unless it was truncated.
    file_.write_zeros(static_cast<Offset>(magic.size()), log_start);
    file_.datasync();
    header_ = header;
    write_header(file_, header_, slot_);
    preallocator_.set_end(log_start);  // the bytes before that belong to the headers
    next_.sequence = header_.first_sequence;
    durable_ = marked_ = header_.first_sequence - 1;
    durable_offset_ = next_.offset = written_ = log_start;
    sync_header();
    begin_epoch();
    found_.log_id = header_.log_id;
    found_.epoch = header_.epoch;
    found_.first_sequence = header_.first_sequence;
    found_.end.position = next_;
  }

  void remove_tail() {
    if (format() == Format::cwal) {
      if (preallocator_.end() > written_) file_.truncate(written_);
      preallocator_.set_end(written_);
      return;
    }
    clear_tail(file_, header_, next_, found_.later_offset > 0);
    needs_marker_ = true;
  }

  void begin_epoch() { previous_ = epoch_ = epoch_crc(header_); }

  void reset_cwal() {
    file_.truncate(0);
    file_.datasync();
    durable_offset_ = next_.offset = written_ = 0;
    preallocator_.set_end(0);
  }

  // ---- entries ----------------------------------------------------------------------------------

  std::size_t size_of(std::size_t length) const {
    return format() == Format::checked ? padded_size(length) : length + cwal_overhead;
  }

  // Returns memory for an entry: in the buffer, or, if the entry is too large for the buffer, in
  // large_.
  char* reserve(std::size_t size) {
    if (size > options_.buffer_size - buffer_used_) {
      write_blocks();
      if (size > options_.buffer_size - buffer_used_) write_buffer();
      if (size > options_.buffer_size) {
        large_.resize(size + terminator_size);
        return large_.data();
      }
    }
    char* const place = buffer_.get() + buffer_used_;
    buffer_used_ += size;
    return place;
  }

  // Writes a mark that states which entries are durable, unless an entry in the file already states
  // this. The mark is not synced, and a failure is ignored, because no entry is lost: without the
  // mark, damage of these entries only looks like the result of a power cut.
  void write_mark() {
    if (format() == Format::cwal || durable_ <= marked_) return;
    preallocator_.stop();
    try {
      append_marker();
      write_buffer();
    } catch (const Exception&) {
    }
  }

  void append_marker() {
    std::array<char, marker_size> bytes;
    store(bytes.data(), options_.system->random());
    append_entry({bytes.data(), bytes.size()}, padded_size(bytes.size()), marker_bit);
    needs_marker_ = false;
  }

  // If an entry is too large for the buffer, the state changes only after the entry was written: an
  // earlier error, such as a lack of memory, does not make file_ fail, and then the entry must not
  // count.
  void append_entry(std::string_view bytes, std::size_t size, std::uint32_t bits = 0) {
    char* const place = reserve(size);
    const std::uint32_t crc = encode(place, bytes, size, bits);
    if (place == large_.data()) write_large();
    previous_ = crc;
    marked_ = durable_;
    next_.offset += static_cast<Offset>(size);
  }

  // Returns the checksum, which the next entry repeats.
  std::uint32_t encode(char* place, std::string_view bytes, std::size_t size, std::uint32_t bits) {
    if (format() == Format::cwal) {
      char* const text = store(place, static_cast<std::uint64_t>(bytes.size()));
      std::memcpy(text, bytes.data(), bytes.size());
      store(text + bytes.size(), crc32(bytes));
      return 0;
    }
    const std::uint64_t unsynced = next_.sequence - 1 - durable_;
    Entry_Header header;
    header.previous = previous_;
    header.length = static_cast<std::uint32_t>(bytes.size()) | bits;
    header.unsynced =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(unsynced, nothing_durable));
    header.sequence = next_.sequence;
    char* const text = store(place, header);
    if (!bytes.empty()) std::memcpy(text, bytes.data(), bytes.size());
    const std::size_t used = entry_header_size + bytes.size();
    std::memset(place + used, 0, size - used);
    const std::uint32_t crc = entry_crc({place, used}, epoch_);
    store(place, crc);
    return crc;
  }

  void begin_batch(std::size_t size) {
    const Offset used = next_.offset - (format() == Format::checked ? log_start : 0);
    if (used == 0 || used + static_cast<Offset>(size) <= options_.batch_size) return;
    write_buffer();
    if (options_.on_batch) options_.on_batch();
    reset(header_.epoch + 1, next_.sequence, next_.sequence);
  }

  // ---- the file ---------------------------------------------------------------------------------

  void write_buffer() {
    if (buffer_used_ == 0) return;
    write(buffer_.get(), buffer_used_);
    buffer_used_ = 0;
  }

  void write_large() {
    write(large_.data(), large_.size() - terminator_size);
    large_ = {};
  }

  // Writes only whole blocks, at multiples of their size, so that the system can use large pages
  // for them. The rest stays in the buffer, even if this splits an entry.
  void write_blocks() {
    constexpr Offset block = Offset{1} << 16;
    const Offset end = (written_ + static_cast<Offset>(buffer_used_)) / block * block;
    if (end <= written_) return;
    const auto size = static_cast<std::size_t>(end - written_);
    write(buffer_.get(), size, 0);
    buffer_used_ -= size;
    std::memmove(buffer_.get(), buffer_.get() + size, buffer_used_);
  }

  // After the `size` bytes at `data`, there must be room for `room` more bytes: the zeros of
  // invariant 4.
  void write(char* data, std::size_t size, std::size_t room = terminator_size) {
    if (!is_header_durable_) sync_header();  // invariant 1
    const Offset end = written_ + static_cast<Offset>(size);
    // A failure is ignored, because a disk without room for the zeros may still have room for the
    // entries.
    static_cast<void>(preallocator_.reserve(preallocator_.end(), end));
    if (format() == Format::cwal || end >= not_zeros_) room = 0;
    std::memset(data + size, 0, room);
    file_.pwrite(data, size + room, written_);
    preallocator_.set_end(std::max(preallocator_.end(), end + static_cast<Offset>(room)));
    written_ = end;
    not_zeros_ = std::max(not_zeros_, end);
  }

  void sync_header() {
    file_.datasync();
    is_header_durable_ = true;
  }

  void sync_all() {
    write_buffer();
    if (!is_header_durable_) sync_header();
    if (durable_ + 1 == next_.sequence) return;
    file_.datasync();
    durable_ = next_.sequence - 1;
    durable_offset_ = next_.offset;
  }

  // ---- policy -----------------------------------------------------------------------------------

  void sync_if_due() {
    const Sync_Policy& policy = options_.sync;
    const std::uint64_t entries = next_.sequence - 1 - durable_;
    if ((policy.entries > 0 && entries >= policy.entries) ||
        (policy.bytes > 0 &&
         static_cast<std::uint64_t>(next_.offset - durable_offset_) >= policy.bytes))
      return sync_all();
    if (policy.time.count() > 0 && entries == 1) {
      deadline_ = options_.system->now() + policy.time;
      wake_.notify_all();
    }
  }

  void run_timer(const std::stop_token& token) {
    std::unique_lock lock(mutex_);
    while (!token.stop_requested()) {
      if (durable_ + 1 == next_.sequence || file_.has_failed()) {
        wake_.wait(lock);
      } else if (options_.system->now() < deadline_) {
        options_.system->wait_until(wake_, lock, deadline_);
      } else {
        try {
          sync_all();
        } catch (const std::exception&) {  // file_ keeps a write failure; other errors are retried
          deadline_ = options_.system->now() + options_.sync.time;
        }
      }
    }
  }

  const Process_Mark process_;
  std::unique_ptr<Abstract_File> owned_;
  Fail_Stop_File file_;
  const Options options_;
  Report found_;

  Header header_;
  int slot_ = 0;
  bool is_header_durable_ = false;
  bool needs_marker_ = false;   // a marker precedes the next entry
  std::uint32_t epoch_ = 0;     // epoch_crc of the header
  std::uint32_t previous_ = 0;  // CRC of the last entry

  Position next_{1, 0};
  std::uint64_t durable_ = 0;
  std::uint64_t marked_ = 0;  // last entry that is durable according to the file or the buffer
  Offset durable_offset_ = 0;
  Offset written_ = 0;         // end of the entries in the file
  Preallocator preallocator_;  // has the end of the file, including preallocated zeros
  Offset not_zeros_ = 0;       // the file has only zeros from this offset on
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_used_ = 0;
  std::vector<char> large_;  // an entry that does not fit in the buffer

  mutable std::mutex mutex_;  // used only if there is a timer
  std::condition_variable wake_;
  System::Time deadline_;
  std::jthread timer_;
};

// ---- Writer -------------------------------------------------------------------------------------

Writer::Writer(std::unique_ptr<Abstract_File> file, Options options) {
  Abstract_File& open = *file;
  implementation_ = std::make_unique<Implementation>(std::move(file), open, std::move(options));
}

Writer::Writer(std::unique_ptr<Abstract_File> file, Options options, const Header& start) {
  Abstract_File& open = *file;
  implementation_ =
      std::make_unique<Implementation>(std::move(file), open, std::move(options), &start);
}

void Writer::set_oldest(std::uint64_t sequence) { open().set_oldest(sequence); }

Writer::Writer(Abstract_File& file, Options options)
    : implementation_(std::make_unique<Implementation>(nullptr, file, std::move(options))) {}

Writer::Writer(const std::string& file, Options options)
    : Writer(std::make_unique<File>(file, Open_Mode::write_existing_or_create_new),
             std::move(options)) {}

Writer::Writer(Writer&&) noexcept = default;

Writer& Writer::operator=(Writer&& other) noexcept {
  Writer old(std::move(*this));
  implementation_ = std::move(other.implementation_);
  return *this;
}

Writer::~Writer() {
  if (implementation_ && implementation_->is_inherited()) {
    keep_until_exit(std::move(implementation_));
    return;
  }
  try {
    if (!implementation_ || !implementation_->has_reported_failure()) close();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

void Writer::close() {
  if (!implementation_) return;
  implementation_->require_own_process();
  std::exchange(implementation_, nullptr)->close();
}

Writer::Implementation& Writer::open() const {
  if (!implementation_) throw Exception("this log is closed");
  implementation_->require_own_process();
  return *implementation_;
}

Position Writer::append(std::string_view bytes) { return open().append(bytes); }
void Writer::flush() { open().flush(); }
void Writer::sync() { open().sync(); }
void Writer::rotate() { open().rotate(); }
Position Writer::position() const { return open().position(); }
std::uint64_t Writer::durable_sequence() const { return open().durable(); }
Offset Writer::size() const { return position().offset; }
Format Writer::format() const { return open().found().format; }
std::uint64_t Writer::log_id() const { return open().header().log_id; }
std::uint64_t Writer::epoch() const { return open().header().epoch; }
const Report& Writer::found() const { return open().found(); }

}  // namespace joedb::inline v1::wal
