#include "joedb/wal/segments.h"

#include <algorithm>
#include <cerrno>

#include "wal/format.h"
#include "wal/wait.h"

namespace joedb::inline v1::wal {

namespace {

// A file of the log. Its name says when it was made, not which entries it has: those begin again.
struct Segment {
  std::string name;
  Header header;
};

constexpr std::string_view suffix = ".wal";
constexpr std::size_t number_size = 8;  // of digits, at least

std::string name_of(std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < number_size) digits.insert(0, number_size - digits.size(), '0');
  return digits + std::string(suffix);
}

bool is_segment(std::string_view name) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return name.size() >= number_size && name.find_first_not_of("0123456789") == name.npos;
}

// What is in a directory: segments in their order, and files that were to become some.
struct Listing {
  std::vector<Segment> segments;
  std::vector<std::string> blank;
};

Listing list(Abstract_Directory& directory) {
  Listing result;
  for (const std::string& name : directory.list()) {
    if (!is_segment(name)) continue;
    try {
      const auto file = directory.open(name, Open_Mode::read_existing);
      if (const auto found = read_header(*file))
        result.segments.push_back({name, found->header});
      else if (is_blank(*file))
        result.blank.push_back(name);
      else
        throw Corruption_Error(file->get_name() + " is no segment of a log", 0);
    } catch (const Io_Error& error) {
      if (error.code != ENOENT) throw;  // it has just been removed
    }
  }
  std::vector<Segment>& all = result.segments;
  std::sort(all.begin(), all.end(),
            [](const Segment& a, const Segment& b) { return is_later(b.header, a.header); });
  for (const Segment& segment : all)
    if (segment.header.log_id != all.back().header.log_id)
      throw Corruption_Error(directory.get_name() + ": " + segment.name + " and " +
                                 all.back().name + " belong to different logs",
                             0);
  return result;
}

// The first segment that is needed: it, or none before it, has the oldest entry.
std::size_t first_needed(const std::vector<Segment>& segments) {
  const std::uint64_t oldest = segments.back().header.oldest;
  std::size_t first = segments.size() - 1;
  while (first > 0 && segments[first].header.first_sequence > oldest) --first;
  return first;
}

}  // namespace

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
    const Listing found = list(directory_);
    if (found.segments.empty()) {
      remove_blank(found);
      segments_.push_back({name_of(1), {}});
      current_.emplace(directory_.open(name_of(1), Open_Mode::create_new), options_);
      segments_.back().header = {current_->log_id(), current_->epoch()};
      last_epoch_ = current_->epoch();
      return;
    }
    const Segment& last = found.segments.back();
    current_.emplace(directory_.open(last.name, Open_Mode::write_existing), options_);
    const auto now = list(directory_).segments;
    if (now.empty() || now.back().name != last.name)
      throw Io_Error("locking", directory_.get_name(), -1, EAGAIN);
    remove_blank(found);
    last_epoch_ = last.header.epoch;
    oldest_ = last.header.oldest;
    segments_.assign(found.segments.begin(), found.segments.end());
    give_up(first_needed(found.segments));
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
    // Nobody looks for them any more, also after a power cut that brings some of them back. What is
    // released must be durable: otherwise its sequence could be used again.
    current_->sync();
    current_->set_oldest(oldest_);
    give_up(count);
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
  // Files that were to become segments. Who is just making one has it locked.
  void remove_blank(const Listing& found) {
    for (const std::string& name : found.blank) {
      const auto file = directory_.open(name, Open_Mode::write_existing);
      directory_.remove(name);
    }
  }

  void require_no_failure() const {
    if (!failure_.empty())
      throw Exception(directory_.get_name() +
                      " is not written to any more, after an earlier failure: " + failure_ +
                      ". Close it and open it again.");
  }

  // After a failure there may be a new segment already: what were appended to the old one would be
  // lost.
  void begin_segment() {
    try {
      current_->sync();
      const std::uint64_t first = current_->position().sequence;
      const Header start{current_->log_id(), ++last_epoch_, first, oldest_};
      const bool is_spare = !spare_.empty();
      const std::string name = is_spare ? spare_.front() : name_of(last_epoch_);
      Writer next(
          directory_.open(name, is_spare ? Open_Mode::write_existing : Open_Mode::create_new),
          options_, start);
      segments_.push_back({name, start});
      if (is_spare) spare_.pop_front();
      *current_ = std::move(next);
    } catch (const std::exception& error) {
      failure_ = error.what();
      throw;
    }
  }

  // The first `count` segments.
  void give_up(std::size_t count) {
    for (; count > 0; --count) {
      const std::string name = std::move(segments_.front().name);
      segments_.pop_front();
      if (spare_.size() < segment_options_.spare_segments)
        spare_.push_back(name);
      else
        directory_.remove(name);
    }
  }

  const std::unique_ptr<Abstract_Directory> owned_;
  Abstract_Directory& directory_;
  const Options options_;
  const Segment_Options segment_options_;
  std::deque<Segment> segments_;  // the last one is written to
  std::deque<std::string> spare_;
  std::optional<Writer> current_;
  std::uint64_t last_epoch_ = 0;
  std::uint64_t oldest_ = 1;
  std::string failure_;  // of begin_segment
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
    if (!reader_) seek_first();
    for (bool has_looked = false; reader_;) {
      if (auto entry = reader_->next()) return entry;
      end_ = reader_->end();
      if (end_.stop == Stop::overwritten || !find_next()) return std::nullopt;
      if (next_.header.first_sequence == end_.position.sequence) {
        if (!open(next_)) {
          end_.stop = Stop::overwritten;
          return std::nullopt;
        }
        has_looked = false;
      } else if (has_looked) {
        if (next_.header.oldest > end_.position.sequence)
          end_.stop = Stop::overwritten;
        else if (end_.stop == Stop::clean)
          end_.stop = Stop::wrong_order;
        return std::nullopt;
      } else {
        has_looked = true;  // more may have come here before the next segment began
      }
    }
    end_ = {};
    return std::nullopt;
  }

  const End& end() const { return end_; }
  Position position() const { return reader_ ? reader_->position() : Position{1, 0}; }

  void seek_first() {
    for (;;) {
      const auto segments = list(directory_).segments;
      if (segments.empty()) return reader_.reset();
      if (open(segments[first_needed(segments)])) return;
    }
  }

  void seek(std::uint64_t sequence) {
    const auto segments = list(directory_).segments;
    for (std::size_t i = segments.size(); i-- > 0;)
      if (segments[i].header.first_sequence <= sequence) {
        if (i < first_needed(segments) || !open(segments[i])) break;
        while (position().sequence < sequence && next()) {
        }
        break;
      }
    if (position().sequence == sequence) {
      const Position found = reader_->position();
      if (next()) return reader_->seek(found);
    }
    seek_first();
    throw Exception(directory_.get_name() + ": there is no good entry " + std::to_string(sequence));
  }

 private:
  // False, and all is as before, if it has been removed, or written again, since it was listed.
  bool open(const Segment& segment) {
    try {
      auto file = directory_.open(segment.name, Open_Mode::read_existing);
      Reader reader(*file);
      if (reader.position().sequence != segment.header.first_sequence) return false;
      reader_ = std::move(reader);
      file_ = std::move(file);
      return true;
    } catch (const Io_Error& error) {
      if (error.code != ENOENT) throw;
      return false;
    }
  }

  // The segment behind the one that is read.
  bool find_next() {
    for (const Segment& segment : list(directory_).segments)
      if (segment.header.epoch > reader_->epoch()) {
        next_ = segment;
        return true;
      }
    return false;
  }

  const std::unique_ptr<Abstract_Directory> owned_;
  Abstract_Directory& directory_;
  std::unique_ptr<Abstract_File> file_;
  std::optional<Reader> reader_;
  Segment next_;
  End end_;
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
void Segmented_Reader::seek(std::uint64_t sequence) { implementation_->seek(sequence); }
void Segmented_Reader::seek_first() { implementation_->seek_first(); }

std::optional<Entry> Segmented_Reader::wait_for_next(std::chrono::milliseconds timeout) {
  return wait_for(*this, timeout);
}

}  // namespace joedb::inline v1::wal
