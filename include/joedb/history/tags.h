#ifndef JOEDB_HISTORY_TAGS_H
#define JOEDB_HISTORY_TAGS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/journal/moment.h"

// Names of positions. A tag is a comment in the journal, "tag: v1 = 137": it goes where the journal
// goes, and a program that knows no tags reads it as any other comment. A later tag with the same
// name replaces it; the comment "tag: v1" removes it.

namespace joedb::inline v1 {

inline constexpr std::string_view tag_mark = "tag: ";
inline constexpr std::size_t longest_tag_name = 100;  // bytes

// Throws Exception, which says why, if this cannot be the name of a tag: it is empty or too long;
// has blanks, control characters or "..", begins with - or ., ends with .; is not UTF-8; or is, or
// looks like, a position or a time.
void require_tag_name(std::string_view name);

// The comment that makes the tag, and the one that removes it. They require a good name.
std::string tag_text(std::string_view name, Offset position);
std::string tag_removal_text(std::string_view name);

// What a comment says that makes or removes a tag; nothing for other comments. The name refers to
// the comment. For those who give the entries of a journal other positions, too: they must write
// the comment again.
struct Tag_Comment {
  std::string_view name;
  std::optional<Offset> position;  // nothing: it is removed
};
std::optional<Tag_Comment> parse_tag(std::string_view comment);

struct Tag {
  Offset position = 0;
  // The transaction that has written the tag: where it ends, its time and its author.
  Offset written_at = 0;
  std::optional<std::int64_t> time;
  std::string author;
};

// The tags of a journal.
class Tags {
 public:
  using Map = std::map<std::string, Tag, std::less<>>;

  // To be called for all transactions, in their order. Comments that are no tags are passed by.
  void read(const Transaction_Info& transaction);

  const Map& by_name() const { return tags_; }
  // Throws Exception if there is no such tag: the message has names that there are.
  const Tag& at(std::string_view name) const;
  // For the end of a message that there is no such tag: names that there are.
  std::string known_names(std::string_view instead_of) const;
  // The names of the tags with a position in (begin, end], that of a transaction, in the order of
  // positions.
  std::vector<std::string> names_of(const Transaction_Info& transaction) const;

 private:
  Map tags_;
  std::set<std::pair<Offset, std::string>> by_position_;
};

// Reads the journal from its start. Throws as Summaries (changes.h) does.
Tags read_tags(Abstract_File& file, Recovery recovery = Recovery::none);

// ---- places as people write them ----------------------------------------------------------------

// A place in the history: a position, a time, or the name of a tag.
struct When {
  std::string text;              // as it was written
  std::optional<Moment> moment;  // nothing: the text is the name of a tag
};

// A number is a position; a time is what parse_time (base/time.h) reads at `now`; other texts that
// can be names of tags are. Nothing for those that cannot.
std::optional<When> parse_when(std::string_view text, std::int64_t now);

// The moment itself, or the position of the tag. Throws Exception if the file has no such tag, or
// if the position of the tag is no place between two entries in front of the tag; and as Summaries
// does.
Moment resolve(Abstract_File& file, const When& when, Recovery recovery = Recovery::none);

// The position of resolve(): throws as that and as find_moment.
Offset find_position(Abstract_File& file, const When& when, Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
