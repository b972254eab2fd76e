#include "joedb/wal/copies.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>

#include "joedb/base/log.h"
#include "joedb/base/types.h"
#include "joedb/io/posix_file.h"
#include "joedb/wal/log.h"
#include "kernel/base/counted.h"
#include "wal/copy_queues.h"
#include "wal/recovery.h"

namespace joedb::inline v1::wal {

namespace {

std::string name_of(const std::vector<std::unique_ptr<Abstract_File>>& files) {
  std::string name;
  for (const auto& file : files)
    name += (name.empty() ? "" : ", ") + (file ? file->get_name() : std::string("a missing copy"));
  return name;
}

}  // namespace

// ---- Merge --------------------------------------------------------------------------------------

// Reconstructs the log from all copies and, unless they are read-only, repairs each copy so that it
// holds this log.
class Copies::Merge {
 public:
  explicit Merge(Copies& copies) : copies_(copies) {}

  void run() {
    find_headers();
    if (!best_) return begin_log();
    walk();
    require_evidence();
    check_after_end();
    if (copies_.is_readonly()) {
      copies_.read_size_ = end_.offset;
    } else {
      repair();
    }
  }

 private:
  struct Copy {
    Copy(std::size_t i, const Abstract_File& f) : index(i), file(f), source(f) { source.refresh(); }

    std::size_t index;
    const Abstract_File& file;
    File_Source source;
    std::optional<Found_Header> header = {};
    bool is_damaged = false;   // true if it has headers, but none of them is good
    bool is_followed = false;  // true if its entries have the epoch of best_, and agree so far
    // Sequence of the last entry that is durable according to the entries of this copy. Such a
    // statement is written to a copy only after its own sync or, if the copy lags, after the syncs
    // of enough other copies (see Copy_Queues).
    std::uint64_t known_durable = 0;
    Durable_Part durable{log_start};
    Report later = {};  // the entries of this copy after the end of the log
  };
  // A range of bytes that is copied from one copy to another.
  struct Repair {
    std::size_t to, from;
    Offset start, end;
  };

  void find_headers() {
    for (std::size_t i = 0; i < copies_.files_.size(); ++i) {
      if (!copies_.status_[i].is_used) continue;
      const Abstract_File& file = *copies_.files_[i];
      try {
        Copy& copy = all_.emplace_back(i, file);
        try {
          copy.header = read_header(file);
        } catch (const Corruption_Error& error) {
          copies_.report(error.what());
          copy.is_damaged = true;
        }
        if (!copy.header && !copy.is_damaged && !is_blank(file))
          throw Exception(file.get_name() + " is no copy of a log of format `checked`");
        if (copy.header && (!best_ || is_later(copy.header->header, best_->header))) {
          best_ = copy.header;
          reference_ = i;
        }
      } catch (const Io_Error& error) {
        if (!all_.empty() && all_.back().index == i) all_.pop_back();
        copies_.drop(i, error.what());
      }
    }
    for (const Copy& copy : all_)
      if (copy.header && copy.header->header.log_id != best_->header.log_id)
        throw Corruption_Error(copy.file.get_name() + " and " +
                                   copies_.files_[reference_]->get_name() +
                                   " are copies of different logs",
                               0);
    if (!best_) return;
    choose_history();
    for (Copy& copy : all_) copy.is_followed = copy.header && is_same_history(*copy.header, *best_);
  }

  static bool is_same_history(const Found_Header& a, const Found_Header& b) {
    return a.header.epoch == b.header.epoch && a.header.first_sequence == b.header.first_sequence;
  }

  // Chooses the header with the last rotation. Exception: some copies may have missed this
  // rotation, because it was never acknowledged, and continued without it. Then chooses the header
  // that `needed_` copies have.
  void choose_history() {
    const Found_Header last = *best_;
    for (Copy& copy : all_) {
      if (!copy.header || is_same_history(*copy.header, last)) continue;
      Reader reader(copy.file);
      while (reader.next()) {
      }
      const bool has_continued = copy.header->header.epoch == last.header.epoch ||
                                 reader.position().sequence > last.header.first_sequence;
      if (!has_continued) continue;
      const bool is_enough = count(*copy.header) >= copies_.needed_;
      if (is_enough == (count(last) >= copies_.needed_))
        throw Corruption_Error(
            name(copy.index) + " and " + name(reference_) +
                " have different histories. Remove the copy that shall not count",
            0);
      if (is_enough) {
        copies_.report("a rotation in " + name(reference_) +
                       " does not count: " + name(copy.index) + " has gone on without it");
        best_ = copy.header;
        reference_ = copy.index;
        return;
      }
    }
  }

  std::size_t count(const Found_Header& header) const {
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const Copy& copy) {
      return copy.header && is_same_history(*copy.header, header);
    }));
  }

  void begin_log() {
    if (std::any_of(all_.begin(), all_.end(), [](const Copy& copy) { return copy.is_damaged; }))
      throw Corruption_Error(copies_.get_name() + ": no header of any copy is good", 0);
    if (all_.size() < copies_.files_.size())
      throw Exception(copies_.get_name() +
                      ": no copy holds a log; to make a new one, all copies must be there");
    copies_.pieces_ = {{0, 0}};
    copies_.is_new_ = !copies_.is_readonly();
  }

  // Returns the next entry in this copy, including its header. Returns nullopt if the entry is not
  // good, or cannot be read.
  std::optional<std::string_view> next_of(Copy& copy, Entry_Header& header) {
    try {
      const auto entry = read_good_entry(copy.source, end_.offset, epoch_, header);
      if (entry && header.sequence == end_.sequence && header.previous == previous_) return entry;
    } catch (const Io_Error& error) {
      copies_.report(error.what());
    }
    return std::nullopt;
  }

  void walk() {
    epoch_ = previous_ = epoch_crc(best_->header);
    end_ = {best_->header.first_sequence, log_start};
    copies_.pieces_ = {{0, reference_}};
    for (;;) {
      const std::optional<std::string_view> entry = choose();
      if (!entry) return;
      const std::size_t size = padded_size(entry->size() - entry_header_size);
      const Offset next = end_.offset + static_cast<Offset>(size);
      const auto header = load<Entry_Header>(entry->data());
      const std::uint64_t count = is_marker(header) ? 0 : 1;
      for (Copy& copy : all_) {
        if (std::find(good_.begin(), good_.end(), copy.index) != good_.end()) {
          copy.known_durable = std::max(copy.known_durable, durable_before(header));
          if (count > 0) copy.durable.add(end_, next, copy.known_durable);
        } else {
          add_repair({copy.index, source_, end_.offset, next});
          copies_.status_[copy.index].repaired_entries += count;
        }
      }
      if (copies_.pieces_.back().copy != source_) copies_.pieces_.push_back({end_.offset, source_});
      end_ = {end_.sequence + count, next};
    }
  }

  // Returns the next entry, or nullopt at the end. Sets good_, source_ and previous_.
  std::optional<std::string_view> choose() {
    struct Candidate {
      std::string_view entry;
      std::uint32_t crc;
      std::vector<std::size_t> copies;
    };
    std::vector<Candidate> candidates;
    for (Copy& copy : all_) {
      if (!copy.is_followed) continue;
      Entry_Header header;
      const auto entry = next_of(copy, header);
      if (!entry) continue;
      const auto same = std::find_if(candidates.begin(), candidates.end(),
                                     [&](const Candidate& c) { return c.entry == *entry; });
      if (same != candidates.end())
        same->copies.push_back(copy.index);
      else
        candidates.push_back({*entry, header.crc, {copy.index}});
    }
    if (candidates.empty()) return std::nullopt;
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.copies.size() > b.copies.size(); });
    if (candidates.size() > 1) {
      const std::size_t needed = copies_.needed_;
      if (candidates[0].copies.size() < needed || candidates[1].copies.size() >= needed)
        throw Corruption_Error("entry " + std::to_string(end_.sequence) + " is good in " +
                                   name(candidates[0].copies[0]) + " and in " +
                                   name(candidates[1].copies[0]) +
                                   ", but not the same. Remove the copy that shall not count",
                               end_.offset);
      for (std::size_t i = 1; i < candidates.size(); ++i)
        for (const std::size_t losing_copy : candidates[i].copies) {
          copies_.report(name(losing_copy) + " has another entry " + std::to_string(end_.sequence) +
                         " than " + name(candidates[0].copies[0]) + ", which counts");
          for (Copy& copy : all_)
            if (copy.index == losing_copy) copy.is_followed = false;
        }
    }
    good_ = candidates[0].copies;
    if (std::find(good_.begin(), good_.end(), copies_.pieces_.back().copy) != good_.end())
      source_ = copies_.pieces_.back().copy;
    else
      source_ = good_[0];
    previous_ = candidates[0].crc;
    return candidates[0].entry;
  }

  void add_repair(const Repair& repair) {
    for (auto last = repairs_.rbegin(); last != repairs_.rend(); ++last) {
      if (last->to != repair.to) continue;
      if (last->from != repair.from || last->end != repair.start) break;
      last->end = repair.end;
      return;
    }
    repairs_.push_back(repair);
  }

  // A durable entry is in at least `needed_` copies. So if fewer than `needed_` copies are missing,
  // it is in an available copy. A copy without a header counts as missing, unless the log consists
  // only of a header, and so may just have been created.
  void require_evidence() const {
    std::size_t count = 0;
    for (const Copy& copy : all_) count += copy.header.has_value();
    const std::size_t all = copies_.files_.size();
    const bool is_new = best_->header.epoch == 1 && end_.sequence == 1 && all_.size() == all &&
                        std::all_of(all_.begin(), all_.end(),
                                    [](const Copy& copy) { return begins_as_log(copy.file); });
    if (count + copies_.needed_ > all || is_new) return;
    throw Exception(copies_.get_name() + ": only " + std::to_string(count) + " of " +
                    std::to_string(all) + " copies hold the log; " +
                    std::to_string(all - copies_.needed_ + 1) +
                    " are needed to be sure that no entry is missing");
  }

  // Checks that the bytes after the end are the result of a power cut, not damage of durable
  // entries.
  void check_after_end() {
    for (Copy& copy : all_) {
      if (!copy.is_followed) continue;
      Report& later = copy.later;
      later.log_id = best_->header.log_id;
      later.epoch = best_->header.epoch;
      later.end = {Stop::checksum, end_};
      find_later_entries(copy.file, best_->header, end_, [&](const Later_Entry& entry) {
        if (durable_before(entry.header) >= end_.sequence)
          throw Corruption_Error("entry " + std::to_string(end_.sequence) +
                                     " was durable, and is good in no copy; " + name(copy.index) +
                                     " has good entries behind it",
                                 end_.offset);
        add_later(later, entry);
      });
    }
  }

  bool has_header(const Copy& copy) const {
    return copy.header && copy.header->header == best_->header && copy.header->slot == best_->slot;
  }

  void repair() {
    // If there are no entries, the removed bytes may be entries of the previous epoch, which counts
    // on the disk until this header is durable.
    for_each([&](const Copy& copy, Abstract_File& file) {
      if (!has_header(copy)) return;
      write_header(file, best_->header, best_->slot);
      if (end_.offset == log_start) file.datasync();
    });
    for_each([&](const Copy& copy, Abstract_File& file) { repair(copy, file); });
    copies_.require_enough();
  }

  template <class F>
  void for_each(F f) {
    for (const Copy& copy : all_) {
      if (!copies_.status_[copy.index].is_used) continue;
      try {
        f(copy, *copies_.files_[copy.index]);
      } catch (const Io_Error& error) {
        copies_.drop(copy.index, error.what());
      }
    }
  }

  // Copies good entries in [start, end). A power cut may have truncated `from` in the padding of
  // its last entry; the missing zeros are written to `to`.
  static void copy_entries(const Abstract_File& from, Abstract_File& to, Offset start, Offset end) {
    const Offset there = std::min(end, from.get_size());
    from.copy_to(to, start, there - start);
    to.write_zeros(there, end);
  }

  // The header is written last, because until then this copy lacks the entries that belong to the
  // header. Afterwards, the Writer syncs all copies.
  void repair(const Copy& copy, Abstract_File& file) {
    if (copy.later.later_entries > 0)
      copies_.report(counted(copy.later.later_entries, "good entry", "good entries") +
                     " behind the end of " + file.get_name() + " were saved in " +
                     save_later_entries(file, copy.later));
    for (const Repair& repair : repairs_)
      if (repair.to == copy.index)
        copy_entries(*copies_.files_[repair.from], file, repair.start, repair.end);
    // Rewrites the entries that are not known to be on the disk of this copy (see Durable_Part).
    copy_entries(file, file, copy.durable.end(copy.known_durable), end_.offset);
    clear_tail(file, best_->header, end_, !copy.is_followed || copy.later.later_offset > 0);
    // A copy that has a header must always keep a good header, because without one it would count
    // as missing. The header in the other slot may be of a rotation that does not count.
    if (!has_header(copy)) {
      if (copy.header && copy.header->slot == best_->slot) {
        file.datasync();
        write_header(file, best_->header, 1 - best_->slot);
      }
      file.datasync();
      write_header(file, best_->header, best_->slot);
      file.datasync();
      const Offset other = (1 - best_->slot) * slot_size;
      for (const Offset half : {other, other + copy_offset})
        file.write_zeros(half, half + slot_size);
    }
    const std::uint64_t entries = copies_.status_[copy.index].repaired_entries;
    if (entries > 0 || !has_header(copy))
      copies_.report(file.get_name() + " was repaired: " + counted(entries, "entry", "entries") +
                     (has_header(copy) ? "" : " and the header"));
  }

  const std::string& name(std::size_t copy) const { return copies_.status_[copy].name; }

  Copies& copies_;
  std::deque<Copy> all_;  // the readable copies
  std::optional<Found_Header> best_;
  std::size_t reference_ = 0;  // a copy that has this header
  Position end_;               // end of the entries so far
  std::uint32_t epoch_ = 0;
  std::uint32_t previous_ = 0;
  std::vector<std::size_t> good_;  // the copies that have the last entry
  std::size_t source_ = 0;         // the copy, one of good_, from which it is read
  std::vector<Repair> repairs_;
};

// ---- Copies -------------------------------------------------------------------------------------

Copies::Copies(std::vector<std::unique_ptr<Abstract_File>> files, Open_Mode mode,
               Copies_Options options)
    : Abstract_File(name_of(files), mode),
      files_(std::make_move_iterator(files.begin()), std::make_move_iterator(files.end())),
      options_(std::move(options)),
      needed_(options_.needed == 0 ? files_.size() : options_.needed) {
  if (files_.empty() || needed_ > files_.size())
    throw Exception("of " + std::to_string(files_.size()) + " copies, " + std::to_string(needed_) +
                    " cannot be needed");
  if (is_shared()) throw Exception("copies of a log cannot be shared");
  for (const auto& file : files_)
    status_.push_back({file ? file->get_name() : "", file != nullptr, 0, ""});
  Merge(*this).run();
  if (!is_readonly()) begin_writing();
}

void Copies::begin_writing() {
  require_enough();
  std::vector<std::shared_ptr<Abstract_File>> files;
  for (std::size_t i = 0; i < files_.size(); ++i)
    files.push_back(status_[i].is_used ? files_[i] : nullptr);
  queues_ = std::make_unique<Copy_Queues>(
      std::move(files),
      Copy_Queues::Options{options_.has_threads, options_.max_lag_bytes, options_.patience,
                           options_.is_slow, needed_, options_.system});
}

Copies::~Copies() {
  if (!queues_) return;
  if (is_inherited()) {
    keep_until_exit(std::move(queues_));
    return;
  }
  queues_->close();
  try {
    report_news();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

std::unique_ptr<Copies> Copies::open(const std::vector<std::string>& names, Open_Mode mode,
                                     Copies_Options options) {
  std::vector<std::unique_ptr<Abstract_File>> files;
  for (const std::string& name : names) {
    try {
      files.push_back(std::make_unique<File>(name, mode));
    } catch (const Io_Error& error) {
      if (error.code == EAGAIN) throw;  // another writer has it
      if (options.on_report) options.on_report(error.what());
      files.push_back(nullptr);
    }
  }
  return std::make_unique<Copies>(std::move(files), mode, std::move(options));
}

std::size_t Copies::used() const {
  if (queues_) require_own_process();
  if (queues_) return queues_->used();
  return static_cast<std::size_t>(
      std::count_if(status_.begin(), status_.end(), [](const Status& s) { return s.is_used; }));
}

std::vector<Copies::Status> Copies::status() const {
  if (queues_) require_own_process();
  std::vector<Status> result = status_;
  for (std::size_t i = 0; queues_ && i < result.size(); ++i) {
    if (!status_[i].is_used) continue;
    const Copy_Queues::Status now = queues_->status(i);
    result[i].is_used = now.is_used;
    result[i].failure = now.failure;
    result[i].lag_bytes = now.lag_bytes;
    result[i].lag_syncs = now.lag_syncs;
  }
  return result;
}

std::size_t Copies::first_used() const {
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (status_[i].is_used && queues_->status(i).is_used) return i;
  require_enough();
  return 0;
}

void Copies::report_news() const {
  for (const std::string& text : queues_->take_reports()) report(text);
}

void Copies::report(const std::string& text) const {
  if (options_.on_report) options_.on_report(text);
}

// Drops a copy while the constructor runs, before there are queues.
void Copies::drop(std::size_t copy, const std::string& failure) {
  status_[copy].is_used = false;
  status_[copy].failure = failure;
  report(status_[copy].name + " is not used any more: " + failure);
}

// Number of copies that must perform an operation before it is done.
std::size_t Copies::least() const { return is_new_ ? files_.size() : needed_; }

void Copies::require_enough() const {
  if (used() >= least()) return;
  std::string failures;
  for (const Status& status : status())
    if (!status.failure.empty()) failures += "; " + status.failure;
  throw Exception(get_name() + ": only " + std::to_string(used()) + " of " +
                  std::to_string(files_.size()) + " copies can be written; " +
                  std::to_string(least()) + " are needed" + failures);
}

Offset Copies::get_size() const {
  if (is_readonly()) return read_size_;
  require_own_process();
  queues_->drain();
  Offset size = 0;
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (status_[i].is_used && queues_->status(i).is_used)
      size = std::max(size, files_[i]->get_size());
  return size;
}

// A writer reads only while it opens the log. When their queues are empty, all copies in use are
// equal then.
std::size_t Copies::pread(char* data, std::size_t size, Offset offset) const {
  if (!is_readonly()) {
    require_own_process();
    queues_->drain();
    return files_[first_used()]->pread(data, size, offset);
  }
  size = std::min(size, static_cast<std::size_t>(std::max<Offset>(read_size_ - offset, 0)));
  std::size_t done = 0;
  while (done < size) {
    const Offset at = offset + static_cast<Offset>(done);
    const auto next =
        std::upper_bound(pieces_.begin(), pieces_.end(), at,
                         [](Offset o, const Piece& piece) { return o < piece.start; });
    std::size_t part = size - done;
    if (next != pieces_.end()) part = std::min(part, static_cast<std::size_t>(next->start - at));
    const std::size_t read = files_[std::prev(next)->copy]->pread(data + done, part, at);
    done += read;
    if (read < part) break;
  }
  return done;
}

void Copies::pwrite(const char* data, std::size_t size, Offset offset) {
  require_own_process();
  if (offset >= log_start) is_new_ = false;
  queues_->write(data, size, offset, least());
  report_news();
  require_enough();
}

void Copies::write_zeros(Offset start, Offset end) {
  require_own_process();
  queues_->write_zeros(start, end, least());
  report_news();
  require_enough();
}

bool Copies::truncate(Offset size) {
  require_own_process();
  queues_->drain();
  bool is_cut = true;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!status_[i].is_used || !queues_->status(i).is_used) continue;
    try {
      is_cut = files_[i]->truncate(size) && is_cut;
    } catch (const Io_Error& error) {
      queues_->drop(i, error.what());
    }
  }
  report_news();
  require_enough();
  return is_cut;
}

void Copies::sync() { datasync(); }

void Copies::datasync() {
  require_own_process();
  queues_->sync(least());
  report_news();
  require_enough();
}

}  // namespace joedb::inline v1::wal
