#ifndef JOEDB_TABLE_TYPED_WRITER_H
#define JOEDB_TABLE_TYPED_WRITER_H

#include <ctime>
#include <utility>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/load.h"
#include "joedb/table/typed.h"

namespace joedb::inline v1 {

// How the schema of a file relates to that of the program. Both are the encoded schema entries.
enum class Schema_Relation { equal, file_is_older, incompatible };
Schema_Relation compare_schemas(std::string_view file, std::string_view program);

// Requires equal schemas: throws Out_Of_Date if the file is older, else Exception. `name` (the
// namespace) starts the message.
void require_same_schema(const Database& database, std::string_view program_schema,
                         std::string_view name);

// Brings the schema of the database and its journal up to that of the program, and writes a soft
// checkpoint if there was something to do. Throws Exception where the file has another schema;
// nothing has changed then.
void upgrade_schema(Database& database, Writable_Journal& journal, std::string_view program_schema,
                    std::string_view name);

// Base of the generated Readonly_Database. Reads the file once.
template <class Reader>
class Typed_Reader : public Reader {
 public:
  explicit Typed_Reader(const std::string& file_name)
      : Typed_Reader(File(file_name, Open_Mode::read_existing)) {}
  explicit Typed_Reader(const char* file_name) : Typed_Reader(std::string(file_name)) {}
  explicit Typed_Reader(Abstract_File&& file) : Typed_Reader(file) {}
  explicit Typed_Reader(Abstract_File& file) {
    Readonly_Journal journal(file);
    open(journal);
  }
  explicit Typed_Reader(Readonly_Journal& journal) { open(journal); }

 private:
  void open(Readonly_Journal& journal) {
    load(this->engine_, journal);
    require_same_schema(this->engine_, Reader::schema, Reader::schema_name);
    this->bind();
  }
};

// Base of the generated Writable_Database: the tables and their journal.
//
// Every change is checked, logged, applied, in this order: a function that throws has changed
// neither tables nor journal, unless it says otherwise. Nothing is checkpointed automatically. Not
// thread-safe.
template <class Reader>
class Typed_Writer : public Reader {
 public:
  // Opens the database in `file`, which must outlive it: loads it and brings its schema up to that
  // of the program. `level` is what checkpoint() does.
  explicit Typed_Writer(Abstract_File& file, Recovery recovery = Recovery::none,
                        Checkpoint_Level level = Checkpoint_Level::soft)
      : journal_(file, recovery) {
    journal_.set_default_level(level);
    load(this->engine_, journal_);
    upgrade_schema(this->engine_, journal_, Reader::schema, Reader::schema_name);
    this->bind();
  }

  void write_comment(std::string_view text) { journal_.append(Comment{text}); }
  // Seconds since 1970; without an argument: now.
  void write_timestamp() { write_timestamp(std::time(nullptr)); }
  void write_timestamp(std::int64_t seconds) { journal_.append(Timestamp{seconds}); }
  void write_valid_data() { journal_.append(Valid_Data{}); }

  Blob write_blob(std::string_view bytes) { return journal_.append_blob(bytes); }
  std::string read_blob(Blob blob, std::int64_t max_size = -1) {
    return journal_.read_blob(blob, max_size);
  }

  // To the file, without a checkpoint.
  void flush() { journal_.flush(); }

  // After a soft checkpoint, everything so far survives the death of this process; after a hard
  // one, also a power cut. If one throws, the checkpoint before it still counts, and nothing more
  // can be written until the file is opened again.
  void soft_checkpoint() { checkpoint(Checkpoint_Level::soft); }
  void hard_checkpoint() { checkpoint(Checkpoint_Level::hard); }
  void checkpoint(Checkpoint_Level level) {
    this->engine_.require_readable_from(journal_.get_position());
    journal_.checkpoint(level);
  }

  // The older names (Writable_Journal says what each does).
  void checkpoint_full_commit() { checkpoint(Checkpoint_Level::hard); }
  void checkpoint_half_commit() { checkpoint(Checkpoint_Level::half); }
  void checkpoint_no_commit() { checkpoint(Checkpoint_Level::soft); }
  void checkpoint() { checkpoint(journal_.get_default_level()); }
  void commit() { journal_.commit(); }

  // Number of bytes written since the checkpoint.
  Offset ahead_of_checkpoint() const { return journal_.ahead_of_checkpoint(); }

  // Forgets everything since the checkpoint, in memory and in the file. Takes as long as opening.
  // Containers, iterators and strings that were taken before are not valid any more.
  void rollback() {
    if (is_updating_vector_) throw Exception("rollback while a vector is updated");
    if (ahead_of_checkpoint() == 0) return;
    journal_.rollback();
    Database fresh(Deleted_Values::reset);
    load(fresh, journal_);
    this->engine_ = std::move(fresh);
    this->bind();
  }

  const Writable_Journal& get_journal() const { return journal_; }

 protected:
  // A field and the value it gets.
  template <class Field>
  struct Assignment {
    Field& field;
    typename Field::Stored value;

    // Takes the memory for the value.
    void prepare() const {
      if constexpr (std::is_same_v<typename Field::Stored, std::string_view>)
        field.column().prepare(value.size());
    }
    template <class Table_Type>
    Update<typename Field::Stored> entry(Record_Id record) const {
      return {Table_Type::id, record, Field::id, value};
    }
  };
  template <class Field>
  static Assignment<Field> assign(Field& field, typename Field::Setter value) {
    return {field, to_stored<typename Field::Value>(value)};
  }

  template <class Table_Type, class Field>
  void update(Table_Type& table, Field& field, typename Table_Type::Id id,
              typename Field::Setter value) {
    table.require_used(id);
    const Assignment<Field> assignment{field, to_stored<typename Field::Value>(value)};
    assignment.prepare();
    journal_.append(assignment.template entry<Table_Type>(id.get_record_id()));
    field.column().set(id.get_id(), assignment.value);
  }

  // A new row; with values: all of them.
  template <class Table_Type, class... Fields>
  typename Table_Type::Id add_row(Table_Type& table, Assignment<Fields>... values) {
    const Record_Id record(table.records().next_free());
    add_row_at(table, record, values...);
    return typename Table_Type::Id(record);
  }

  template <class Table_Type, class... Fields>
  void add_row_at(Table_Type& table, Record_Id record, Assignment<Fields>... values) {
    table.table().prepare_insert(record, this->engine_.budget());
    (values.prepare(), ...);
    journal_.append(Insert{Table_Type::id, record}, values.template entry<Table_Type>(record)...);
    this->engine_.note_insert(record.value(), table.records().size());
    table.table().insert(record);
    (values.field.column().set(record.value(), values.value), ...);
    table.table().make_room_for_one();
  }

  template <class Table_Type>
  typename Table_Type::Id add_vector(Table_Type& table, std::size_t size) {
    const Insert_Vector entry{Table_Type::id, Record_Id(table.records().size()),
                              static_cast<std::int64_t>(size)};
    write(entry);
    table.table().make_room_for_one();
    return typename Table_Type::Id(entry.record);
  }

  // Calls function(Span), which changes the values in place, then logs them. If the function
  // throws, what it has done until then is logged, so that tables and journal agree. If logging
  // fails, the tables are ahead of the journal, and only rollback() or closing the database is
  // left. The function must not add records to this table.
  template <class Table_Type, class Field, class Function>
  void update_vector(Table_Type& table, Field& field, typename Table_Type::Id id, std::size_t size,
                     Function&& function) {
    table.table().prepare_update_vector(id.get_record_id(), static_cast<index_t>(size));
    journal_.require_ready();
    try {
      const Vector_Update_Guard guard(is_updating_vector_, table.table());
      call_with_span(field.span(id.get_id(), size), function);
    } catch (...) {
      log_vector(table, field, id, size);
      throw;
    }
    log_vector(table, field, id, size);
    this->engine_.note_journal_size(journal_.get_position());
  }

  template <class Table_Type>
  void erase(Table_Type& table, typename Table_Type::Id id) {
    table.require_used(id);
    write(Delete{Table_Type::id, id.get_record_id()});
  }

  template <class Table_Type>
  void erase_vector(Table_Type&, typename Table_Type::Id id, std::size_t size) {
    write(Delete_Vector{Table_Type::id, id.get_record_id(), static_cast<std::int64_t>(size)});
  }

  template <class Table_Type>
  void erase_all(Table_Type& table) {
    while (!table.records_in_order().is_empty()) erase(table, table.records_in_order().last());
  }

 private:
  template <class Entry>
  void write(const Entry& entry) {
    this->engine_.prepare(entry);
    journal_.append(entry);
    this->engine_.apply(entry);
  }

  struct Vector_Update_Guard {
    Vector_Update_Guard(bool& f, Table& table) : flag(f), lock(table) { flag = true; }
    ~Vector_Update_Guard() { flag = false; }
    Vector_Update_Guard(const Vector_Update_Guard&) = delete;
    Vector_Update_Guard& operator=(const Vector_Update_Guard&) = delete;
    bool& flag;
    const Table::Growth_Lock lock;
  };

  template <class T, class Function>
  static void call_with_span(Span<T> span, Function& function) {
    if constexpr (std::is_same_v<T, bool> && !std::is_invocable_v<Function&, Span<bool>>) {
      // joedb 10 stores booleans as char. Only 0 and 1 may stay.
      const Span<char> chars(reinterpret_cast<char*>(span.data()), span.size());
      struct Normalise {
        const Span<char>& all;
        ~Normalise() {
          for (char& c : all) c = c != 0;
        }
      } const at_the_end{chars};
      function(chars);
    } else {
      function(span);
    }
  }

  template <class Table_Type, class Field>
  void log_vector(Table_Type&, Field& field, typename Table_Type::Id id, std::size_t size) {
    using Stored = typename Field::Stored;
    if constexpr (has_fixed_size<Stored>) {
      journal_.template append_vector<Stored>(
          Table_Type::id, id.get_record_id(), Field::id,
          std::span<const Stored>(field.column().data() + id.get_id(), size));
    } else {
      journal_.template append_vector<Stored>(
          Table_Type::id, id.get_record_id(), Field::id, static_cast<std::int64_t>(size),
          [&](std::int64_t i) -> Stored { return field.column().get(id.get_id() + i); });
    }
  }

  Writable_Journal journal_;
  bool is_updating_vector_ = false;
};

// Holds a file, so that it is made before the database that uses it.
template <class File_Type>
struct File_Holder {
  template <class... Arguments>
  explicit File_Holder(Arguments&&... arguments) : file(std::forward<Arguments>(arguments)...) {}
  File_Type file;
};

// Base of the generated File_Database: a Writable_Database in a file of the system.
template <class Writer>
class Typed_File_Writer : private File_Holder<File>, public Writer {
 public:
  explicit Typed_File_Writer(const std::string& file_name,
                             Open_Mode mode = Open_Mode::write_existing_or_create_new,
                             Recovery recovery = Recovery::none,
                             Checkpoint_Level level = Checkpoint_Level::soft)
      : File_Holder<File>(file_name, mode), Writer(file, recovery, level) {}

 private:
  using File_Holder<File>::file;
};

// Base of the generated Memory_Database: a Writable_Database in a file in memory.
template <class Writer>
class Typed_Memory_Writer : private File_Holder<Memory_File>, public Writer {
 public:
  Typed_Memory_Writer() : Writer(file) {}
  // Nothing is lost without a checkpoint that would not be lost with one: no warning.
  ~Typed_Memory_Writer() {
    try {
      this->soft_checkpoint();
    } catch (const std::exception&) {
    }
  }
  // The bytes of the journal; complete after flush() or a checkpoint.
  const std::vector<char>& get_data() const { return file.get_data(); }

 private:
  using File_Holder<Memory_File>::file;
};

}  // namespace joedb::inline v1

#endif
