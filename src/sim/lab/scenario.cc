#include "sim/lab/scenario.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "commands/commands.h"
#include "commands/interpreter.h"
#include "joedb/format/codec.h"
#include "joedb/io/mapped_file.h"
#include "joedb/io/memory_file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/replica/clients.h"
#include "rewrite/pack.h"
#include "sim/lab/database_text.h"

namespace joedb::testing {

namespace {

// Returns the decoder context after the last entry of `file`, to which short forms of later entries
// refer.
Context context_behind(std::string_view file) {
  return decode_entries(file.substr(header_size), Ignore_Entries(), journal_start);
}

// Returns the checkpoint that a reader in the default mode finds; journal_start if it refuses the
// file.
Offset default_checkpoint(std::string_view content) {
  try {
    Readonly_Memory_File file(content);
    Readonly_Journal journal(file);
    journal.replay(Ignore_Entries());
    return journal.get_checkpoint();
  } catch (const Corruption_Error&) {
    return journal_start;
  }
}

// True if a writer treats a file with this content as new.
bool is_blank(std::string_view content) {
  return content.size() < header_size ||
         (content.size() == header_size && content.find_first_not_of('\0') == content.npos);
}

// Finds the integrity entries in the bytes of a file.
class Integrity_Found : public Ignore_Entries {
 public:
  using Sees_Integrity_Entries = void;
  using Ignore_Entries::operator();

  explicit Integrity_Found(std::string_view content)
      : content_(content), in_(content.substr(std::size_t{journal_start}), journal_start) {
    Context context;
    decode_entries(in_, context, *this, in_.limit());
  }
  void operator()(const Integrity_Entry&) {
    has_any_ = true;
    end_ = in_.position();
  }
  void operator()(const Blob_Data& entry) {
    const Offset at = entry.blob.get_position();
    if (entry.blob.get_size() == integrity_payload_size)
      has_any_ |= resembles_integrity_payload(content_.substr(static_cast<std::size_t>(at)));
  }
  // True even if there are only damaged integrity entries.
  bool has_any() const { return has_any_; }
  // Offset up to which integrity entries cover the bytes.
  Offset end() const { return end_; }

 private:
  const std::string_view content_;
  Memory_Decoder_Input in_;
  bool has_any_ = false;
  Offset end_ = journal_start;
};

// True if a writer in the default mode refuses a file with this content, because bytes follow the
// checkpoint.
bool ends_with_tail(std::string_view content) {
  Memory_File file;
  file.get_data().assign(content.begin(), content.end());
  try {
    Writable_Journal journal(file);
  } catch (const Unfinished_Transaction&) {
    return true;
  } catch (const Corruption_Error&) {
  }
  return false;
}

// ---- a process ----------------------------------------------------------------------------------

// A process that has the journal of a disk open for writing, and records its requests in the
// promises of the disk. Store is Writable_Database or Bare_Journal.
template <class Store>
class Process {
 public:
  static constexpr bool has_tables = std::is_same_v<Store, Writable_Database>;

  // Throws the exceptions of opening.
  Process(Scenario_Disk& disk, Random& random, Recovery recovery,
          Open_Mode mode = Open_Mode::write_existing_or_create_new)
      : disk_(disk), random_(random) {
    promises().begin_epoch(io());
    const bool is_new = is_blank(disk.disk.content());
    try {
      const bool is_alone = mode != Open_Mode::shared_write;
      if (is_alone && random_.below(3) == 0)
        file_ = std::make_unique<Mapped<Sim_File>>(700, disk.disk, mode);
      else
        file_ = std::make_unique<Sim_File>(disk.disk, mode);
      Journal_Options options = recovery;
      options.has_seals = has_seals_ = random_.below(3) > 0;
      if (is_alone && random_.below(2) == 0)
        options.preallocation = random_.below(4) == 0 ? 0 : 700;
      options.has_integrity = wants_integrity_ = random_.below(3) == 0;
      store_ = std::make_unique<Store>(*file_, options);
      if (is_alone) store_->recover();
    } catch (...) {
      promises().cancel_epoch(recovery == Recovery::hard);
      throw;
    }
    take_over(is_new && recovery == Recovery::ignore_header ? Recovery::none : recovery);
    for (std::size_t& weight : weights_) weight = random_.below(3) == 0 ? 0 : 1 + random_.below(9);
  }

  // When a journal is closed, it gets an integrity entry for its last bytes. Adds this entry to the
  // promises.
  ~Process() {
    const bool is_closed = store_ && !file_->is_killed() && !file_->is_shared() && !has_tail();
    if (is_closed) take_from_journal();
    if (is_closed && has_written_ && journal().has_integrity() && expected_end() > covered_) {
      append_integrity();
      promises().ask(Checkpoint_Level::soft, expected_end(), io(), !has_seals_);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Store& store() { return *store_; }
  Sim_File& file() { return *file_; }
  const Writable_Journal& journal() const { return std::as_const(*store_).get_journal(); }
  bool has_tail() const { return journal().ahead_of_checkpoint() > 0; }

  // Performs one random operation.
  void act() {
    std::size_t total = 0;
    for (std::size_t i = 0; i < action_count; ++i) total += weights_[i];
    if (total == 0) return comment();
    std::size_t pick = random_.below(total);
    for (std::size_t i = 0; i < action_count; ++i) {
      if (pick < weights_[i]) return act(i);
      pick -= weights_[i];
    }
  }

  // Begins a transaction on a shared file.
  void begin() {
    promises().begin_epoch(io());
    try {
      store_->lock_pull();
      store_->recover();
    } catch (...) {
      promises().cancel_epoch();
      throw;
    }
    has_recovered_shared_ = true;
    take_over(Recovery::none);
  }
  void end() { store_->unlock(); }
  // Reads the entries that others have written, even while another process is in a transaction.
  void pull() {
    if (!is_abandoned_) store_->pull();
  }
  // Unlocks the file without a checkpoint or a rollback. This process keeps its changes until
  // forget_abandoned() rolls them back; others may write before that.
  void abandon() {
    store_->unlock();
    is_abandoned_ = true;
  }
  void forget_abandoned() {
    if (std::exchange(is_abandoned_, false)) store_->rollback();
  }
  // Syncs the checkpoint that was found, which may not be durable. Called outside a transaction.
  void sync_found() {
    if (!has_tail() && journal().get_hard_checkpoint() == journal().get_checkpoint())
      store_->hard_checkpoint();
  }

  void checkpoint(Checkpoint_Level level) {
    const Offset position = ask(level);
    try {
      store_->checkpoint(level);
    } catch (...) {
      take_from_file(position);
      throw;
    }
    give();
  }
  // Requests a checkpoint, and waits for it later.
  void group_checkpoint() {
    comment();
    const Offset position = with_journal([](auto& j) { return j.hard_checkpoint_async(); });
    for (std::size_t i = random_.below(3); i > 0; --i) comment();
    ask(Checkpoint_Level::hard);
    with_journal([&](auto& j) { j.wait(position); });
    give();
  }
  // Covers all bytes that were appended before. Called before changes that only integrity entries
  // can prove.
  void enable_integrity() {
    if (proves_soft_checkpoints()) return;
    append_integrity(Integrity::each_checkpoint);
    promises().ask(Checkpoint_Level::hard, expected_end(), io(), !has_seals_);
    with_journal([](auto& j) { j.enable_integrity(); });
    give();
  }
  bool proves_soft_checkpoints() const {
    return journal().has_integrity() && journal().get_integrity() == Integrity::each_checkpoint;
  }
  void soft_checkpoint() { checkpoint(Checkpoint_Level::soft); }
  void hard_checkpoint() { checkpoint(Checkpoint_Level::hard); }
  void half_checkpoint() { checkpoint(Checkpoint_Level::half); }
  void flush() { store_->flush(); }
  void rollback() {
    try {
      store_->rollback();
    } catch (...) {
      if (!has_tail()) forget_tail();  // the tables could not be replayed
      throw;
    }
    forget_tail();
    expect_no_tail();
    context_ = context_behind(expected());
  }

  template <class Entry>
  void write(const Entry& entry) {
    has_written_ = true;
    store_->write(entry);
    append_encoded(expected(), context_, entry);
  }
  Blob write_blob(std::string_view bytes) {
    const Blob blob = store_->write_blob(bytes);
    has_written_ = true;
    std::string start(entry_size_limit, '\0');
    start.resize(static_cast<std::size_t>(encode_blob(start.data(), bytes.size()) - start.data()));
    expected().append(start).append(bytes);
    return blob;
  }
  void comment() { write(Comment{text()}); }

  // Throws Broken_Rule if the tables in memory differ from those of the expected bytes of the file.
  void expect_memory_is_journal() {
    if constexpr (has_tables) {
      if (has_tail()) return;
      if (content_text(store_->get_database()) != tables_of(expected(), journal().get_checkpoint()))
        throw Broken_Rule("the tables in memory are not those of the journal at " +
                          std::to_string(journal().get_checkpoint()));
    }
  }

  std::string memory() const {
    if constexpr (has_tables)
      return content_text(store_->get_database());
    else
      return {};
  }

  // Checks the invariants after a failed call: memory claims no checkpoint that was not
  // acknowledged, or that the file does not have; reading still works. With `has_stopped`, every
  // function that writes must throw, and no bytes may reach the file.
  void expect_careful(bool has_stopped) {
    const Offset checkpoint = journal().get_checkpoint();
    if (!file_->is_shared() && checkpoint > promises().last_given())
      throw Broken_Rule("memory claims a checkpoint at " + std::to_string(checkpoint) +
                        ", which was not acknowledged");
    if (!disk_.disk.content().empty() && checkpoint > adopted_) {
      Readonly_Memory_File file(disk_.disk.content());
      if (Readonly_Journal(file).get_checkpoint() < checkpoint)
        throw Broken_Rule("memory claims a checkpoint at " + std::to_string(checkpoint) +
                          ", and the file does not");
    }
    if (!has_stopped) return;
    const std::size_t before = io();
    const auto expect_refusal = [&](const char* what, auto f) {
      try {
        f();
      } catch (const Exception&) {
        return;
      }
      throw Broken_Rule(std::string("after a failure, ") + what + " did not throw");
    };
    expect_refusal("a hard checkpoint", [&] {
      store_->write(Comment{"x"});
      store_->hard_checkpoint();
    });
    expect_refusal("a soft checkpoint", [&] {
      store_->write(Comment{"x"});
      store_->soft_checkpoint();
    });
    expect_refusal("a half checkpoint", [&] {
      store_->write(Comment{"x"});
      store_->checkpoint(Checkpoint_Level::half);
    });
    if constexpr (has_tables) expect_refusal("a sync", [&] { store_->commit(); });
    if (io() != before) throw Broken_Rule("something was written after a failure");
    if (journal().get_checkpoint() != checkpoint)
      throw Broken_Rule("the checkpoint has moved after a failure");
    if (file_->Sim_File::get_size() != static_cast<Offset>(disk_.disk.content().size()))
      throw Broken_Rule("the file cannot be read after a failure");
  }

 private:
  Promises& promises() { return disk_.promises; }
  std::string& expected() { return disk_.promises.file(); }
  std::size_t io() const { return disk_.disk.io_count(); }

  void forget_tail() {
    const auto size = static_cast<std::size_t>(journal().get_checkpoint());
    const bool is_replayed = expected().size() > size;
    expected().resize(size);
    find_covered(expected(), is_replayed);
  }

  // If a replay ignores the header, it does not compare integrity entries with the bytes that they
  // cover, not even the integrity entries of this process.
  void find_covered(std::string_view bytes, bool is_replayed) {
    const Integrity_Found integrity(bytes);
    covered_ = ignores_header_ ? covered_at_checkpoint_ : integrity.end();
    if (ignores_header_ && is_replayed && integrity.has_any()) has_unchecked_entries_ = true;
  }

  // Checks that the bytes past the checkpoint were truncated, or are zeros.
  void expect_no_tail() const {
    const auto end = static_cast<std::size_t>(journal().get_checkpoint());
    if (disk_.disk.content().find_first_not_of('\0', end) != std::string::npos)
      throw Broken_Rule("what stood behind the checkpoint at " + std::to_string(end) +
                        " has not been cut off");
  }

  // From now on, the expected content is the content that was found in the file.
  void take_over(Recovery recovery) {
    const Offset found = journal().get_checkpoint();
    const std::string& content = disk_.disk.content();
    const Offset found_by_default =
        recovery == Recovery::ignore_header ? std::min(found, default_checkpoint(content)) : found;
    adopted_ = found_by_default < found ? found : journal_start;
    promises().end_epoch(io(), found, content, found_by_default);
    ignores_header_ = recovery == Recovery::ignore_header;
    has_unchecked_entries_ = false;
    covered_at_checkpoint_ = journal_start;
    find_covered(std::string_view(content).substr(0, static_cast<std::size_t>(found)), true);
    has_written_ = false;
    const bool is_truncated =
        recovery == Recovery::overwrite || recovery == Recovery::hard || recovery == Recovery::keep;
    if (file_->is_shared() ? has_recovered_shared_ : is_truncated) expect_no_tail();
    context_ = context_behind(expected());
  }

  // Calls f with the store if it has tables, otherwise with the Writable_Journal.
  template <class F>
  auto with_journal(F f) {
    if constexpr (has_tables)
      return f(*store_);
    else
      return f(store_->get_journal());
  }

  // Requests a checkpoint at the position of the next entry, after an integrity entry if one is
  // needed. Returns the position.
  Offset ask(Checkpoint_Level level) {
    take_from_journal();
    const Offset checkpoint = journal().get_checkpoint();
    const bool is_new = level == Checkpoint_Level::soft
                            ? expected_end() > checkpoint || checkpoint == adopted_
                            : expected_end() > journal().get_hard_checkpoint();
    if (is_new && expected_end() > covered_ && needs_integrity(level)) append_integrity();
    const Offset position = std::max(expected_end(), journal().get_position());
    promises().ask(level, position, io(), !has_seals_);
    return position;
  }
  Offset expected_end() { return static_cast<Offset>(expected().size()); }
  bool needs_integrity(Checkpoint_Level level) {
    if (kind() == Integrity::sparse && !has_written_) return false;
    return journal().has_integrity() &&
           (kind() == Integrity::each_checkpoint || level != Checkpoint_Level::soft ||
            has_unchecked_entries_ || expected_end() - covered_ >= integrity_step);
  }
  Integrity kind() const { return journal().get_integrity().value_or(Integrity::sparse); }
  void append_integrity() { append_integrity(kind()); }
  void append_integrity(Integrity kind) {
    const std::string_view covered =
        std::string_view(expected()).substr(static_cast<std::size_t>(covered_));
    const auto entry = encode_integrity(
        {covered_, integrity_hash(covered, static_cast<std::uint64_t>(covered_)), kind});
    expected().append(entry.data(), entry.size());
    covered_ = expected_end();
    has_unchecked_entries_ = false;
  }

  // Appends the entries of script commands to the expected bytes.
  void take_from_journal() {
    const Offset start = expected_end(), end = journal().get_position();
    if (end <= start) return;
    std::string bytes(static_cast<std::size_t>(end - start), '\0');
    journal().read(bytes.data(), bytes.size(), start);
    expected() += bytes;
    covered_ = Integrity_Found(expected()).end();
    context_ = context_behind(expected());
    has_written_ = true;
  }

  // Appends missing bytes from the file to the expected bytes, including bytes that other processes
  // have written.
  void take_from_file(Offset checkpoint) {
    const auto size = static_cast<std::size_t>(checkpoint);
    if (expected().size() >= size || disk_.disk.content().size() < size) return;
    expected().append(disk_.disk.content(), expected().size(), size - expected().size());
    context_ = context_behind(expected());
  }

  void give() {
    take_from_file(journal().get_checkpoint());
    promises().give(journal().get_checkpoint(), io());
    if (covered_ <= journal().get_checkpoint()) covered_at_checkpoint_ = covered_;
    adopted_ = journal_start;
  }

  std::string text() {
    const std::size_t kind = random_.below(200);
    const std::size_t size = kind == 0 ? 5000 : kind < 5 ? 600 : random_.below(20);
    return std::string(size, static_cast<char>('a' + random_.below(26)));
  }

  // The bytes of a string are in `texts_`.
  template <Field_Value T>
  T value() {
    if constexpr (std::is_same_v<T, std::string_view>)
      return texts_.emplace_back(text());
    else if constexpr (std::is_same_v<T, Record_Id>)
      return Record_Id(static_cast<index_t>(random_.below(50)) - 1);
    else if constexpr (std::is_same_v<T, Blob>)
      return write_blob(text());
    else
      return static_cast<T>(random_.next());
  }

  const Table* pick_table() {
    if constexpr (has_tables) {
      const auto& tables = store_->get_database().tables();
      return tables.empty() ? nullptr : tables[random_.below(tables.size())].get();
    }
    return nullptr;
  }

  void blob() { write_blob(text()); }
  void write_time() { write(Timestamp{static_cast<std::int64_t>(random_.below(1'000'000))}); }

  void commit() {
    if constexpr (has_tables)
      store_->commit();
    else
      store_->get_journal().commit();
  }

  void create_table() {
    if constexpr (has_tables) {
      const std::size_t number = store_->get_database().tables().size();
      if (number < 4) write(Create_Table{"table_" + std::to_string(number)});
    }
  }

  void change_table() {
    const Table* const table = pick_table();
    if (table == nullptr) return;
    if (random_.below(4) == 0) return write(Drop_Table{table->id()});
    const std::string name = "renamed_" + std::to_string(random_.below(1'000'000));
    if constexpr (has_tables)
      if (store_->get_database().find_table(name) == nullptr)
        write(Rename_Table{table->id(), name});
  }

  void add_field() {
    const Table* const table = pick_table();
    if (table == nullptr || table->fields().size() > 6) return;
    const auto code = static_cast<Type_Code>(1 + random_.below(type_count));
    write(Add_Field{table->id(),
                    "f" + std::to_string(table->fields().size()),
                    {code, code == Type_Code::reference ? table->id() : Table_Id()}});
  }

  void change_field() {
    const auto field = pick_field();
    if (!field) return;
    const auto [table, id] = *field;
    if (random_.below(4) == 0) return write(Drop_Field{table->id(), id});
    const std::string name = "renamed_" + std::to_string(random_.below(1'000'000));
    if (table->find_field(name).is_null()) write(Rename_Field{table->id(), id, name});
  }

  struct Picked_Field {
    const Table* table;
    Field_Id id;
  };
  std::optional<Picked_Field> pick_field() {
    const Table* const table = pick_table();
    if (table == nullptr || table->fields().empty()) return std::nullopt;
    const std::size_t number = random_.below(table->fields().size());
    if (!table->fields()[number].column) return std::nullopt;
    return Picked_Field{table, Field_Id(static_cast<std::uint16_t>(1 + number))};
  }
  Type_Code type_of(const Picked_Field& field) const {
    return field.table->find_field(field.id)->column->type().code;
  }

  void insert() {
    const Table* const table = pick_table();
    if (table == nullptr) return comment();
    const Record_Ids& records = table->records();
    const index_t id =
        random_.below(4) > 0 ? records.next_free() : static_cast<index_t>(random_.below(60));
    if (!records.is_used(id)) write(Insert{table->id(), Record_Id(id)});
  }

  void insert_vector() {
    const Table* const table = pick_table();
    if (table == nullptr) return;
    const auto size = static_cast<std::int64_t>(random_.below(10));
    write(Insert_Vector{table->id(), Record_Id(table->records().size()), size});
  }

  void erase() {
    const Table* const table = pick_table();
    if (table == nullptr || table->records().used_count() == 0) return;
    const auto id =
        static_cast<index_t>(random_.below(static_cast<std::size_t>(table->records().size())));
    if (table->records().is_used(id)) write(Delete{table->id(), Record_Id(id)});
  }

  void update() {
    const auto field = pick_field();
    if (!field || field->table->records().size() == 0) return;
    const auto size = static_cast<std::size_t>(field->table->records().size());
    const auto id = static_cast<index_t>(random_.below(size));
    if (!field->table->records().is_used(id)) return;
    visit_type(type_of(*field), [&]<class T>(std::type_identity<T>) {
      const T v = value<T>();
      write(Update<T>{field->table->id(), Record_Id(id), field->id, v});
    });
  }

  void update_vector() {
    if constexpr (has_tables) {
      const auto field = pick_field();
      if (!field || field->table->records().size() == 0) return;
      const auto records = static_cast<std::size_t>(field->table->records().size());
      const std::size_t start = random_.below(records);
      const std::size_t size = random_.below(records - start + 1);
      visit_type(type_of(*field), [&]<class T>(std::type_identity<T>) {
        const std::unique_ptr<T[]> values(new T[size]());
        for (std::size_t i = 0; i < size; ++i) values[i] = value<T>();
        write_vector<T>(field->table->id(), Record_Id(static_cast<index_t>(start)), field->id,
                        std::span<const T>(values.get(), size));
      });
    }
  }

  template <Field_Value T>
  void write_vector(Table_Id table, Record_Id record, Field_Id field, std::span<const T> values) {
    has_written_ = true;
    store_->template write_vector<T>(table, record, field, values);
    const auto append = [&](std::size_t limit, auto encode) {
      const std::size_t size = expected().size();
      expected().resize(size + limit);
      const char* const end = encode(expected().data() + size);
      expected().resize(static_cast<std::size_t>(end - expected().data()));
    };
    append(entry_size_limit, [&](char* out) {
      return encode_update_vector<T>(out, context_, table, record, field,
                                     static_cast<std::int64_t>(values.size()));
    });
    for (const T& v : values)
      append(value_size_limit(v), [&](char* out) { return encode_value(out, v); });
  }

  // Number of the kinds of operations in act().
  static constexpr std::size_t action_count = 19;

  void act(std::size_t number) {
    switch (number) {
      case 0:
        return soft_checkpoint();
      case 1:
        return hard_checkpoint();
      case 2:
        return half_checkpoint();
      case 3:
        return group_checkpoint();
      case 4:
        return flush();
      case 5:
        return commit();
      case 6:
        return rollback();
      case 7:
        return comment();
      case 8:
        return blob();
      case 9:
        return write_time();
      case 10:
        return insert();
      case 11:
        return insert_vector();
      case 12:
        return erase();
      case 13:
        return update();
      case 14:
        return update_vector();
      case 15:
        return create_table();
      case 16:
        return change_table();
      case 17:
        return add_field();
      default:
        return change_field();
    }
  }

  Scenario_Disk& disk_;
  Random& random_;
  std::unique_ptr<Sim_File> file_;
  std::unique_ptr<Store> store_;
  Context context_;
  bool has_seals_ = true;
  bool wants_integrity_ = false;
  bool has_recovered_shared_ = false;  // true if the first transaction has recovered the file
  bool ignores_header_ = false;        // integrity entries are ignored, too
  bool has_unchecked_entries_ = false;
  bool has_written_ = false;        // true if it has written since it was opened or locked
  bool is_abandoned_ = false;       // a transaction was abandoned, and not rolled back yet
  Offset covered_ = journal_start;  // end of the bytes covered by integrity entries
  Offset covered_at_checkpoint_ = journal_start;
  Offset adopted_ = journal_start;  // end of an adopted tail that no checkpoint covers yet
  std::deque<std::string> texts_;
  std::size_t weights_[action_count];
};

// Creates a small schema if there are no tables.
void begin_schema(Process<Writable_Database>& process) {
  if (!process.store().get_database().tables().empty()) return;
  process.write(Create_Table{"t"});
  process.write(Add_Field{Table_Id(1), "i", {Type_Code::int32, {}}});
  process.write(Add_Field{Table_Id(1), "s", {Type_Code::string, {}}});
}
void begin_schema(Process<Bare_Journal>&) {}

// The journal that the commands of a script use. Records checkpoints and rollbacks as promises.
struct Script_Journal {
  Process<Writable_Database>& process;
  void write(const auto& entry) { process.store().write(entry); }
  Blob write_blob(std::string_view bytes) { return process.store().write_blob(bytes); }
  void flush() { process.flush(); }
  void soft_checkpoint() { process.soft_checkpoint(); }
  void hard_checkpoint() { process.hard_checkpoint(); }
  void rollback() { process.rollback(); }
};

// Returns true if no write may succeed after the fault.
bool stops_writing(const Sim_Fault& fault) {
  switch (fault.calls) {
    case Sim_Fault::Calls::changes:
    case Sim_Fault::Calls::writes:
    case Sim_Fault::Calls::syncs:
    case Sim_Fault::Calls::truncations:
      return true;
    default:
      return false;
  }
}

void require_clear(const std::exception& error, const Sim_Fault& fault) {
  const std::string_view what = error.what();
  if (what.find("sim") == what.npos || what.find(std::strerror(fault.code)) == what.npos)
    throw Broken_Rule("the error does not name file and cause: " + std::string(what));
}

}  // namespace

std::string tables_of(std::string_view image, Offset position) {
  Database database;
  database.limit_to_journal_of(position);
  decode_entries(image.substr(header_size, static_cast<std::size_t>(position) - header_size),
                 database, journal_start);
  return content_text(database);
}

// ---- Scenario -----------------------------------------------------------------------------------

Scenario::Scenario(const Workload& workload, std::optional<Scenario_Fault> fault)
    : random_(workload.seed),
      fault_(fault),
      has_lying_disk_(workload.has_lying_disk),
      sector_size_(random_.flip() ? 512 : 4096) {
  run(workload);
}

void Scenario::run(const Workload& workload) {
  if (!workload.script.empty()) {
    kind_ = "script";
    return run_script(workload.script);
  }
  switch (random_.below(10)) {
    default:
      kind_ = "journal";
      return run_processes<Bare_Journal>(add_disk("disk"));
    case 0:
    case 1:
    case 2:
      kind_ = "database";
      return run_processes<Writable_Database>(add_disk("disk"));
    case 3:
    case 4:
      kind_ = "shared";
      return run_shared();
    case 5:
      kind_ = "push";
      return run_push();
    case 6:
      kind_ = "pack";
      return run_pack();
  }
}

Scenario_Disk& Scenario::add_disk(std::string name) {
  Scenario_Disk& disk = disks_.emplace_back(std::move(name));
  if (has_lying_disk_) disk.disk.ignore_syncs();
  if (fault_ && fault_->disk == disks_.size() - 1) disk.disk.set_fault(fault_->fault);
  return disk;
}

// Runs several processes, one after the other. Each of them may be killed.
template <class Store>
void Scenario::run_processes(Scenario_Disk& disk) {
  const bool has_integrity = random_.below(4) == 0;
  disk.promises.set_integrity(has_integrity);
  for (std::size_t processes = 1 + random_.below(3); processes > 0; --processes) {
    std::unique_ptr<Process<Store>> process;
    const bool had_tail = fault_ && ends_with_tail(disk.disk.content());
    const auto first_try = static_cast<Recovery>(random_.below(5));
    for (const Recovery recovery : {first_try, Recovery::overwrite, Recovery::none}) {
      const bool had_failed = disk.disk.has_failed();
      if (had_failed && !fault_->fault.lasts) disk.disk.end_fill();
      try {
        process = std::make_unique<Process<Store>>(disk, random_, recovery);
        break;
      } catch (const Exception& error) {
        // Either the file has a tail, perhaps with a torn entry, or this is the simulated fault.
        if (disk.disk.has_failed() && !had_failed && !disk.disk.has_failed_in_unwinding())
          require_clear(error, fault_->fault);
      }
    }
    if (!process) {
      if (disk.disk.has_failed()) return;
      throw Broken_Rule("the database cannot be opened");
    }
    if (random_.below(4) == 0) process->file().kill_after(random_.below(12));
    std::string before;
    const bool had_failed = disk.disk.has_failed();
    try {
      if (has_integrity) process->enable_integrity();
      begin_schema(*process);
      for (std::size_t i = random_.below(20); i > 0; --i) {
        const bool is_near = fault_ && !disk.disk.has_failed() &&
                             disk.disk.count(fault_->fault.calls) + 8 > fault_->fault.number;
        if (is_near) before = process->memory();
        try {
          process->act();
        } catch (const Exception&) {
          if (is_near && process->memory() != before)
            throw Broken_Rule("an operation failed and has changed memory");
          throw;
        }
      }
      process->expect_memory_is_journal();
    } catch (const Sim_Killed&) {
    } catch (const Exception& error) {
      if (process->file().is_killed()) continue;  // Sim_Killed was caught on the way
      if (!disk.disk.has_failed()) throw;
      if (had_failed && !fault_->fault.lasts)
        throw Broken_Rule("an error long after a failure: " + std::string(error.what()));
      require_clear(error, fault_->fault);
      process->expect_careful(stops_writing(fault_->fault));
      if (!fault_->fault.room) continue;
      process->file().kill_after(std::size_t(-1));  // otherwise a tail may stay
      process.reset();
      if (!had_tail && ends_with_tail(disk.disk.content()))
        throw Broken_Rule("after a write for which the disk had no room, writers are refused");
    }
  }
}

// Two processes take turns with one file. If a process is killed, a new process replaces it.
void Scenario::run_shared() {
  Scenario_Disk& disk = add_disk("disk");
  using Writer = Process<Writable_Database>;
  std::unique_ptr<Writer> writers[2];
  const auto open = [&](std::unique_ptr<Writer>& writer) {
    // Writers refuse a file with the tail of a dead writer, so the tail is removed.
    writer = std::make_unique<Writer>(disk, random_, Recovery::overwrite, Open_Mode::shared_write);
    if (random_.flip()) writer->file().kill_after(random_.below(16));
  };
  const auto pull = [](std::unique_ptr<Writer>& writer) {
    if (!writer) return;
    try {
      writer->pull();
    } catch (const Sim_Killed&) {
      writer.reset();
    } catch (const Exception&) {
      if (!writer->file().is_killed()) throw;
      writer.reset();
    }
  };
  try {
    for (auto& writer : writers) open(writer);
    for (std::size_t transactions = 1 + random_.below(8); transactions > 0; --transactions) {
      const std::size_t turn = random_.below(2);
      std::unique_ptr<Writer>&writer = writers[turn], &other = writers[1 - turn];
      if (!writer) open(writer);
      try {
        writer->forget_abandoned();
        if (random_.below(4) == 0) writer->sync_found();
        writer->begin();
        begin_schema(*writer);
        for (std::size_t i = random_.below(6); i > 0; --i) writer->act();
        if (random_.below(8) == 0) writer->enable_integrity();
        if (random_.below(4) == 0) pull(other);
        if (random_.below(4) == 0) {
          if (random_.flip()) {
            writer->abandon();
            continue;
          }
          if (writer->has_tail()) writer->rollback();
        } else if (random_.flip()) {
          writer->soft_checkpoint();
        } else {
          writer->hard_checkpoint();
        }
        writer->expect_memory_is_journal();
        if (random_.below(4) == 0) pull(other);
        writer->end();
      } catch (const Sim_Killed&) {
        writer.reset();
      } catch (const Exception&) {
        if (!writer->file().is_killed()) throw;
        writer.reset();  // Sim_Killed was caught on the way
      }
    }
  } catch (const Exception&) {
    if (!disk.disk.has_failed()) throw;
    for (const auto& writer : writers)
      if (writer) writer->expect_careful(false);
  }
}

// A client works on one disk and pushes to another.
void Scenario::run_push() {
  Scenario_Disk& local = add_disk("local");
  Scenario_Disk& other = add_disk("other");
  const bool is_hard = random_.flip();
  try {
    for (std::size_t clients = 1 + random_.below(2); clients > 0; --clients) {
      const auto begin = [](Scenario_Disk& d) { d.promises.begin_epoch(d.disk.io_count()); };
      const auto end = [](Scenario_Disk& d, Offset found) {
        d.promises.end_epoch(d.disk.io_count(), found, d.disk.content());
      };
      begin(other);
      Sim_File other_file(other.disk);
      File_Connection connection(other_file);
      end(other, connection.get_checkpoint());
      begin(local);
      Sim_File local_file(local.disk);
      Writable_Journal_Client client(local_file, connection, Content_Check::full);
      end(local, client.get_journal_checkpoint());
      client.set_hard_checkpoint(is_hard);
      Context context = context_behind(local.promises.file());
      for (std::size_t i = 1 + random_.below(4); i > 0; --i) {
        client.transaction([&](Writable_Journal& journal) {
          for (std::size_t entries = 1 + random_.below(4); entries > 0; --entries) {
            const std::string text(random_.below(random_.below(20) == 0 ? 2000 : 20), 'p');
            journal.append(Comment{text});
            append_encoded(local.promises.file(), context, Comment{text});
          }
          journal.append(Valid_Data{});  // otherwise the client may append one
          append_encoded(local.promises.file(), context, Valid_Data{});
          const Checkpoint_Level level = is_hard ? Checkpoint_Level::hard : Checkpoint_Level::soft;
          const Offset start = journal.get_position();
          journal.prepare_checkpoint(level);
          std::string integrity(static_cast<std::size_t>(journal.get_position() - start), '\0');
          journal.read(integrity.data(), integrity.size(), start);
          local.promises.file() += integrity;
          other.promises.file() = local.promises.file();
          other.promises.ask(level, journal.get_position(), other.disk.io_count(), false);
          if (is_hard)
            local.promises.ask(Checkpoint_Level::soft, journal.get_position(),
                               local.disk.io_count());
          local.promises.ask(level, journal.get_position(), local.disk.io_count(), false);
        });
        local.promises.give(client.get_journal_checkpoint(), local.disk.io_count());
        other.promises.give(connection.get_checkpoint(), other.disk.io_count());
      }
    }
  } catch (const Exception&) {
    if (!local.disk.has_failed() && !other.disk.has_failed()) throw;
  }
}

// Packs a database to another disk.
void Scenario::run_pack() {
  Scenario_Disk& source = add_disk("disk");
  run_processes<Writable_Database>(source);
  Scenario_Disk& target = add_disk("packed");
  try {
    Readonly_Memory_File source_file(source.disk.content());
    if (source.disk.content().empty()) return;
    Readonly_Journal journal(source_file);
    Database database;
    database.limit_to_journal_of(journal.get_checkpoint());
    load(database, journal);

    Memory_File expected;
    {
      Writable_Journal packed(expected);
      packed.replay(Ignore_Entries());
      pack(database, packed);
      packed.flush();
      target.promises.begin_epoch(0);
      Sim_File file(target.disk);
      Writable_Journal to_disk(file);
      to_disk.replay(Ignore_Entries());
      target.promises.end_epoch(target.disk.io_count(), journal_start, target.disk.content());
      pack(database, to_disk);
      target.promises.file().assign(expected.get_data().begin(), expected.get_data().end());
      const auto level = static_cast<Checkpoint_Level>(random_.below(3));
      target.promises.ask(level, to_disk.get_position(), target.disk.io_count(), false);
      to_disk.checkpoint(level);
      target.promises.give(to_disk.get_checkpoint(), target.disk.io_count());
      packed.soft_checkpoint();
    }
  } catch (const Exception&) {
    if (!source.disk.has_failed() && !target.disk.has_failed()) throw;
  }
}

// Checkpoints and rollbacks are requested from the process. When a checkpoint is requested, the
// process takes over the entries that other commands have written.
void Scenario::run_script(const std::string& script) {
  Scenario_Disk& disk = add_disk("disk");
  try {
    Process<Writable_Database> process(disk, random_, Recovery::none);
    try {
      Script_Journal journal{process};
      Command_Loop loop({.is_echoing = false, .is_prompting = false, .is_bailing = true},
                        [] { return std::string(); });
      Command_Options options;
      options.now = [] { return std::int64_t{0}; };
      add_journal_commands(loop, journal, options);
      add_display_commands(loop, process.store().get_database());
      add_data_commands(loop, process.store(), options);
      add_schema_commands(loop, process.store());
      add_blob_commands(loop, [&](Blob blob) { return process.store().read_blob(blob); });
      std::ostringstream nowhere;
      Text_Line_Source lines(script, nowhere);
      if (loop.run(lines, nowhere) == Command_Loop::End::error)
        throw Exception(loop.failures().message());
      process.expect_memory_is_journal();
    } catch (const Exception&) {
      if (!disk.disk.has_failed()) throw;
      process.expect_careful(stops_writing(fault_->fault));
    }
  } catch (const Exception&) {
    if (!disk.disk.has_failed()) throw;
  }
}

// ---- recovery -----------------------------------------------------------------------------------

template <class Store>
static Recovered recover_with(Scenario_Disk& disk, Recovery recovery, Random& random) {
  Recovered result;
  const bool was_exact = disk.promises.in_force(0, Crash::power).is_exact;
  std::optional<Process<Store>> process;
  try {
    process.emplace(disk, random, recovery);
  } catch (const Exception& error) {
    result.refusal = error.what();
    return result;
  }
  result.is_open = true;
  result.found = process->journal().get_checkpoint();
  const bool has_integrity = process->proves_soft_checkpoints();
  if (was_exact && !has_integrity) throw Broken_Rule("the writer has not seen integrity entries");
  disk.promises.set_integrity(has_integrity);
  for (std::size_t i = 1 + random.below(2); i > 0; --i) {
    process->comment();
    switch (random.below(6)) {
      case 0:
        process->flush();
        break;
      case 1:
        process->rollback();
        break;
      case 2:
      case 3:
        process->soft_checkpoint();
        break;
      default:
        process->hard_checkpoint();
    }
  }
  process->expect_memory_is_journal();
  return result;
}

Recovered recover(Scenario_Disk& disk, Recovery recovery, bool has_tables, Random& random) {
  return has_tables ? recover_with<Writable_Database>(disk, recovery, random)
                    : recover_with<Bare_Journal>(disk, recovery, random);
}

}  // namespace joedb::testing
