#ifndef JOEDB_SRC_HISTORY_TAGS_H
#define JOEDB_SRC_HISTORY_TAGS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/history/changes.h"
#include "joedb/journal/readonly_journal.h"

// Names of positions. A tag is a comment in the journal, "tag: v1 = 137": it is copied with the
// journal, and for a program that does not know tags, it is a comment like any other. A later tag
// with the same name replaces the tag; the comment "tag: v1" removes it.

namespace joedb::inline v1 {

inline constexpr std::string_view tag_mark = "tag: ";
inline constexpr std::size_t max_tag_name_size = 100;  // bytes

// Throws Exception, with the reason, if `name` cannot be the name of a tag: it is empty or too
// long; has blanks, control characters or ".."; begins with - or .; ends with .; is not UTF-8; or
// is, or looks like, a position or a time.
void require_tag_name(std::string_view name);

// Return the comment that creates the tag, and the comment that removes it. Require a valid name.
std::string tag_text(std::string_view name, Offset position);
std::string tag_removal_text(std::string_view name);

// The content of a comment that creates or removes a tag; `name` refers to the text of the comment.
// Code that moves the entries of a journal to other positions needs this too: it must rewrite such
// comments.
struct Tag_Comment {
  std::string_view name;
  std::optional<Offset> position;  // nullopt: the tag is removed
};
// Returns nullopt for other comments.
std::optional<Tag_Comment> parse_tag(std::string_view comment);

struct Tag {
  Offset position = 0;
  // The transaction that wrote the tag: its end, its time and its author.
  Offset written_at = 0;
  std::optional<std::int64_t> time;
  std::string author;
};

// The tags of a journal.
class Tags {
 public:
  using Map = std::map<std::string, Tag, std::less<>>;

  // Adds the tags of a transaction. Must be called for all transactions, in order. Ignores comments
  // that are not tags.
  void read(const Transaction_Info& transaction);

  const Map& by_name() const { return tags_; }
  // Throws Exception if there is no such tag. The message has names of existing tags.
  const Tag& at(std::string_view name) const;
  // Returns the end of an error message for a missing tag: names of existing tags.
  std::string known_names(std::string_view instead_of) const;
  // Returns the names of the tags whose position is in (begin, end] of the transaction, in the
  // order of their positions.
  std::vector<std::string> names_of(const Transaction_Info& transaction) const;

 private:
  Map tags_;
  std::set<std::pair<Offset, std::string>> by_position_;
};

// Reads the journal from its start. Throws what Summaries (changes.h) throws.
Tags read_tags(Abstract_File& file, Recovery recovery = Recovery::none);

// ---- places as people write them ----------------------------------------------------------------

// A place in the history: a position, a time, or the name of a tag.
struct When {
  std::string text;              // as the user wrote it
  std::optional<Moment> moment;  // nullopt: the text is the name of a tag
};

// Parses a place. A number is a position. A text that parse_time (kernel/base/time.h) accepts, with
// `now`, is a time. Any other text is the name of a tag, if it is a valid name. Returns nullopt for
// all other texts.
std::optional<When> parse_when(std::string_view text, std::int64_t now);

// Returns the moment itself, or the position of the tag. Throws the exceptions of Summaries, and
// Exception if the tag does not exist, or if the position of the tag is not between two entries
// that precede the tag.
Moment resolve(Abstract_File& file, const When& when, Recovery recovery = Recovery::none);

// Returns the position of the moment that resolve() returns. Throws what resolve() and
// find_moment() throw.
Offset find_position(Abstract_File& file, const When& when, Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
