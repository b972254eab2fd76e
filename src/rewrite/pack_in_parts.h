#ifndef JOEDB_INTERPRETER_PACK_IN_PARTS_H
#define JOEDB_INTERPRETER_PACK_IN_PARTS_H

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"

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
      : memory_(static_cast<double>(memory)), loose_(loose), deleted_values_(deleted_values) {}
  ~Part_Packer();
  Part_Packer(const Part_Packer&) = delete;
  Part_Packer& operator=(const Part_Packer&) = delete;

  // Reads the journal once. The schema is that of the first journal. Throws Exception if a later
  // one has another schema, and what `source` throws; then nothing was added.
  void add(const std::string& name, Source source);

  // Appends everything to an empty journal. Throws Exception if a source has changed since add(),
  // what the sources throw, and what pack() throws.
  void write(Writable_Journal& journal);

 private:
  friend class Value_Loader;

  // Place of a value in the packed journal. Places are ordered as the values in that journal. The
  // end of all values is in table 0xffff.
  struct Place {
    Table_Id table;
    index_t run_first, run_end;
    Field_Id field;
    index_t row;
  };
  static bool is_before(Table_Id table, Field_Id field, index_t row, const Place& place);

  // A column of the packed tables.
  struct Column_Part {
    double row_size = 0;  // bytes per row in memory
    std::unique_ptr<Column_Base> values;
  };
  // Indexed by table id and field id.
  template <class T>
  using By_Field = std::vector<std::vector<T>>;

  struct Added {
    std::string name;
    Source source;
    std::vector<index_t> shifts, sizes;  // by table id minus 1
  };

  void take_schema(const std::string& name, const Database& added);
  void add_records(const Database& from, const Added& added);
  void estimate_sizes();
  void pack_run(const Table& table, index_t first, index_t size, Writable_Journal& journal);
  template <Field_Value T>
  T value(const Place& place);
  void load_from(const Place& begin);
  Place end_of_part(Place begin) const;
  bool is_included(const Added& added) const;
  Column_Base& column_of(Table_Id table, Field_Id field);
  // Returns the number of record ids that a table has in all journals together.
  index_t total_size(std::size_t table_index) const {
    return added_.empty() ? 0
                          : added_.back().shifts[table_index] + added_.back().sizes[table_index];
  }

  const double memory_;
  const Loose_References loose_;
  const Deleted_Values deleted_values_;
  Database shape_;  // tables and records, without values
  std::string first_name_;
  std::vector<Added> added_;
  By_Field<std::size_t> text_sizes_;  // bytes of all texts that do not fit into a row
  By_Field<Column_Part> columns_;
  Place begin_{}, end_{};  // range of the values in memory
};

// Checks the entries of a journal, as a Database does. Stores those of its values that are in the
// current part of a packer, or only measures the texts.
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

  const Part_Packer::By_Field<std::size_t>& text_sizes() const { return text_sizes_; }

 private:
  template <Field_Value T>
  void take(Table_Id table, Field_Id field, index_t row, T value) {
    if (packer_ != nullptr)
      store(table, field, row, value);
    else if constexpr (std::is_same_v<T, std::string_view>)
      note_text(table, field, value);
  }
  void note_text(Table_Id table, Field_Id field, std::string_view text);
  // Resets the old values of ids in which records are about to be inserted.
  void start_again(Table_Id table, index_t first, index_t size);
  // Returns the row of the value in the packed tables; nullopt if it is not in the current part.
  std::optional<index_t> packed_row(Table_Id table, Field_Id field, index_t row) const;
  template <Field_Value T>
  void store(Table_Id table, Field_Id field, index_t row, T value);

  Part_Packer* const packer_ = nullptr;
  const Part_Packer::Added* const from_ = nullptr;
  Part_Packer::By_Field<std::size_t> text_sizes_;
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
