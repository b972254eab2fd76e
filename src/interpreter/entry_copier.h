#ifndef JOEDB_INTERPRETER_ENTRY_COPIER_H
#define JOEDB_INTERPRETER_ENTRY_COPIER_H

#include "interpreter/blob_map.h"
#include "joedb/format/decoder.h"
#include "joedb/io/file.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// Appends a blob of another file. Throws Corruption_Error if that ends before the blob.
inline Blob copy_blob(const Abstract_File& file, Blob blob, Writable_Journal& journal) {
  Offset position = blob.get_position();
  return journal.append_blob(blob.get_size(), [&](char* data, std::size_t size) {
    if (file.pread(data, size, position) < size)
      throw Corruption_Error("the file ends in a blob", position);
    position += static_cast<Offset>(size);
  });
}

// A handler that appends entries of one journal to another one: with the same meaning, and values
// of blobs say where these are there.
class Entry_Copier {
 public:
  // `from` is the file that the entries come from. All must outlive the copier.
  Entry_Copier(const Abstract_File& from, Writable_Journal& to, Blob_Map& blobs)
      : from_(from), to_(to), blobs_(blobs) {}

  template <class Entry>
  void operator()(const Entry& e) {
    to_.append(e);
  }
  void operator()(const Update<Blob>& e) {
    to_.append(Update<Blob>{e.table, e.record, e.field, blobs_.moved(e.value)});
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
  T moved(T value) const {
    if constexpr (std::is_same_v<T, Blob>)
      return blobs_.moved(value);
    else
      return value;
  }

 private:
  const Abstract_File& from_;
  Writable_Journal& to_;
  Blob_Map& blobs_;
};

}  // namespace joedb::inline v1

#endif
