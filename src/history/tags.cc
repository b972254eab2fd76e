#include "history/tags.h"

#include <algorithm>

#include "joedb/history/changes.h"
#include "kernel/base/json_text.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/suggestion.h"
#include "kernel/base/utf8.h"

namespace joedb::inline v1 {

// ---- names --------------------------------------------------------------------------------------

static std::optional<Offset> parse_position(std::string_view text) {
  const auto position = parse_number<Offset>(text);
  return position && *position >= 0 ? position : std::nullopt;
}

// Returns true if a user would take the text for a number or a time, even an invalid one.
static bool resembles_moment(std::string_view text) {
  return text.find_first_not_of("0123456789-+:T") == text.npos || text == "now" ||
         text == "today" || text == "yesterday" || text == "tomorrow";
}

// Returns the reason why the name is invalid; empty if it is valid.
static std::string_view name_problem(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > max_tag_name_size) return "the name has more than 100 bytes";
  for (std::string_view rest = name; !rest.empty();) {
    const auto byte = static_cast<unsigned char>(rest.front());
    if (byte == ' ') return "a name has no blanks";
    if (byte < 0x20 || byte == 0x7f) return "a name has no control characters";
    const std::size_t size = byte < 0x80 ? 1 : utf8_sequence_size(rest);
    if (size == 0) return "the name is not UTF-8";
    // U+0080 to U+009F, and the no-break space U+00A0
    if (byte == 0xc2 && static_cast<unsigned char>(rest[1]) <= 0xa0)
      return "a name has no blanks and no control characters";
    rest.remove_prefix(size);
  }
  if (resembles_moment(name)) return "the name would be read as a position or a time";
  if (name.find("..") != name.npos || name.front() == '.' || name.back() == '.')
    return "a name has no dot at its ends, and no \"..\"";
  if (name.front() == '-') return "a name does not begin with -";
  return "";
}

void require_tag_name(std::string_view name) {
  const std::string_view problem = name_problem(name);
  if (problem.empty()) return;
  std::string text;
  constexpr std::size_t longest_shown = max_tag_name_size;
  append_json_text(text, name.substr(0, longest_shown));
  throw Exception('"' + text + (name.size() > longest_shown ? "…" : "") +
                  "\" cannot be the name of a tag: " + std::string(problem));
}

// ---- comments -----------------------------------------------------------------------------------

std::string tag_text(std::string_view name, Offset position) {
  return std::string(tag_mark).append(name).append(" = ") + std::to_string(position);
}

std::string tag_removal_text(std::string_view name) { return std::string(tag_mark).append(name); }

std::optional<Tag_Comment> parse_tag(std::string_view comment) {
  if (!comment.starts_with(tag_mark)) return {};
  Tag_Comment tag{comment.substr(tag_mark.size()), {}};
  constexpr std::string_view separator = " = ";
  if (const std::size_t end = tag.name.find(separator); end != tag.name.npos) {
    tag.position = parse_position(tag.name.substr(end + separator.size()));
    if (!tag.position) return {};
    tag.name = tag.name.substr(0, end);
  }
  if (!name_problem(tag.name).empty()) return {};
  return tag;
}

void Tags::read(const Transaction_Info& transaction) {
  for (const std::string& comment : transaction.comments) {
    const auto tag = parse_tag(comment);
    if (!tag) continue;
    if (const auto old = tags_.find(tag->name); old != tags_.end()) {
      by_position_.erase({old->second.position, old->first});
      tags_.erase(old);
    }
    if (!tag->position) continue;
    tags_.emplace(tag->name,
                  Tag{*tag->position, transaction.end, transaction.time, transaction.author});
    by_position_.emplace(*tag->position, tag->name);
  }
}

const Tag& Tags::at(std::string_view name) const {
  const auto found = tags_.find(name);
  if (found != tags_.end()) return found->second;
  throw Exception("there is no tag " + std::string(name) + known_names(name));
}

std::string Tags::known_names(std::string_view instead_of) const {
  if (tags_.empty()) return ", nor any other: joedb_tag FILE NAME makes one";
  std::vector<std::string> names;
  for (const auto& [name, tag] : tags_) names.push_back(name);
  if (const std::string meant = did_you_mean(instead_of, names); !meant.empty()) return meant;
  constexpr std::size_t max_shown = 5;
  std::string text = ", but ";
  for (std::size_t i = 0; i < std::min(names.size(), max_shown); ++i)
    text.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > max_shown)
    text += " and " + std::to_string(names.size() - max_shown) + " more: joedb_tag FILE lists them";
  return text;
}

std::vector<std::string> Tags::names_of(const Transaction_Info& transaction) const {
  std::vector<std::string> names;
  for (auto tag = by_position_.lower_bound({transaction.begin + 1, ""});
       tag != by_position_.end() && tag->first <= transaction.end; ++tag)
    names.push_back(tag->second);
  return names;
}

Tags read_tags(Abstract_File& file, Recovery recovery) {
  Change_Options options;
  options.recovery = recovery;
  Tags tags;
  for (const Transaction_Summary& summary : Summaries(file, options)) tags.read(summary);
  return tags;
}

// ---- places as people write them ----------------------------------------------------------------

std::optional<When> parse_when(std::string_view text, std::int64_t now, Zone zone) {
  When when{std::string(text), {}};
  if (const auto position = parse_position(text)) {
    when.moment = at(*position);
    return when;
  }
  // Reject a negative number: parse_time() would take it as seconds since 1970.
  if (!text.starts_with('-')) {
    if (const auto seconds = parse_time(text, now, zone)) {
      when.moment = at_time(*seconds);
      return when;
    }
  }
  if (!name_problem(text).empty()) return {};
  return when;
}

Moment resolve(Abstract_File& file, const When& when, Recovery recovery) {
  if (when.moment) return *when.moment;
  const Tags tags = read_tags(file, recovery);
  const auto found = tags.by_name().find(when.text);
  if (found == tags.by_name().end())
    throw Exception(
        when.text +
        " is neither a position nor a time like 2026-01-31 or \"2 hours ago\", and there "
        "is no tag " +
        when.text + tags.known_names(when.text));
  const Tag& tag = found->second;
  const auto fail = [&](const std::string& why) {
    throw Exception("the tag " + when.text + " is not valid: " + why);
  };
  const std::string position = std::to_string(tag.position);
  if (tag.position < journal_start || tag.position > tag.written_at)
    fail("the journal had no position " + position + " when the tag was written, at " +
         std::to_string(tag.written_at));
  Readonly_Journal journal(file, recovery);
  journal.replay(Ignore_Entries(), tag.position);
  if (journal.get_replay_position() != tag.position)
    fail("its position " + position + " is inside of an entry, which ends at " +
         std::to_string(journal.get_replay_position()));
  return at(tag.position);
}

Offset find_position(Abstract_File& file, const When& when, Recovery recovery) {
  return find_moment(file, resolve(file, when, recovery), recovery);
}

}  // namespace joedb::inline v1
