#ifndef JOEDB_SRC_REWRITE_ENTRY_COPIER_H
#define JOEDB_SRC_REWRITE_ENTRY_COPIER_H

#include <map>
#include <string>

#include "history/tags.h"
#include "joedb/format/codec.h"
#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "rewrite/blob_map.h"

namespace joedb::inline v1 {

// Appends a copy of a blob in another file. Throws Corruption_Error if the file ends inside the
// blob.
inline Blob copy_blob(const Abstract_File& file, Blob blob, Writable_Journal& journal) {
  Offset position = blob.get_position();
  return journal.append_blob(blob.get_size(), [&](char* data, std::size_t size) {
    if (file.pread(data, size, position) < size)
      throw Corruption_Error("the file ends in a blob", position);
    position += static_cast<Offset>(size);
  });
}

// A handler that collects the positions of tags, and maps them to positions in the copy: 0 if the
// copy does not have the position (yet).
class Tag_Positions : public Ignore_Entries {
 public:
  using Ignore_Entries::operator();
  void operator()(const Comment& e) {
    const auto tag = parse_tag(e.text);
    if (tag && tag->position) positions_.emplace(*tag->position, 0);
  }

  // Calls replay(position) for the position of each tag, in ascending order, and then replay(end).
  // replay() must replay the journal up to `position`, and append the entries to the copy.
  template <class Replay>
  void copy(const Readonly_Journal& journal, Offset end, const Writable_Journal& to,
            Replay replay) {
    for (auto& [position, in_copy] : positions_) {
      if (position < journal.get_replay_position() || position > end) continue;
      replay(position);
      if (journal.get_replay_position() == position) in_copy = to.get_position();
    }
    replay(end);
  }

  // Returns the text of the comment in the copy. If the copy does not have the position of a tag,
  // the comment becomes one that removes the tag.
  std::string moved(const Comment& comment) const {
    const auto tag = parse_tag(comment.text);
    if (!tag || !tag->position) return std::string(comment.text);
    const auto found = positions_.find(*tag->position);
    return found == positions_.end() || found->second == 0 ? tag_removal_text(tag->name)
                                                           : tag_text(tag->name, found->second);
  }

 private:
  std::map<Offset, Offset> positions_;
};

// A handler that appends entries of one journal to another, without changing their meaning: blobs
// and tags get their positions in the other journal. A blob value that refers to no earlier blob is
// unchanged.
class Entry_Copier {
 public:
  // `from` is the file with the entries. All arguments must outlive the copier. If `tags` is null,
  // comments are copied unchanged.
  Entry_Copier(const Abstract_File& from, Writable_Journal& to, Blob_Map& blobs,
               const Tag_Positions* tags)
      : from_(from), to_(to), blobs_(blobs), tags_(tags) {}

  template <class Entry>
  void operator()(const Entry& e) {
    to_.append(e);
  }
  void operator()(const Comment& e) {
    const std::string text = tags_ != nullptr ? tags_->moved(e) : std::string(e.text);
    to_.append(Comment{text});
  }
  void operator()(const Update<Blob>& e) {
    to_.append(Update<Blob>{e.table, e.record, e.field, moved(e.value)});
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    to_.append_vector<T>(e.table, e.record, e.field, e.size,
                         [&](index_t) { return moved(e.values.next()); });
  }
  void operator()(const Blob_Data& e) {
    blobs_.add(e.blob, copy_blob(from_, e.blob, to_).get_position());
  }

  template <Field_Value T>
  T moved(T value) {
    if constexpr (std::is_same_v<T, Blob>) {
      if (value.is_not_null() && !blobs_.find(value)) ++unknown_blobs_;
      return blobs_.moved(value);
    } else {
      return value;
    }
  }

  // Returns the number of blob values that refer to no earlier blob.
  std::int64_t unknown_blobs() const { return unknown_blobs_; }

 private:
  const Abstract_File& from_;
  Writable_Journal& to_;
  Blob_Map& blobs_;
  const Tag_Positions* const tags_;
  std::int64_t unknown_blobs_ = 0;
};

}  // namespace joedb::inline v1

#endif
