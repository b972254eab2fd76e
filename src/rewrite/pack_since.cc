#include "rewrite/pack_since.h"

#include <algorithm>
#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "kernel/base/counted.h"
#include "kernel/base/time.h"
#include "rewrite/column_parts.h"
#include "rewrite/entry_copier.h"
#include "rewrite/pack.h"
#include "rewrite/record_order.h"

namespace joedb::inline v1 {

namespace {

using Bits = std::vector<bool>;

void set_bits(Bits& bits, index_t first, index_t size, bool value) {
  const auto begin = static_cast<std::size_t>(first);
  const std::size_t end = begin + static_cast<std::size_t>(size);
  if (value && bits.size() < end) bits.resize(end);
  for (std::size_t i = begin; i < std::min(end, bits.size()); ++i) bits[i] = value;
}

bool has_bit(const Bits& bits, index_t id) {
  return static_cast<std::size_t>(id) < bits.size() && bits[static_cast<std::size_t>(id)];
}

// A database with tables and records, but without values.
class Shape : public Database {
 public:
  using Database::operator();
  // Disables batches, so that each value is passed to operator().
  void replay_batch() = delete;
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    prepare(e);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    prepare(e);
    if constexpr (std::is_same_v<T, std::string_view>)
      while (e.values.remaining() > 0) require_size(e.values.next());
    else
      e.values.skip_rest();
  }
};

// The state at `since`. Also notes for each record the fields that were not written after its
// insertion. They have default values, and do not trigger insertion into an index (table/index.h).
class Past : public Shape {
 public:
  explicit Past(std::size_t memory) : values_(*this, Column_Parts::Order::by_field, memory) {}

  // Call this after all entries of the state have been passed to this object.
  void estimate_sizes() {
    values_.add_texts(std::move(text_sizes_));
    values_.estimate();
  }
  // The value of an id is the last one written to it, even if the record was deleted since. Do not
  // request unwritten fields.
  Column_Parts& values() { return values_; }
  const Blob_Map& blobs() const { return blobs_; }
  Blob_Map& blobs() { return blobs_; }
  bool has_valid_data() const { return has_valid_data_; }

  // Returns one bit per record: true if the field was not written after the insertion of the
  // record.
  const Bits& unwritten(Table_Id table, Field_Id field) const {
    return find(unwritten_, table, field);
  }

  using Shape::operator();
  void operator()(const Insert& e) {
    prepare(e);
    note_insert(e.table, e.record.value(), 1);
    apply(e);
  }
  void operator()(const Insert_Vector& e) {
    prepare(e);
    note_insert(e.table, e.record.value(), e.size);
    apply(e);
  }
  void operator()(const Add_Field& e) {
    prepare(e);
    apply(e);
    const Table& t = table(e.table);
    set_bits(unwritten_[e.table.value()][t.fields().size()], 0, t.records().size(), true);
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    prepare(e);
    note_written(e.table, e.field, e.record.value(), 1);
    note_text(e.table, e.field, e.value);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    prepare(e);
    note_written(e.table, e.field, e.record.value(), e.size);
    while (e.values.remaining() > 0) note_text(e.table, e.field, e.values.next());
  }
  void operator()(const Blob_Data& e) { blobs_.add(e.blob); }
  void operator()(const Valid_Data&) { has_valid_data_ = true; }

 private:
  using Field_Bits = By_Id<By_Id<Bits>>;  // indexed by table and field

  static const Bits& find(const Field_Bits& bits, Table_Id table, Field_Id field) {
    static const Bits none;
    const auto* const fields = bits.find(table.value());
    const Bits* const found = fields == nullptr ? nullptr : fields->find(field.value());
    return found == nullptr ? none : *found;
  }
  void note_insert(Table_Id id, index_t first, index_t size) {
    const Table& t = table(id);
    for (std::size_t i = 0; i < t.fields().size(); ++i)
      if (t.fields()[i].column) set_bits(unwritten_[id.value()][i + 1], first, size, true);
  }
  void note_written(Table_Id table, Field_Id field, index_t first, index_t size) {
    set_bits(unwritten_[table.value()][field.value()], first, size, false);
  }
  template <Field_Value T>
  void note_text(Table_Id table, Field_Id field, T value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      require_size(value);
      text_sizes_.note(table, field, value);
    }
  }

  Field_Bits unwritten_;
  Text_Sizes text_sizes_;
  Column_Parts values_;
  Blob_Map blobs_;
  bool has_valid_data_ = false;
};

// A handler that loads the values of the current part. The entries have been checked before.
class Part_Loader : public Ignore_Entries {
 public:
  explicit Part_Loader(Column_Parts& values) : values_(values) {}

  using Ignore_Entries::operator();
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    set(e.table, e.field, e.record.value(), e.value);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    for (index_t row = e.record.value(); e.values.remaining() > 0; ++row)
      set(e.table, e.field, row, e.values.next());
  }

 private:
  template <Field_Value T>
  void set(Table_Id table, Field_Id field, index_t row, T value) {
    Column_Base* const column = values_.find(table, field, row);
    if (column != nullptr) Column_Parts::set(*column, row, value);
  }

  Column_Parts& values_;
};

// A handler that marks the blobs of the past state to which later entries refer.
class Needs : public Ignore_Entries {
 public:
  explicit Needs(const Past& past) : past_(past), has_blob_(past.blobs().size()) {}

  bool has_blob(std::size_t number) const { return has_blob_[number]; }
  void add(Blob value) {
    if (const auto number = past_.blobs().find(value)) has_blob_[*number] = true;
  }

  using Ignore_Entries::operator();
  void operator()(const Update<Blob>& e) { add(e.value); }
  void operator()(const Update_Vector<Blob>& e) {
    while (e.values.remaining() > 0) add(e.values.next());
  }

 private:
  const Past& past_;
  Bits has_blob_;
};

class Packer {
 public:
  Packer(Abstract_File& file, const Pack_Since& options, Writable_Journal& packed)
      : file_(file),
        options_(options),
        packed_(packed),
        since_(find_moment(file, options.since, options.recovery)),
        past_(options.memory),
        journal_(file, options.recovery) {
    if (options.end > journal_.get_checkpoint() || since_ > options.end)
      throw Exception("position " + std::to_string(since_) + " is behind the end, " +
                      std::to_string(std::min(options.end, journal_.get_checkpoint())));
  }

  void pack() {
    // Check the later entries here. The replays below do not check them, but may take time for each
    // record that an entry names.
    Shape shape;
    shape.limit_to_journal_of(journal_.get_checkpoint());
    journal_.replay(shape, options_.end);
    journal_.rewind();
    past_.limit_to_journal_of(journal_.get_checkpoint());
    journal_.replay(past_, since_);
    require_entry_end(journal_, since_);
    past_.estimate_sizes();
    const Replay_Place place = journal_.get_replay_place();
    Needs needs(past_);
    journal_.replay(needs, options_.end);
    require_entry_end(journal_, options_.end);
    if (since_ > journal_start) write_past(needs);
    journal_.resume(place);
    Tag_Positions tags;
    journal_.replay(tags, options_.end);
    journal_.resume(place);
    Entry_Copier copier(file_, packed_, past_.blobs(), &tags);
    tags.copy(journal_, options_.end, packed_, [&](Offset end) { journal_.replay(copier, end); });
  }

 private:
  void write_past(Needs& needs) {
    const std::string comment = comment_text();
    packed_.append(Comment{comment});
    pack_schema(past_, packed_);
    write_blobs(needs);
    for (const Table* table : live_tables(past_)) write_table(*table);
    // Without ends of transactions, comments separate the transactions of a journal. Adding an end
    // would change that.
    if (past_.timestamps())
      packed_.append(Timestamp{past_.timestamps()->last});
    else if (past_.has_valid_data())
      packed_.append(Valid_Data{});
  }

  std::string comment_text() {
    std::uint64_t count = 0;
    for (Summaries summaries(
             file_, journal_start, since_,
             {.recovery = options_.recovery, .kept_values = 0, .tables = {}, .record = {}});
         summaries.next() != nullptr;)
      ++count;
    std::string text = "packed: " + counted(count, "transaction") + " before ";
    const std::string position = "position " + std::to_string(since_);
    text += options_.since.kind == Moment::Kind::time
                ? time_text(options_.since.value, Zone::utc) + " (" + position + ')'
                : position;
    return text + (count == 1 ? " is one state" : " are one state");
  }

  // Copies the blobs to which a value of the state or a later entry refers.
  void write_blobs(Needs& needs) {
    for (const Table* table : live_tables(past_)) {
      for_each_field(*table, [&](Field_Id id, const Field& field) {
        if (field.column->type().code != Type_Code::blob) return;
        const Bits& unwritten = past_.unwritten(table->id(), id);
        for (index_t row = 0; row < table->records().size(); ++row)
          if (table->records().is_used(row) && !has_bit(unwritten, row))
            needs.add(value<Blob>(*table, id, row));
      });
    }
    for (std::size_t i = 0; i < past_.blobs().size(); ++i)
      if (needs.has_blob(i))
        past_.blobs().set_to(i, copy_blob(file_, past_.blobs().from(i), packed_).get_position());
  }

  void write_table(const Table& table) {
    const Record_Ids& records = table.records();
    Record_Order(table.id(), records).write(packed_);
    for_each_field(table, [&](Field_Id id, const Field& field) {
      const Bits& unwritten = past_.unwritten(table.id(), id);
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        write_values<T>(table, id, [&](index_t row) {
          return records.is_used(row) && !has_bit(unwritten, row);
        });
      });
    });
  }

  // Returns a value of the past state. Replays the journal once for each part.
  template <Field_Value T>
  T value(const Table& table, Field_Id field, index_t row) {
    return past_.values().get<T>({table.id(), 0, table.records().size(), field, row}, [&] {
      // Do not check integrity entries again: they were checked when the file was first read.
      Readonly_Journal journal(file_, options_.recovery, false);
      journal.replay(Part_Loader(past_.values()), since_);
    });
  }

  // Appends the values of the ids for which has(id) is true, with one entry per run of ids.
  template <Field_Value T, class Has>
  void write_values(const Table& table, Field_Id field, Has has) {
    const index_t rows = table.records().size();
    const auto value = [&](index_t id) {
      const T found = this->value<T>(table, field, id);
      if constexpr (std::is_same_v<T, Blob>)
        return past_.blobs().moved(found);
      else
        return found;
    };
    for (index_t id = 0; id < rows;) {
      if (!has(id)) {
        ++id;
        continue;
      }
      const index_t first = id;
      while (id < rows && has(id)) ++id;
      append_values<T>(table.id(), first, field, id - first, packed_,
                       [&](index_t i) { return value(first + i); });
    }
  }

  Abstract_File& file_;
  const Pack_Since& options_;
  Writable_Journal& packed_;
  const Offset since_;
  Past past_;
  Readonly_Journal journal_;
};

}  // namespace

void pack_since(Abstract_File& file, const Pack_Since& options, Writable_Journal& packed) {
  Packer(file, options, packed).pack();
  packed.flush();
  require_readable_file(packed.get_file(), packed.get_position());
}

void require_readable_file(Abstract_File& file, Offset end) {
  Shape shape;
  shape.limit_to_journal_of(end);
  File_Decoder_Input input(file);
  input.start(journal_start, end);
  Context context;
  try {
    decode_entries(input, context, shape, end);
  } catch (const Data_Error& error) {
    throw Data_Error("the result could not be read: " + std::string(error.what()));
  }
}

}  // namespace joedb::inline v1
