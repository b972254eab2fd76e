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

// Joins the tables of journals with the same schema, in the order in which they are added, into one
// packed journal (pack.h). Record ids are renumbered, and references with them.
//
// The values need not fit in memory: each journal is read once to find out which records it has,
// and then once for each part of the values, with as many values as fit. Memory is needed for one
// part, and, for a table with gaps between its records, up to 24 bytes per record.
class Part_Packer {
 public:
  // Replays the journal into the loader. Each call must replay the same entries.
  using Source = std::function<void(Value_Loader&)>;

  // How to treat a reference to a record past the end of its table, where the records of the next
  // journal may be.
  enum class Loose_References { keep, make_null };

  // `memory`: approximate number of bytes of the values in memory at a time.
  Part_Packer(std::size_t memory, Loose_References loose,
              Deleted_Values deleted_values = Deleted_Values::reset)
      : loose_(loose),
        deleted_values_(deleted_values),
        values_(shape_, Column_Parts::Order::by_run, memory) {}
  Part_Packer(const Part_Packer&) = delete;
  Part_Packer& operator=(const Part_Packer&) = delete;

  // Reads the journal once. The schema is that of the first journal. Throws the exceptions of
  // `source`, and Exception if a later journal has another schema; then nothing was added.
  void add(const std::string& name, Source source);

  // Appends everything to an empty journal. Throws the exceptions of the sources and of pack(), and
  // Exception if a source has changed since add().
  void write(Writable_Journal& journal);
  // Like pack() with blobs. There must be one source, whose blobs are in `file`. Values that are
  // not in memory are read twice.
  void write(const Abstract_File& file, Blob_Copies& blobs, Writable_Journal& journal);

 private:
  friend class Value_Loader;

  struct Added {
    std::string name;
    Source source;
    std::vector<index_t> shifts, sizes;  // by table id minus 1
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
  // Returns the number of record ids that a table has in all journals together.
  index_t total_size(std::size_t table_index) const {
    return added_.empty() ? 0
                          : added_.back().shifts[table_index] + added_.back().sizes[table_index];
  }

  const Loose_References loose_;
  const Deleted_Values deleted_values_;
  Database shape_;  // tables and records, without values
  std::string first_name_;
  std::vector<Added> added_;
  Column_Parts values_;
};

// Checks the entries of a journal, as a Database does. Stores the values that are in the current
// part of a packer, or only measures the texts.
class Value_Loader : public Database {
 public:
  // Only measures the texts.
  Value_Loader() = default;
  // Stores the values that are in the current part of the packer.
  Value_Loader(Part_Packer& packer, const Part_Packer::Added& from)
      : packer_(&packer), from_(&from) {}

  using Database::operator();
  // Disables batches, so that each value passes through operator().
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
  // Resets the old values of ids in which records are about to be inserted.
  void start_again(Table_Id table, index_t first, index_t size);
  // Returns the row of the record in the packed tables.
  index_t packed_row(Table_Id table, index_t row) const;
  template <Field_Value T>
  void store(Table_Id table, Field_Id field, index_t row, T value);

  Part_Packer* const packer_ = nullptr;
  const Part_Packer::Added* const from_ = nullptr;
  Text_Sizes text_sizes_;
};

// Passes entries on to a loader. Throws for blobs: their positions would be wrong in the new file.
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
