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
#include "kernel/base/time.h"

// Names of positions. A tag is a comment in the journal, such as "tag: v1 = 137". Therefore it is
// copied with the journal, and a program that does not know tags treats it as any other comment. A
// later tag with the same name replaces it; the comment "tag: v1" removes it.

namespace joedb::inline v1 {

inline constexpr std::string_view tag_mark = "tag: ";
inline constexpr std::size_t max_tag_name_size = 100;  // in bytes

// Throws Exception, with the reason, if `name` is invalid as the name of a tag. A name must have 1
// to 100 bytes of UTF-8. It must not contain blanks, control characters or "..", begin with - or .,
// end with ., or be or resemble a position or a time.
void require_tag_name(std::string_view name);

// Return the comment that creates, or removes, a tag. The name must be valid.
std::string tag_text(std::string_view name, Offset position);
std::string tag_removal_text(std::string_view name);

// The content of a comment that creates or removes a tag. `name` points into the text of the
// comment. Code that copies entries to other positions must rewrite such comments.
struct Tag_Comment {
  std::string_view name;
  std::optional<Offset> position;  // nullopt if the comment removes the tag
};
// Returns nullopt for any other comment.
std::optional<Tag_Comment> parse_tag(std::string_view comment);

struct Tag {
  Offset position = 0;
  // The end, the time and the author of the transaction that created the tag.
  Offset written_at = 0;
  std::optional<std::int64_t> time;
  std::string author;
};

// The tags of a journal.
class Tags {
 public:
  using Map = std::map<std::string, Tag, std::less<>>;

  // Adds the tags in the comments of a transaction. Call this for all transactions, in their order.
  void read(const Transaction_Info& transaction);

  const Map& by_name() const { return tags_; }
  // Throws Exception if there is no such tag. The message lists existing tags.
  const Tag& at(std::string_view name) const;
  // Returns the end of an error message about a missing tag: a list of existing tags.
  std::string known_names(std::string_view instead_of) const;
  // Returns the names of the tags with a position in (begin, end] of the transaction, in the order
  // of these positions.
  std::vector<std::string> names_of(const Transaction_Info& transaction) const;

 private:
  Map tags_;
  std::set<std::pair<Offset, std::string>> by_position_;
};

// Reads the whole journal. Throws the exceptions of Summaries (changes.h).
Tags read_tags(Abstract_File& file, Recovery recovery = Recovery::none);

// ---- places as people write them ----------------------------------------------------------------

// A place in the history: a position, a time, or the name of a tag.
struct When {
  std::string text;              // as the user wrote it
  std::optional<Moment> moment;  // nullopt: the text is the name of a tag
};

// Parses a place. A number is a position. A text that parse_time (kernel/base/time.h) accepts,
// given the current time `now` and a zone, is a time. Any other valid name is the name of a tag.
// Returns nullopt for all other texts.
std::optional<When> parse_when(std::string_view text, std::int64_t now, Zone zone = Zone::local);

// Returns the moment of `when` or, for a tag, the tag's position. Throws the exceptions of
// Summaries. Throws Exception if the tag does not exist, or if its position is not between two
// entries that precede the tag.
Moment resolve(Abstract_File& file, const When& when, Recovery recovery = Recovery::none);

// Returns the position of the moment that resolve() returns. Throws the exceptions of resolve() and
// find_moment().
Offset find_position(Abstract_File& file, const When& when, Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
