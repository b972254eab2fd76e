#include <cstdio>
#include <iostream>

#include "tools/frame/output.h"
#include "tools/wal/joedb_wal.h"
#include "wal/recovery.h"
#include "wal/segment_list.h"

// The commands `joedb wal verify` and `joedb wal repair`, for a log of segments.

namespace joedb {

namespace {

using wal::Segment;
using wal::Segment_Gap;
using wal::Segment_List;

// A range of consecutive entries. It does not include `end`.
struct Range {
  std::uint64_t first = 1;
  std::uint64_t end = 1;  // one after the last entry
};

// The content of the segments that are needed. All other segments can be recycled.
struct Segments_Report {
  Segment_List list;
  std::vector<Range> ranges;      // one more than there are gaps
  std::vector<Segment_Gap> gaps;  // in the order of the log
  std::uint64_t bytes = 0;
  Offset file_size = 0;
  wal::Report last;  // the report of the newest segment

  bool has_damage() const { return !gaps.empty() || !list.damaged.empty(); }
  bool is_good() const { return !has_damage() && joedb::is_good(last); }
  const std::string& newest() const { return list.segments.back().name; }
};

void add(Segments_Report& report, const std::optional<Segment_Gap>& gap, const Segment& segment) {
  if (gap) report.gaps.push_back(*gap);
  const std::uint64_t first = segment.header.first_sequence;
  if (gap || report.ranges.empty()) report.ranges.push_back({first, first});
}

Segments_Report examine(Abstract_Directory& directory) {
  Segments_Report report{
      .list = wal::list_segments(directory), .ranges = {}, .gaps = {}, .last = {}};
  const std::vector<Segment>& segments = report.list.segments;
  if (segments.empty()) return report;
  auto gap = wal::gap_at_start(report.list);
  if (gap) report.ranges.push_back({gap->first, gap->first});
  for (std::size_t i = report.list.first_needed(); i < segments.size(); ++i) {
    add(report, gap, segments[i]);
    wal::Segment_Content content;
    if (i + 1 < segments.size()) {
      content = wal::read_all(directory, segments[i]);
      gap = wal::gap_between(segments[i], content.end, segments[i + 1]);
    } else {
      report.last = wal::examine(*directory.open(segments[i].name, Open_Mode::read_existing));
      content = {report.last.entries, report.last.bytes, report.last.file_size, report.last.end};
    }
    report.bytes += content.bytes;
    report.file_size += content.file_size;
    report.ranges.back().end = content.end.position.sequence;
  }
  return report;
}

// ---- text ---------------------------------------------------------------------------------------

std::string text_of(const Range& range) {
  return counted(range.end - range.first, "entry", "entries") +
         (range.end == range.first
              ? ""
              : ", " + std::to_string(range.first) + " to " + std::to_string(range.end - 1));
}

void print_log(const std::string& name, const Segments_Report& report) {
  const Segment_List& list = report.list;
  const std::size_t needed = list.segments.size() - list.first_needed();
  std::uint64_t entries = 0;
  for (const Range& range : report.ranges) entries += range.end - range.first;
  char id[17];
  std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(report.last.log_id));
  std::cout << "format:        checked, in " << counted(needed, "segment");
  if (list.first_needed() > 0) std::cout << "; " << list.first_needed() << " more to be recycled";
  std::cout << "\nlog id:        " << id << "\nentries:       " << entries;
  const char* separator = ", ";
  for (const Range& range : report.ranges) {
    if (range.end == range.first) continue;
    std::cout << separator << range.first << " to " << range.end - 1;
    separator = " and ";
  }
  std::cout << "\nbytes:         " << report.bytes << ", in files of " << report.file_size
            << "\nend:           " << name << '/' << report.newest() << ", offset "
            << report.last.end.position.offset << ": " << report.last.end.text() << '\n';
  for (const Segment_Gap& gap : report.gaps) std::cout << "gap:           " << gap.text() << '\n';
  if (!list.damaged.empty()) std::cout << "header:        " << list.damage << '\n';
}

// Returns a report with the members of the report of a single file, except that `ranges` and `gaps`
// replace `first`.
Json json_of(const std::string& name, const Segments_Report& report) {
  Json json{{"file", name},
            {"good", report.is_good()},
            {"damaged", report.has_damage() || report.last.is_damaged()},
            {"format", "checked"},
            {"segments", report.list.segments.size() - report.list.first_needed()}};
  std::uint64_t entries = 0;
  Json ranges = Json::array();
  for (const Range& range : report.ranges) {
    entries += range.end - range.first;
    if (range.end > range.first) ranges.push_back({range.first, range.end - 1});
  }
  Json gaps = Json::array();
  for (const Segment_Gap& gap : report.gaps) gaps.push_back(gap.text());
  json.update({{"entries", entries},
               {"ranges", ranges},
               {"gaps", gaps},
               {"bytes", report.bytes},
               {"file_size", report.file_size},
               {"end", json_of_end(report.last)}});
  json["end"]["segment"] = report.newest();
  return json;
}

void print_advice_for_gaps(const std::string& name, const Segments_Report& report) {
  std::cout
      << "Put back what is missing from a backup, if there is one. To give it up, and keep "
         "the\nentries before it, or those behind it, with the others in a directory of their "
         "own:\n";
  if (report.ranges.front().end > report.ranges.front().first)
    std::cout << "  joedb wal repair " << name << '\n';
  std::cout << "  joedb wal repair --keep-later " << name << '\n';
}

// ---- repair -------------------------------------------------------------------------------------

// Returns the files that a repair would remove.
std::vector<std::string> removed_files(const Segments_Report& report, const Repair& repair) {
  std::vector<std::string> names = report.list.damaged;
  if (report.gaps.empty()) return names;
  const std::vector<Segment>& segments = report.list.segments;
  const std::string& first_behind =
      (repair.keeps_later ? report.gaps.back() : report.gaps.front()).behind;
  const auto behind = std::find_if(segments.begin(), segments.end(), [&](const Segment& segment) {
    return segment.name == first_behind;
  });
  if (repair.keeps_later) {
    for (auto i = segments.begin(); i != behind; ++i) names.push_back(i->name);
  } else {
    // Remove the newest first, so that the gap is the same after a crash in between.
    for (auto i = segments.end(); i != behind;) names.push_back((--i)->name);
  }
  return names;
}

void copy_end(const std::string& name, Offset start, const std::string& out) {
  const File file(name, Open_Mode::read_existing);
  if (file.get_size() > start) save_end(file, start, out);
}

// Durably records in the header of a segment that entries before `oldest` are not needed.
void write_oldest(const std::string& segment, std::uint64_t oldest) {
  File file(segment, Open_Mode::write_existing);
  const auto found = wal::read_header(file);
  wal::Header header = found->header;
  if (header.oldest < oldest) {
    header.oldest = oldest;
    wal::write_header(file, header, 1 - found->slot);
  }
  file.sync();
}

// Returns the name of the directory for copies of the removed bytes.
std::string copy_name(const std::string& name, const Segments_Report& report,
                      const Repair& repair) {
  if (!repair.copy.empty()) return repair.copy;
  const std::uint64_t first =
      report.gaps.empty() ? report.ranges.back().end : report.gaps.front().first;
  return std::filesystem::path(name + "/").parent_path().string() + ".tail-" +
         std::to_string(first);
}

// Keeps either the entries before the first gap, or those after the last gap.
int repair_gaps(const std::string& name, const Segments_Report& report, const Repair& repair) {
  Directory directory(name);
  const std::vector<std::string> removed = removed_files(report, repair);
  const bool is_cut = !report.gaps.empty() && !repair.keeps_later;
  const std::string end = is_cut ? report.gaps.front().before : report.newest();
  const Range kept = is_cut ? report.ranges.front() : report.ranges.back();
  const Offset cut = is_cut ? report.gaps.front().end.position.offset : 0;
  const std::string copy = copy_name(name, report, repair);
  const bool has_copy = is_cut || !removed.empty();
  if (has_copy) {
    require_new(copy);
    try {
      Directory::make(copy);
      std::filesystem::permissions(copy, std::filesystem::status(name).permissions());
      for (const std::string& segment : removed)
        copy_end(name + "/" + segment, 0, copy + "/" + segment);
      if (is_cut)
        copy_end(name + "/" + end, cut, copy + "/" + end + ".tail-" + std::to_string(cut));
    } catch (...) {  // an incomplete copy would prevent the next repair
      std::error_code ignored;
      std::filesystem::remove_all(copy, ignored);
      throw;
    }
  }
  // Do this before the removal, because the removed headers record which entries are needed.
  write_oldest(name + "/" + end, repair.keeps_later ? kept.first : report.list.oldest());
  for (const std::string& segment : removed) directory.remove(segment);
  File last(name + "/" + end, Open_Mode::write_existing);
  if (is_cut) wal::recover(last, repair.has_zeros ? wal::Tail::zero : wal::Tail::truncate);
  last.sync();  // also syncs the directory
  for (const std::string& file : removed) std::cout << "removed: " << name << '/' << file << '\n';
  if (has_copy) std::cout << "saved:   in " << copy << '\n';
  std::cout << "left:    " << text_of(kept) << '\n';
  finish_standard_output();
  return 0;
}

void require_log(const std::string& name, const Segments_Report& report) {
  if (!report.list.segments.empty()) return;
  if (!report.list.damage.empty()) throw Corruption_Error(report.list.damage, 0);
  throw Exception(name + ": there are no segments of a log in this directory");
}

}  // namespace

int verify_segments(const std::string& name, bool is_json) {
  Segments_Report report;
  {
    Watched_Directory directory(name);
    report = examine(directory);
  }
  require_log(name, report);
  if (is_json) {
    print_json(json_of(name, report));
    finish_standard_output();
    return report.is_good() ? 0 : 1;
  }
  std::cout << name << ": "
            << (report.is_good() ? "good"
                                 : (report.has_damage() || report.last.is_damaged()
                                        ? "damaged"
                                        : "not good behind the last entry"))
            << '\n';
  print_log(name, report);
  if (report.has_damage())
    print_advice_for_gaps(name, report);
  else if (!report.is_good())
    print_advice(name + "/" + report.newest(), report.last);
  finish_standard_output();
  return report.is_good() ? 0 : 1;
}

int repair_segments(const std::string& name, const Repair& repair) {
  Segments_Report report;
  {
    Watched_Directory directory(name);
    report = examine(directory);
  }
  require_log(name, report);
  if (report.is_good()) {
    std::cout << name << ": nothing to repair: " << text_of(report.ranges.front()) << '\n';
    finish_standard_output();
    return 0;
  }
  // Throws if a writer holds the lock of the newest segment.
  auto newest = std::make_unique<File>(name + "/" + report.newest(), Open_Mode::write_existing);
  newest.reset();
  if (!report.has_damage()) return repair_file(name + "/" + report.newest(), repair);
  if (!repair.keeps_later && !report.gaps.empty() && report.gaps.front().before.empty())
    throw Exception(name +
                    ": nothing was changed: there are no entries before the missing ones; "
                    "--keep-later keeps the entries after them");
  return repair_gaps(name, report, repair);
}

}  // namespace joedb
