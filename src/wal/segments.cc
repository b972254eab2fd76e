#include "joedb/wal/segments.h"

#include <algorithm>
#include <cerrno>

#include "wal/segment_list.h"
#include "wal/wait.h"

// Invariants of a log of segments:
//
// 1. The header of a segment is written only after all entries of the segment before it are
//    durable. So a power cut damages only the last segment.
// 2. The epoch of a segment is the epoch of the previous segment plus 1. Its first sequence is the
//    last sequence of the previous segment plus 1.
// 3. Before a segment is recycled or removed, the newest header states durably that its entries are
//    not needed (`oldest`). All needed segments exist, without a gap.
// 4. A segment is created in a recycled file, or in a new file that is named after its epoch.
// 5. Unneeded segments are recycled or removed in the order of their epochs: as long as the file of
//    a segment is unchanged, the file of the next segment is unchanged, too.

namespace joedb::inline v1::wal {

static bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Lists the segments, and repeats this if a new file has appeared meanwhile: the list must contain
// every file that existed when the last header was read. Any of these files may be recycled for the
// next segment, and then earlier files may be removed.
static Segment_List list_all(Abstract_Directory& directory) {
  for (;;) {
    Segment_List list = list_segments(directory);
    list.require_headers(directory);
    const auto is_new = [&](const std::string& name) {
      return is_segment_name(name) && !is_in(list.names, name);
    };
    const std::vector<std::string> names = directory.list();
    if (std::none_of(names.begin(), names.end(), is_new)) return list;
  }
}

// ---- Segmented_Writer ---------------------------------------------------------------------------

class Segmented_Writer::Implementation {
 public:
  Implementation(std::unique_ptr<Abstract_Directory> owned, Abstract_Directory& directory,
                 Options options, Segment_Options segments)
      : owned_(std::move(owned)),
        directory_(directory),
        options_(std::move(options)),
        segment_options_(segments) {
    if (options_.format != Format::checked || options_.batch_size != 0)
      throw Exception("a log of segments has the format `checked`, and no batches");
    if (segment_options_.segment_size <= log_start)
      throw Exception("a segment has more than " + std::to_string(log_start) + " bytes");
    while (!is_open()) {
      const Segment_List found = list_all(directory_);
      if (found.segments.empty())
        create(found);
      else
        open(found.segments.back());
    }
  }

  Position append(std::string_view bytes) {
    require_no_failure();
    require_entry_size(bytes.size(), Format::checked);
    const Offset end = current_->size() + static_cast<Offset>(padded_size(bytes.size()));
    if (end > segment_options_.segment_size && current_->size() > log_start) begin_segment();
    return current_->append(bytes);
  }

  void release(std::uint64_t sequence) {
    require_no_failure();
    oldest_ = std::max(oldest_, std::min(sequence, current_->position().sequence - 1) + 1);
    std::size_t count = 0;
    while (count + 1 < segments_.size() && segments_[count + 1].header.first_sequence <= oldest_)
      ++count;
    if (count == 0) return;
    // Once `oldest` is durable, no program uses these segments, even if some of them reappear after
    // a power cut. The released entries must be durable before that, because otherwise their
    // sequences could be used again.
    current_->sync();
    current_->set_oldest(oldest_);
    release_oldest(count);
  }

  void rotate() {
    require_no_failure();
    if (current_->size() > log_start) begin_segment();
    release(current_->position().sequence - 1);
  }

  void close() {
    require_no_failure();
    current_->close();
  }

  Writer& current() {
    require_no_failure();
    return *current_;
  }
  const Writer& current() const { return *current_; }
  std::uint64_t oldest() const { return segments_.front().header.first_sequence; }
  std::size_t segments() const { return segments_.size(); }

 private:
  bool is_open() const { return current_.has_value(); }

  // Creates the first segment. Programs that create a log at the same time open the same file. The
  // program that locks the file, and then finds no log, creates the log. Does nothing if another
  // program has just created it.
  void create(const Segment_List& found) {
    const std::string name = segment_name(1);
    const bool exists = is_in(found.blank, name);
    auto file = exists ? open_listed(name) : open_unless(EEXIST, name, Open_Mode::create_new);
    if (!file) return;
    const Segment_List now = list_all(directory_);
    if (!now.segments.empty() || !is_in(now.blank, name)) return;
    remove_blank(now, name);
    current_.emplace(std::move(file), options_);
    segments_.push_back({name, {current_->log_id(), current_->epoch()}});
    last_epoch_ = current_->epoch();
  }

  // Opens a file. Returns null if opening fails with this error code.
  std::unique_ptr<Abstract_File> open_unless(int code, const std::string& name, Open_Mode mode) {
    try {
      return directory_.open(name, mode);
    } catch (const Io_Error& error) {
      if (error.code != code) throw;
      return nullptr;
    }
  }
  // Opens a listed file. Returns null if the file was removed since.
  std::unique_ptr<Abstract_File> open_listed(const std::string& name) {
    return open_unless(ENOENT, name, Open_Mode::write_existing);
  }

  // Locks the last segment to exclude other writers, and opens the log. Does nothing if the segment
  // was removed meanwhile.
  void open(const Segment& last) {
    auto file = open_listed(last.name);
    if (!file) return;
    const Segment_List found = list_all(directory_);
    // The segments were listed again under the lock. If there is a newer segment now, another
    // writer has the log.
    if (found.segments.empty() || found.segments.back().name != last.name)
      throw_io_error("locking", directory_.get_name(), -1, EAGAIN);
    require_no_gap(found);
    current_.emplace(std::move(file), options_);
    remove_blank(found, last.name);
    last_epoch_ = found.segments.back().header.epoch;
    oldest_ = found.oldest();
    segments_.assign(found.segments.begin(), found.segments.end());
    release_oldest(found.first_needed());
  }

  // Throws Corruption_Error if the needed segments have a gap (invariants 2 and 3).
  void require_no_gap(const Segment_List& found) {
    if (const auto gap = gap_at_start(found)) refuse(directory_, *gap);
    for (std::size_t i = found.first_needed(); i + 1 < found.segments.size(); ++i) {
      const Segment& segment = found.segments[i];
      const Segment& next = found.segments[i + 1];
      if (!segment_options_.check_entries && is_next(segment, next)) continue;
      const End end = read_all(directory_, segment).end;
      if (const auto gap = gap_between(segment, end, next)) refuse(directory_, *gap);
    }
  }

  // Removes blank files, except `own`, the file of this writer, so that no other program can create
  // a segment after it. Another program may be creating a segment in such a file, or may have
  // created one since the files were listed. So each file is locked, and then checked again.
  void remove_blank(const Segment_List& found, const std::string& own) {
    for (const std::string& name : found.blank) {
      if (name == own) continue;
      const auto file = open_listed(name);
      if (!file) continue;
      if (read_header(*file) || !is_blank(*file))
        throw_io_error("locking", directory_.get_name(), -1, EAGAIN);
      directory_.remove(name);
    }
  }

  void require_no_failure() const {
    if (!failure_.empty())
      throw Exception(directory_.get_name() +
                      " is not written to any more, after an earlier failure: " + failure_ +
                      ". Close it and open it again.");
  }

  // After a failure, the new segment may exist already. Entries that are appended to the old
  // segment would then be lost, so all writing ends.
  void begin_segment() {
    try {
      current_->sync();
      const std::uint64_t first = current_->position().sequence;
      const Header start{current_->log_id(), ++last_epoch_, first, oldest_};
      std::string name = segment_name(last_epoch_);
      auto file = open_spare(name);
      if (!file) file = directory_.open_like(segments_.back().name, name, Open_Mode::create_new);
      Writer next(std::move(file), options_, start);
      segments_.push_back({std::move(name), start});
      *current_ = std::move(next);
    } catch (const std::exception& error) {
      failure_ = error.what();
      throw;
    }
  }

  // Opens a spare file. Returns null if there is none, or if another program has locked the file:
  // that program wants to write, and listed the segments when this file was the last segment.
  std::unique_ptr<Abstract_File> open_spare(std::string& name) {
    if (spare_.empty()) return nullptr;
    auto file = open_unless(EAGAIN, spare_.front(), Open_Mode::write_existing);
    if (!file) return nullptr;
    name = std::move(spare_.front());
    spare_.pop_front();
    return file;
  }

  // Recycles or removes the first `count` segments.
  void release_oldest(std::size_t count) {
    for (; count > 0; --count) {
      spare_.push_back(std::move(segments_.front().name));
      segments_.pop_front();
      if (spare_.size() <= segment_options_.spare_segments) continue;
      directory_.remove(spare_.front());  // invariant 5
      spare_.pop_front();
    }
  }

  const std::unique_ptr<Abstract_Directory> owned_;
  Abstract_Directory& directory_;
  const Options options_;
  const Segment_Options segment_options_;
  std::deque<Segment> segments_;  // the last segment is being written
  std::deque<std::string> spare_;
  std::optional<Writer> current_;
  std::uint64_t last_epoch_ = 0;
  std::uint64_t oldest_ = 1;
  std::string failure_;  // error of begin_segment; empty if none
};

Segmented_Writer::Segmented_Writer(const std::string& directory, Options options,
                                   Segment_Options segments) {
  auto owned = std::make_unique<Directory>(Directory::make(directory));
  Abstract_Directory& open = *owned;
  implementation_ =
      std::make_unique<Implementation>(std::move(owned), open, std::move(options), segments);
}

Segmented_Writer::Segmented_Writer(Abstract_Directory& directory, Options options,
                                   Segment_Options segments)
    : implementation_(
          std::make_unique<Implementation>(nullptr, directory, std::move(options), segments)) {}

Segmented_Writer::Segmented_Writer(Segmented_Writer&&) noexcept = default;
Segmented_Writer& Segmented_Writer::operator=(Segmented_Writer&&) noexcept = default;
Segmented_Writer::~Segmented_Writer() = default;  // the Writer of the last segment closes it

Segmented_Writer::Implementation& Segmented_Writer::open() const {
  if (!implementation_) throw Exception("this log is closed");
  return *implementation_;
}

void Segmented_Writer::close() {
  if (const auto closed = std::move(implementation_)) closed->close();
}

Position Segmented_Writer::append(std::string_view bytes) { return open().append(bytes); }
void Segmented_Writer::flush() { open().current().flush(); }
void Segmented_Writer::sync() { open().current().sync(); }
void Segmented_Writer::release(std::uint64_t sequence) { open().release(sequence); }
void Segmented_Writer::rotate() { open().rotate(); }
std::uint64_t Segmented_Writer::oldest_sequence() const { return open().oldest(); }
std::size_t Segmented_Writer::segments() const { return open().segments(); }

Position Segmented_Writer::position() const { return std::as_const(open()).current().position(); }
std::uint64_t Segmented_Writer::durable_sequence() const {
  return std::as_const(open()).current().durable_sequence();
}
std::uint64_t Segmented_Writer::log_id() const { return std::as_const(open()).current().log_id(); }

// ---- Segmented_Reader ---------------------------------------------------------------------------

class Segmented_Reader::Implementation {
 public:
  Implementation(std::unique_ptr<Abstract_Directory> owned, Abstract_Directory& directory)
      : owned_(std::move(owned)), directory_(directory) {
    seek_first();
  }

  std::optional<Entry> next() {
    if (!reader_ && !is_at_gap_) seek_first();
    while (reader_ && !is_at_gap_) {
      // When a next segment exists, nothing is appended to the current segment any more.
      const bool was_complete = !later_.empty();
      if (auto entry = reader_->next()) return entry;
      end_ = reader_->end();
      if (end_.stop == Stop::overwritten) {
        if (!reopen_next_segment()) return std::nullopt;
      } else if (was_complete ? !move_to_next_segment() : !find_later()) {
        return std::nullopt;
      }
    }
    if (!is_at_gap_) end_ = no_log;
    return std::nullopt;
  }

  const End& end() const { return end_; }
  Position position() const { return reader_ ? reader_->position() : end_.position; }
  const std::string& segment() const { return current_.name; }
  void require_not_replaced() const { directory_.require_not_replaced(); }

  void seek_first() {
    is_at_gap_ = false;
    reader_.reset();
    end_ = no_log;
    for (;;) {
      const Segment_List list = list_all(directory_);
      if (list.segments.empty()) return;
      const auto gap = gap_at_start(list);
      if (gap && has_changed_since(list)) continue;
      if (gap) {
        current_ = {};
        end_ = {.stop = Stop::missing, .position = {gap->first, 0}};
        is_at_gap_ = true;
        return;
      }
      if (open(list.segments[list.first_needed()])) return take_others(list);
    }
  }

  void seek(std::uint64_t sequence) {
    const Segment_List list = list_all(directory_);
    if (go_to(list, sequence)) return;
    seek_first();
    throw Exception(directory_.get_name() + ": there is no good entry " + std::to_string(sequence));
  }

 private:
  bool go_to(const Segment_List& list, std::uint64_t sequence) {
    const auto& all = list.segments;
    const auto behind = std::upper_bound(
        all.begin(), all.end(), sequence,
        [](std::uint64_t s, const Segment& segment) { return s < segment.header.first_sequence; });
    if (behind == all.begin() || !is_needed(list, std::prev(behind)) || !open(*std::prev(behind)))
      return false;
    take_others(list);
    is_at_gap_ = false;
    while (position().sequence < sequence)
      if (!next()) return false;
    if (position().sequence != sequence) return false;
    const Position found = reader_->position();
    if (!next()) return false;
    reader_->seek(found);
    return true;
  }

  // True if `list` is out of date: it was read file by file, and a writer may have begun or removed
  // segments meanwhile.
  bool has_changed_since(const Segment_List& list) const {
    const Segment_List now = list_segments(directory_);
    return now.segments.empty() ||
           is_later(now.segments.back().header, list.segments.back().header);
  }

  static bool is_needed(const Segment_List& list, std::vector<Segment>::const_iterator segment) {
    return segment - list.segments.begin() >= static_cast<std::ptrdiff_t>(list.first_needed());
  }

  // Opens a segment. Returns false, without a change, if it was removed or recycled since its
  // header was read.
  bool open(const Segment& segment) {
    try {
      auto file = directory_.open(segment.name, Open_Mode::read_existing);
      Reader reader(*file);
      if (reader.epoch() != segment.header.epoch ||
          reader.position().sequence != segment.header.first_sequence)
        return false;
      reader_ = std::move(reader);
      file_ = std::move(file);
      current_ = segment;
      return true;
    } catch (const Io_Error& error) {
      if (error.code != ENOENT) throw;
      return false;
    }
  }

  // Sets the segments before and after the current one.
  void take_others(const Segment_List& list) {
    earlier_.clear();
    later_.clear();
    for (const Segment& segment : list.segments)
      if (segment.header.epoch < reader_->epoch())
        earlier_.push_back(segment);
      else if (segment.header.epoch > reader_->epoch())
        later_.push_back(segment);
  }

  // Continues with the next segment if its first entry is the next entry. The segments may have
  // changed since they were listed. So a gap counts only if a second list also has the gap, and no
  // new segment has begun meanwhile.
  bool move_to_next_segment() {
    for (;;) {
      const std::uint64_t newest = later_.back().header.epoch;
      if (later_.front().header.first_sequence == end_.position.sequence && open_next())
        return true;
      const Segment_List list = list_all(directory_);
      take_others(list);
      if (later_.empty()) return false;  // they were removed
      if (later_.front().header.first_sequence == end_.position.sequence) continue;
      if (list.oldest() > end_.position.sequence) {
        end_.stop = Stop::overwritten;
        return false;
      }
      if (later_.back().header.epoch == newest) break;
    }
    const bool is_behind = later_.front().header.first_sequence > end_.position.sequence;
    if (ends_well(end_.stop)) end_.stop = is_behind ? Stop::missing : Stop::wrong_order;
    is_at_gap_ = true;
    return false;
  }

  // Called when the current segment was recycled. Continues with the next segment if it exists and
  // no entry was missed.
  bool reopen_next_segment() {
    const Segment_List list = list_all(directory_);
    for (const Segment& segment : list.segments)
      if (segment.header.first_sequence == end_.position.sequence && open(segment)) {
        take_others(list);
        return true;
      }
    return false;
  }

  static constexpr End no_log{Stop::clean, {1, 0}};
  static bool ends_well(Stop stop) { return stop == Stop::clean || stop == Stop::wrong_epoch; }

  bool open_next() {
    Segment before = current_;
    if (!open(later_.front())) return false;
    earlier_.push_back(std::move(before));
    later_.pop_front();
    return true;
  }

  // Looks for the next segment without listing the directory, only in the files in which it can be
  // (invariant 4).
  bool find_later() {
    if (reader_->epoch() != current_.header.epoch) {  // it was recycled, and no entry was missed
      const Segment_List list = list_all(directory_);
      take_others(list);
      for (const Segment& segment : list.segments)
        if (segment.header.epoch == reader_->epoch()) current_ = segment;
      return !later_.empty();
    }
    if (take_later(segment_name(current_.header.epoch + 1))) return true;
    const auto header = read_header(*file_);
    const std::uint64_t oldest = header ? header->header.oldest : 1;
    for (std::size_t i = 0; i < earlier_.size();) {
      const Segment& next = i + 1 < earlier_.size() ? earlier_[i + 1] : current_;
      if (next.header.first_sequence > oldest) break;  // this segment and the later ones are needed
      const auto at = earlier_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto found = read_segment(directory_, at->name);
      if (found && found->header.epoch == at->header.epoch) {
        ++i;
        continue;
      }
      if (found && found->header.epoch < current_.header.epoch) {
        // The file was recycled while the other segments were listed, and may be recycled again.
        *at = *found;
        std::stable_sort(at, earlier_.end(), [](const Segment& a, const Segment& b) {
          return is_later(b.header, a.header);
        });
        continue;
      }
      earlier_.erase(at);
      if (found && take_later(found->name)) return true;
    }
    // If the next segment was created and is gone already, the current segment was gone before
    // (invariant 5). (If the current segment was recycled, the reader has noticed this.)
    const auto own = read_segment(directory_, current_.name);
    if (own && own->header.epoch == current_.header.epoch) return false;
    take_others(list_all(directory_));
    return !later_.empty();
  }

  bool take_later(const std::string& name) {
    const auto found = read_segment(directory_, name);
    if (!found || found->header.log_id != current_.header.log_id ||
        found->header.epoch <= current_.header.epoch)
      return false;
    later_.push_back(*found);
    return true;
  }

  const std::unique_ptr<Abstract_Directory> owned_;
  Abstract_Directory& directory_;
  Segment current_;
  std::unique_ptr<Abstract_File> file_;
  std::optional<Reader> reader_;  // reads the current segment
  std::vector<Segment> earlier_;  // in the order of their epochs; some may have been recycled
  std::deque<Segment> later_;     // known later segments, in the order of their epochs
  bool is_at_gap_ = false;        // until the next seek, because missing segments do not reappear
  End end_ = no_log;
};

Segmented_Reader::Segmented_Reader(const std::string& directory) {
  auto owned = std::make_unique<Directory>(directory);
  Abstract_Directory& open = *owned;
  implementation_ = std::make_unique<Implementation>(std::move(owned), open);
}

Segmented_Reader::Segmented_Reader(Abstract_Directory& directory)
    : implementation_(std::make_unique<Implementation>(nullptr, directory)) {}

Segmented_Reader::Segmented_Reader(Segmented_Reader&&) noexcept = default;
Segmented_Reader& Segmented_Reader::operator=(Segmented_Reader&&) noexcept = default;
Segmented_Reader::~Segmented_Reader() = default;

std::optional<Entry> Segmented_Reader::next() { return implementation_->next(); }
const End& Segmented_Reader::end() const { return implementation_->end(); }
Position Segmented_Reader::position() const { return implementation_->position(); }
const std::string& Segmented_Reader::segment() const { return implementation_->segment(); }
void Segmented_Reader::seek(std::uint64_t sequence) { implementation_->seek(sequence); }
void Segmented_Reader::seek_first() { implementation_->seek_first(); }
void Segmented_Reader::require_not_replaced() const { implementation_->require_not_replaced(); }

std::optional<Entry> Segmented_Reader::wait_for_next(std::chrono::milliseconds timeout,
                                                     System& system) {
  return wait_for(*this, timeout, system);
}

}  // namespace joedb::inline v1::wal
