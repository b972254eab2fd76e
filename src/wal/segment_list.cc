#include "wal/segment_list.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "joedb/wal/log.h"

namespace joedb::inline v1::wal {

namespace {

constexpr std::string_view suffix = ".wal";
constexpr std::size_t number_size = 8;  // minimum number of digits

// Returns "entry 4" or "entries 4 to 6", for [first, end).
std::string entries_text(std::uint64_t first, std::uint64_t end) {
  if (end == first + 1) return "entry " + std::to_string(first);
  return "entries " + std::to_string(first) + " to " + std::to_string(end - 1);
}

std::string advice(const Abstract_Directory& directory) {
  return ". Nothing is written to this log. Put the file back as it was, from a backup; joedb wal "
         "verify " +
         directory.get_name() + " says what else can be done";
}

// Throws Corruption_Error unless all segments belong to one log, because it is unknown which log is
// the right one.
void require_one_log(const Abstract_Directory& directory, const std::vector<Segment>& segments) {
  for (const Segment& segment : segments)
    if (segment.header.log_id != segments.back().header.log_id)
      throw Corruption_Error(directory.get_name() + ": " + segment.name + " and " +
                                 segments.back().name + " belong to different logs",
                             0);
}

}  // namespace

std::string segment_name(std::uint64_t epoch) {
  std::string digits = std::to_string(epoch);
  if (digits.size() < number_size) digits.insert(0, number_size - digits.size(), '0');
  return digits + std::string(suffix);
}

bool is_segment_name(std::string_view name) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return name.size() >= number_size && name.find_first_not_of("0123456789") == name.npos;
}

// ---- lists --------------------------------------------------------------------------------------

Segment_List list_segments(Abstract_Directory& directory) {
  Segment_List list;
  list.names = directory.list();
  std::sort(list.names.begin(), list.names.end());
  for (const std::string& name : list.names) {
    if (!is_segment_name(name)) continue;
    try {
      const auto file = directory.open(name, Open_Mode::read_existing);
      if (const auto found = read_header(*file))
        list.segments.push_back({name, found->header});
      else if (is_blank(*file))
        list.blank.push_back(name);
      else
        throw Corruption_Error(file->get_name() + " is no segment of a log", 0, file->get_name());
    } catch (const Corruption_Error& error) {
      if (list.damaged.empty()) list.damage = error.what();
      list.damaged.push_back(name);
    } catch (const Io_Error& error) {
      if (error.code != ENOENT) throw;  // ENOENT: it was removed meanwhile
    }
  }
  std::stable_sort(list.segments.begin(), list.segments.end(),
                   [](const Segment& a, const Segment& b) { return is_later(b.header, a.header); });
  if (!list.segments.empty()) require_one_log(directory, list.segments);
  return list;
}

std::optional<Segment> read_segment(Abstract_Directory& directory, const std::string& name) {
  try {
    const auto file = directory.open(name, Open_Mode::read_existing);
    if (const auto found = read_header(*file)) return Segment{name, found->header};
  } catch (const Io_Error& error) {
    if (error.code != ENOENT) throw;
  }
  return std::nullopt;
}

std::uint64_t Segment_List::oldest() const {
  std::uint64_t result = 1;
  for (const Segment& segment : segments) result = std::max(result, segment.header.oldest);
  return result;
}

std::size_t Segment_List::first_needed() const {
  assert(!segments.empty());
  const std::uint64_t entry = oldest();
  std::size_t first = segments.size() - 1;
  while (first > 0 && segments[first].header.first_sequence > entry) --first;
  return first;
}

void Segment_List::require_headers(const Abstract_Directory& directory) const {
  if (!damaged.empty()) throw Corruption_Error(damage + advice(directory), 0);
}

// ---- gaps ---------------------------------------------------------------------------------------

std::string Segment_Gap::text() const {
  if (first > next)
    return behind + " begins with entry " + std::to_string(next) + ", but " + before +
           " before it ends with entry " + std::to_string(first - 1);
  const std::string entries = entries_text(first, next);
  const std::string verb = next == first + 1 ? " is" : " are";
  if (before.empty())
    return entries + verb + " missing: the first segment is " + behind +
           ", and begins with entry " + std::to_string(next);
  if (!is_whole)
    return (first == next ? "a segment is" : entries + verb) + " missing, between " + before +
           " and " + behind;
  return entries + " cannot be read: " + before + " is damaged at offset " +
         std::to_string(end.position.offset) + " (" + end.text() + "), and " + behind +
         " begins with entry " + std::to_string(next);
}

Segment_Content read_all(Abstract_Directory& directory, const Segment& segment) {
  const auto file = directory.open(segment.name, Open_Mode::read_existing);
  Segment_Content content;
  Reader reader(*file);
  while (const auto entry = reader.next()) {
    ++content.entries;
    content.bytes += entry->bytes.size();
  }
  content.file_size = file->get_size();
  content.end = reader.end();
  return content;
}

std::optional<Segment_Gap> gap_at_start(const Segment_List& list) {
  const Segment& first = list.segments[list.first_needed()];
  const std::uint64_t oldest = list.oldest();
  if (first.header.first_sequence <= oldest) return std::nullopt;
  Segment_Gap gap;
  gap.first = oldest;
  gap.next = first.header.first_sequence;
  gap.behind = first.name;
  return gap;
}

std::optional<Segment_Gap> gap_between(const Segment& before, const End& end,
                                       const Segment& behind) {
  if (end.position.sequence == behind.header.first_sequence) return std::nullopt;
  return Segment_Gap{end.position.sequence, behind.header.first_sequence, before.name,
                     behind.name,           is_next(before, behind),      end};
}

bool is_next(const Segment& before, const Segment& behind) {
  return behind.header.epoch == before.header.epoch + 1;
}

void refuse(const Abstract_Directory& directory, const Segment_Gap& gap) {
  throw Corruption_Error(directory.get_name() + ": " + gap.text() + advice(directory),
                         gap.end.position.offset);
}

}  // namespace joedb::inline v1::wal
