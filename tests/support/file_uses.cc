#include "support/file_uses.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <streambuf>

#include "joedb/base/log.h"
#include "joedb/history/changes.h"
#include "joedb/io/memory_file.h"
#include "joedb/replica/clients.h"
#include "joedb/text/table_text.h"
#include "rewrite/forget.h"
#include "rewrite/pack.h"
#include "rewrite/pack_in_parts.h"
#include "rewrite/pack_since.h"
#include "sim/lab/database_text.h"
#include "text/dump.h"
#include "text/entry_text.h"
#include "text/json.h"

namespace joedb::testing {

void require(bool is_true, const std::string& text) {
  if (is_true) return;
  std::fprintf(stderr, "broken promise: %s\n", text.c_str());
  std::abort();
}

std::string commands_of(const Database& database) {
  std::ostringstream out;
  Command_Writer writer(out);
  dump_schema(database, writer);
  dump_data(database, writer);
  writer.flush();
  return out.str();
}

namespace {

// A few bytes can make tables with millions of rows, which take long to print.
constexpr index_t large = 10'000;

bool is_large(const Database& database) {
  for (const Table* table : live_tables(database))
    if (table->records().size() > large) return true;
  return false;
}

std::string sizes_of(const Database& database) {
  std::string text;
  for (const Table* table : live_tables(database)) {
    const Record_Ids& records = table->records();
    for (const index_t n : {records.size(), records.used_count(), records.next_free()})
      text += std::to_string(n) + ' ';
  }
  return text;
}

std::string visible_content(const Database& database) {
  return is_large(database) ? sizes_of(database) : content_text(database);
}

std::string_view bytes_of(const Memory_File& file) {
  return {file.get_data().data(), file.get_data().size()};
}

// A file in memory that holds these bytes.
class Copy : public Memory_File {
 public:
  explicit Copy(std::string_view bytes) : Memory_File(Open_Mode::write_existing) {
    get_data().assign(bytes.begin(), bytes.end());
  }
};

// Discards everything that is printed.
class Null_Buffer : public std::streambuf {
  int overflow(int c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize size) override { return size; }
};

// Discards everything printed on std::cerr, and warnings of destructors.
class Quiet {
 public:
  Quiet() : old_(std::cerr.rdbuf(&null_buffer_)) { Destructor_Logger::remove_logger(); }
  ~Quiet() { std::cerr.rdbuf(old_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  Null_Buffer null_buffer_;
  std::streambuf* const old_;
};

// Calls f. Errors that the library reports are not failures.
template <class F>
void try_to(F f) {
  try {
    f();
  } catch (const Exception&) {
  }
}

// ---- reading ------------------------------------------------------------------------------------

// Hides Database::replay_batch, so that the database gets single entries.
struct One_By_One {
  template <class Entry>
  void operator()(const Entry& entry) {
    database(entry);
  }
  Database& database;
};

// Throws what the library throws.
void read(std::string_view file, Recovery recovery, Database& database, bool in_runs = true) {
  Readonly_Memory_File memory(file);
  try {
    Readonly_Journal journal(memory, recovery);
    require(journal.get_checkpoint() <= memory.get_size(), "a checkpoint beyond the end");
    database.limit_to_journal_of(journal.get_checkpoint());
    if (in_runs)
      journal.replay(database);
    else
      journal.replay(One_By_One{database});
    require(journal.get_replay_position() == journal.get_checkpoint(), "not all is replayed");
  } catch (const Corruption_Error& error) {
    require(error.offset >= 0 && error.offset <= memory.get_size(),
            std::string("an error elsewhere: ") + error.what());
    throw;
  }
}

// ---- printing -----------------------------------------------------------------------------------

template <class Writer>
void print_journal(Abstract_File& file, Recovery recovery, Writer writer) {
  Readonly_Journal journal(file, recovery);
  if constexpr (std::is_same_v<Writer, Sql_Writer>)
    writer.limit_to_journal_of(journal.get_checkpoint());
  writer.begin(journal_start);
  journal.replay(writer);
  writer.end(journal.get_replay_position());
}

void print_entries(std::string_view file, Recovery recovery) {
  Readonly_Memory_File memory(file);
  Null_Buffer nowhere;
  std::ostream out(&nowhere);
  try_to([&] { print_journal(memory, recovery, Command_Writer(out)); });
  try_to([&] { print_journal(memory, recovery, Command_Writer(out, &memory)); });
  try_to([&] {
    print_journal(memory, recovery, Command_Writer(out, &memory, Command_Writer::Form::raw));
  });
  try_to([&] { print_journal(memory, recovery, Sql_Writer(out)); });
  try_to([&] { print_journal(memory, recovery, Sql_Writer(out, &memory)); });
}

void print_tables(const Database& database) {
  Null_Buffer nowhere;
  std::ostream out(&nowhere);
  for (const Table* table : live_tables(database)) {
    write_table(out, *table, {});
    write_table(out, *table, {.max_column_width = 0, .start = -1, .length = 2});
    for (const index_t id : {index_t{-1}, index_t{0}, table->records().last()})
      write_record(out, *table, Record_Id(id));
  }
  for (const bool is_base64 : {false, true}) write_json(database, out, is_base64);
  Sql_Writer sql(out);
  dump_schema(database, sql);
  dump_data(database, sql);
}

// ---- writing again ------------------------------------------------------------------------------

// Returns a new file with the tables, as joedb_pack and joedb_merge write it.
std::string packed(const Database& database) {
  Memory_File file;
  Writable_Journal journal(file);
  journal.replay(Ignore_Entries());
  pack(database, journal);
  journal.soft_checkpoint();
  return std::string(bytes_of(file));
}

void pack_and_merge(const Database& database) {
  try_to([&] {
    const std::string file = packed(database);
    Database again;
    read(file, Recovery::none, again);
    require(commands_of(again) == commands_of(database), "a packed file with another content");
  });
  try_to([&] {
    constexpr std::size_t few_values = 64;
    const std::string file = packed(database);
    Part_Packer merged(few_values, Part_Packer::Loose_References::make_null);
    for (const char* name : {"first", "second"})
      merged.add(name, [&file](Value_Loader& loader) {
        Readonly_Memory_File source(file);
        Readonly_Journal journal(source);
        loader.limit_to_journal_of(journal.get_checkpoint());
        journal.replay(loader);
      });
    Memory_File out;
    Writable_Journal journal(out);
    journal.replay(Ignore_Entries());
    merged.write(journal);
    journal.soft_checkpoint();
    require(content_of(bytes_of(out)).has_value(), "a merged file that is refused");
  });
}

bool has_blobs(const Database& database) {
  for (const Table* table : live_tables(database))
    for (const Field& field : table->fields())
      if (field.column && field.column->type().code == Type_Code::blob) return true;
  return false;
}

// Returns a new file written by write(journal).
template <class Write>
std::string rewritten(Write write) {
  Memory_File out;
  Writable_Journal journal(out);
  try {
    write(journal);
  } catch (...) {
    journal.rollback();
    throw;
  }
  journal.soft_checkpoint();
  return std::string(bytes_of(out));
}

// Rewrites the file as joedb_pack --keep-since and joedb_forget do.
void rewrite_history(std::string_view file, const Database& database) {
  const auto fold = [&](Offset since) {
    Readonly_Memory_File opened(file);
    const Offset end = Readonly_Journal(opened).get_checkpoint();
    const std::string out = rewritten([&](Writable_Journal& journal) {
      pack_since(opened, {.since = at(std::min(since, end)), .end = end, .memory = 64}, journal);
    });
    const auto content = content_of(out, Recovery::none);
    require(content.has_value(), "a file that is refused, with newer history");
    require(has_blobs(database) || content == content_of(file, Recovery::none),
            "newer history that leads to another content");
  };
  try_to([&] { fold(std::numeric_limits<Offset>::max()); });
  try_to([&] {
    Readonly_Memory_File opened(file);
    Summaries summaries(opened);
    if (const auto* const first = summaries.next()) fold(first->end);
  });
  for (const Table* table : live_tables(database))
    for (const bool has_records : {false, true})
      try_to([&] {
        Readonly_Memory_File opened(file);
        Forget_Request request{table->name(), {}, {}};
        if (has_records) request.records.push_back({Record_Id(1), 2});
        const Forgetter forgetter(opened, request);
        const std::string out =
            rewritten([&](Writable_Journal& journal) { forgetter.write(journal, "", 0); });
        require(content_of(out).has_value(), "a file that is refused, without forgotten values");
        Readonly_Memory_File written(out);
        forgetter.prove(written, written.get_size(), 2, 3);
        require(Forgetter(written, request).value_count() == 0, "values that are not forgotten");
      });
}

// ---- replicas -----------------------------------------------------------------------------------

void push(std::string_view file, Recovery recovery, const std::string& content) {
  Readonly_Memory_File source(file);
  Readonly_Journal journal(source, recovery);
  Memory_File target;
  {
    File_Connection connection(target);
    connection.compare(source, journal_start,
                       std::min(journal.get_checkpoint(), connection.get_checkpoint()),
                       Content_Check::full);
    connection.push(source, journal.get_checkpoint(), Checkpoint_Level::hard,
                    Connection::After_Push::unlock);
    require(connection.get_checkpoint() == journal.get_checkpoint(), "not all is pushed");
  }
  require(content_of(bytes_of(target)) == content, "a pushed file with another content");
}

// Pulls this file into a new one.
template <class Client>
void pull(std::string_view file, const std::optional<std::string>& content) {
  Readonly_Memory_File source(file);
  Memory_File local;
  bool is_pulled = false;
  try_to([&] {
    File_Connection connection(source);
    Client client(local, connection);
    client.pull();
    require(client.get_checkpoint_difference() == 0, "not all is pulled");
    is_pulled = true;
  });
  const auto pulled = content_of(bytes_of(local));
  if (is_pulled && content)
    require(pulled == content, "a pulled file with another content");
  else if (!content && std::is_same_v<Client, Writable_Database_Client>)
    require(!is_pulled && (!pulled || bytes_of(local).size() == header_size),
            "bytes were pulled that make no sense");
}

template <class Client>
void run_transaction(std::string_view file, Recovery recovery) {
  Copy local(file);
  Memory_File other;
  bool is_done = false;
  std::string text;
  try_to([&] {
    File_Connection connection(other);
    Client client(local, connection, Content_Check::full, recovery);
    client.set_timestamp(true);
    client.push_if_ahead();
    client.transaction([](auto&&...) {});
    is_done = true;
  });
  if (is_done) require(content_of(bytes_of(local)) == content_of(bytes_of(other)), "copies differ");
}

void follow(std::string_view file, const std::optional<std::string>& content) {
  Readonly_Memory_File memory(file);
  try_to([&] {
    Readonly_Database_Client client(memory);
    client.pull();
    require(visible_content(client.get_database()) == content, "a follower sees something else");
  });
}

// ---- writing ------------------------------------------------------------------------------------

// True for a file of zeros, or with a part of a new header. A reader refuses such a file; a writer
// creates a header there.
bool is_blank(std::string_view file) {
  const auto header = encode_header(Header());
  return (file.size() <= header_size && file.find_first_not_of('\0') == file.npos) ||
         (file.size() < header_size &&
          std::string_view(header.data(), header.size()).starts_with(file));
}

// Appends something to every table.
void write_to(Writable_Database& db) {
  db.write(Comment{"appended"});
  for (std::size_t i = 0; i < db.get_database().tables().size(); ++i) {
    const Table* const table = db.get_database().tables()[i].get();
    if (table == nullptr) continue;
    const Record_Id record(table->records().next_free());
    db.write(Insert{table->id(), record});
    for (std::size_t f = 0; f < table->fields().size(); ++f) {
      const Field& field = table->fields()[f];
      if (!field.column) continue;
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        db.write(Update<T>{table->id(), record, Field_Id(static_cast<std::uint16_t>(f + 1)), T()});
      });
    }
  }
  db.write_blob("appended");
}

void write(std::string_view file, Recovery recovery, Deleted_Values deleted) {
  Copy memory(file);
  std::string opened;
  try {
    Writable_Database db(memory, recovery, deleted);
    opened = visible_content(db.get_database());
    db.recover();
    db.soft_checkpoint();
  } catch (const Exception&) {
    return;
  }
  if (!is_blank(file))
    require(content_of(file, recovery, deleted) == opened, "a writer sees something else");
  require(content_of(bytes_of(memory), Recovery::none, deleted) == opened,
          "another content after it was opened for writing");
  std::string written;
  try {
    Writable_Database db(memory, recovery, deleted);
    write_to(db);
    db.soft_checkpoint();
    written = visible_content(db.get_database());
  } catch (const Exception&) {
    return;
  }
  require(content_of(bytes_of(memory), Recovery::none, deleted) == written, "not what was written");
}

void write_journal(std::string_view file, Recovery recovery) {
  Copy memory(file);
  bool is_written = false;
  try_to([&] {
    Bare_Journal journal(memory, recovery);
    journal.write(Comment{"appended"});
    journal.hard_checkpoint();
    journal.write_blob("forgotten");
    journal.rollback();
    is_written = true;
  });
  if (!is_written) return;
  Readonly_Journal journal(memory);
  journal.replay(Ignore_Entries());
  require(journal.get_checkpoint() == memory.get_size(), "a tail after a rollback");
}

}  // namespace

// ---- history ------------------------------------------------------------------------------------

namespace {

// Requires that transactions follow each other without a gap. Returns their number.
template <class Stream>
std::size_t walk(Stream& stream) {
  std::size_t count = 0;
  Offset last = journal_start;
  while (const auto* const transaction = stream.next()) {
    require(transaction->begin == last && transaction->end > last, "transactions have gaps");
    last = transaction->end;
    ++count;
  }
  return count;
}

}  // namespace

void use_history(std::string_view file, Recovery recovery) {
  const auto content = content_of(file, recovery);
  Readonly_Memory_File memory(file);
  Change_Options options;
  options.recovery = recovery;
  std::size_t count = 0;
  bool is_read = false;
  try_to([&] {
    Changes changes(memory, options);
    count = walk(changes);
    is_read = true;
    require(visible_content(changes.database()) == content, "changes lead to another content");
  });
  require(is_read == content.has_value(), "changes of a file without a content, or none of one");
  try_to([&] {
    is_read = false;
    Summaries summaries(memory, options);
    const std::size_t summary_count = walk(summaries);
    is_read = true;
    require(!content || summary_count == count, "other transactions without values");
  });
  require(is_read || !content, "no summaries of a file with a content");
  is_read = false;
  try_to([&] {
    std::size_t left = count;
    for (const Transaction& transaction : Reversed<Changes>(memory, options)) {
      require(left > 0 && transaction.end > transaction.begin, "other transactions backwards");
      --left;
    }
    require(!content || left == 0, "fewer transactions backwards");
    const Offset end = Readonly_Journal(memory, recovery).get_checkpoint();
    const std::size_t net = net_changes(memory, journal_start, end, options).size();
    const std::size_t back = net_changes(memory, end, journal_start, options).size();
    require((net == 0) == (back == 0), "net changes in one direction only");
    is_read = true;
  });
  require(is_read == content.has_value(), "no changes backwards of a file with a content");
}

// ---- all of it ----------------------------------------------------------------------------------

std::optional<std::string> content_of(std::string_view file, Recovery recovery,
                                      Deleted_Values deleted) {
  try {
    Database database(deleted);
    read(file, recovery, database);
    return visible_content(database);
  } catch (const Exception&) {
    return std::nullopt;
  }
}

void use_file(std::string_view file) {
  const Quiet quiet;
  for (const Recovery recovery : {Recovery::none, Recovery::ignore_header, Recovery::overwrite,
                                  Recovery::hard, Recovery::keep}) {
    const auto content = content_of(file, recovery);
    std::optional<std::string> again;
    try_to([&] {
      Database database;
      read(file, recovery, database, false);
      again = visible_content(database);
    });
    require(again == content, "another content when it is read entry by entry");
    write(file, recovery, Deleted_Values::keep);
    write(file, recovery, Deleted_Values::reset);
    write_journal(file, recovery);
    if (content) push(file, recovery, *content);
    use_history(file, recovery);
    run_transaction<Writable_Database_Client>(file, recovery);
    run_transaction<Writable_Journal_Client>(file, recovery);
    if (recovery == Recovery::ignore_header || !content) print_entries(file, recovery);
  }
  Database database;
  try_to([&] { read(file, Recovery::ignore_header, database); });
  if (!is_large(database)) {
    print_tables(database);
    pack_and_merge(database);
    rewrite_history(file, database);
  }
  const auto content = content_of(file);
  pull<Writable_Database_Client>(file, content);
  pull<Writable_Journal_Client>(file, content);
  follow(file, content);
}

}  // namespace joedb::testing
