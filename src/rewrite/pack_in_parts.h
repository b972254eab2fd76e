#ifndef JOEDB_SRC_REWRITE_PACK_IN_PARTS_H
#define JOEDB_SRC_REWRITE_PACK_IN_PARTS_H

#include <functional>
#include <string>
#include <vector>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"
#include "rewrite/blob_copies.h"
#include "rewrite/column_parts.h"

namespace joedb::inline v1 {

class Value_Loader;

// Joins journals with the same schema into one packed journal (pack.h). The records of each table
// are in the order in which the journals were added. They are renumbered, and references are
// adapted.
//
// The values need not fit in memory. Each journal is read once to find its records, and then once
// for each part, which has as many values as fit in memory. Memory is needed for one part, and up
// to 24 bytes per record of each table that has gaps between its records.
class Part_Packer {
 public:
  // Replays a journal into the loader. Every call must replay the same entries.
  using Source = std::function<void(Value_Loader&)>;

  // How to treat a reference past the end of its table. In the joined table, this id may be a
  // record of the next journal.
  enum class Loose_References { keep, make_null };

  // `memory` is the approximate size in bytes of the values in memory at a time.
  Part_Packer(std::size_t memory, Loose_References loose,
              Deleted_Values deleted_values = Deleted_Values::reset)
      : loose_(loose),
        deleted_values_(deleted_values),
        values_(shape_, Column_Parts::Order::by_run, memory) {}
  Part_Packer(const Part_Packer&) = delete;
  Part_Packer& operator=(const Part_Packer&) = delete;

  // Adds a journal, and reads it once. The first journal defines the schema. Passes on the
  // exceptions of `source`. Throws Exception if a later journal has another schema. If this throws,
  // nothing was added.
  void add(const std::string& name, Source source);

  // Appends all records to an empty journal. Passes on the exceptions of the sources and of pack().
  // Throws Exception if a source has changed since add().
  void write(Writable_Journal& journal);
  // Like pack() with blobs. There must be one source, whose blobs are in `file`. Values that are
  // not in memory are read twice.
  void write(const Abstract_File& file, Blob_Copies& blobs, Writable_Journal& journal);

 private:
  friend class Value_Loader;

  struct Added {
    std::string name;
    Source source;
    std::vector<index_t> shifts, sizes;  // by table id - 1
  };

  void take_schema(const std::string& name, const Database& added);
  void add_records(const Database& from, const Added& added);
  void load();
  template <Field_Value T>
  T value(const Table& table, index_t first, index_t size, Field_Id field, index_t row) {
    return values_.get<T>({table.id(), first, first + size, field, row}, [&] { load(); });
  }
  void need_blobs(Blob_Copies& blobs);
  void write_records(const Blob_Copies& blobs, Writable_Journal& journal);
  bool is_included(const Added& added) const;
  // Returns the total number of record ids of a table in all journals.
  index_t total_size(std::size_t table_index) const {
    return added_.empty() ? 0
                          : added_.back().shifts[table_index] + added_.back().sizes[table_index];
  }

  const Loose_References loose_;
  const Deleted_Values deleted_values_;
  Database shape_;  // tables and records; without values
  std::string first_name_;
  std::vector<Added> added_;
  Column_Parts values_;
};

// Checks the entries of a journal as a Database does. With a packer, stores the values that are in
// its current part; without one, only measures texts.
class Value_Loader : public Database {
 public:
  // Only measures texts.
  Value_Loader() = default;
  // Stores the values that are in the current part of `packer`.
  Value_Loader(Part_Packer& packer, const Part_Packer::Added& from)
      : packer_(&packer), from_(&from) {}

  using Database::operator();
  // Disables batches, so that each value is passed to operator().
  void replay_batch() = delete;
  void operator()(const Insert& e) {
    prepare(e);
    start_again(e.table, e.record.value(), 1);
    apply(e);
  }
  void operator()(const Insert_Vector& e) {
    prepare(e);
    start_again(e.table, e.record.value(), e.size);
    apply(e);
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    prepare(e);
    take(e.table, e.field, e.record.value(), e.value);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    prepare(e);
    for (index_t id = e.record.value(); e.values.remaining() > 0; ++id)
      take(e.table, e.field, id, e.values.next());
  }

  const Text_Sizes& text_sizes() const { return text_sizes_; }

 private:
  template <Field_Value T>
  void take(Table_Id table, Field_Id field, index_t row, T value) {
    if (packer_ != nullptr)
      store(table, field, row, value);
    else if constexpr (std::is_same_v<T, std::string_view>)
      text_sizes_.note(table, field, value);
  }
  // Called before an insertion of records: resets the old values of these ids.
  void start_again(Table_Id table, index_t first, index_t size);
  // Returns the row of the record in the packed tables.
  index_t packed_row(Table_Id table, index_t row) const;
  template <Field_Value T>
  void store(Table_Id table, Field_Id field, index_t row, T value);

  Part_Packer* const packer_ = nullptr;
  const Part_Packer::Added* const from_ = nullptr;
  Text_Sizes text_sizes_;
};

// Passes entries to a loader. Throws Exception for a blob, because its position would be wrong in
// the new file.
class Blobless_Loader {
 public:
  // `error` is the message of the Exception.
  Blobless_Loader(Value_Loader& loader, const char* error) : loader_(loader), error_(error) {}
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (std::is_same_v<Entry, Blob_Data>)
      throw Exception(error_);
    else
      loader_(entry);
  }

 private:
  Value_Loader& loader_;
  const char* const error_;
};

}  // namespace joedb::inline v1

#endif
