#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fuzz/fuzzers.h"
#include "joedb/base/log.h"
#include "joedb/base/types.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "kernel/format/hash.h"
#include "kernel/table/snapshot_file.h"
#include "kernel/table/snapshot_header.h"
#include "sim/lab/database_text.h"
#include "sim/lab/sim_file.h"
#include "support/file_uses.h"

namespace joedb::testing {

namespace {

// ---- the journal --------------------------------------------------------------------------------

constexpr Table_Id row{1}, mark{2};
constexpr Field_Id text{1}, number{2}, real{3}, flag{4}, other{5};

std::vector<Index_Definition> indexes() {
  return {{"by_text", row, {text}},
          {"by_number", row, {number}, true},
          {"by_real_and_text", row, {real, text}}};
}

void add_row(Writable_Database& db, int i) {
  const Record_Id id(db.get_database().table(row).records().next_free());
  const std::string value = "row number " + std::to_string(i * 7919 % 100);
  db.write(Insert{row, id});
  db.write(Update<std::string_view>{row, id, text, value});
  db.write(Update<std::int32_t>{row, id, number, i * i * 100});
  db.write(Update<float>{row, id, real, static_cast<float>(i % 5) - 2});
  db.write(Update<bool>{row, id, flag, i % 2 == 0});
  db.write(Update<Record_Id>{row, id, other, Record_Id(i / 2)});
}

struct Fixed {
  std::string journal;
  std::vector<std::string> snapshots;  // of a dense table, and of one with linked lists of ids
  std::string content;
};

Fixed make_fixed() {
  Fixed result;
  Sim_Disk disk;
  Sim_File file(disk);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  const auto keep_snapshot = [&] {
    db.hard_checkpoint();
    require(db.write_snapshot(), "no snapshot of a simulated file");
    result.snapshots.push_back(disk.beside().at(snapshot_suffix()));
  };
  db.write(Create_Table{"row"});
  db.write(Add_Field{row, "text", {Type_Code::string, {}}});
  db.write(Add_Field{row, "number", {Type_Code::int32, {}}});
  db.write(Add_Field{row, "real", {Type_Code::float32, {}}});
  db.write(Add_Field{row, "flag", {Type_Code::boolean, {}}});
  db.write(Add_Field{row, "other", {Type_Code::reference, row}});
  db.write(Create_Table{"mark"});
  db.write(Insert_Vector{mark, Record_Id(0), 3});
  for (int i = 0; i < 24; ++i) add_row(db, i);
  keep_snapshot();
  for (const int i : {3, 17, 23, 20}) db.write(Delete{row, Record_Id(i)});
  db.write(Timestamp{1'700'000'000});
  add_row(db, 100);
  keep_snapshot();
  // Entries after the snapshot. Their short forms may refer to the last entry before it.
  for (int i = 101; i < 104; ++i) add_row(db, i);
  db.write(Insert{mark, Record_Id(5)});
  db.hard_checkpoint();
  result.journal = disk.content();
  result.content = content_text(db.get_database());
  return result;
}

const Fixed& fixed() {
  static const Fixed result = make_fixed();
  return result;
}

// ---- hashes -------------------------------------------------------------------------------------

using namespace snapshot_header;

// Corrects the hashes. With `is_whole`, also corrects the rest of the header, so that the snapshot
// fits the journal; a position that no valid snapshot has is replaced.
std::string mended(std::string bytes, bool is_whole) {
  if (bytes.size() < snapshot_page) return bytes;
  const auto word = [&](Word i) { return load<std::uint64_t>(bytes.data() + 8 * i); };
  const auto set = [&](Word i, std::uint64_t value) { store(bytes.data() + 8 * i, value); };
  const Readonly_Memory_File journal(fixed().journal);
  const std::uint64_t start = word(directory_offset_word);
  if (start < snapshot_page || start > bytes.size()) return bytes;
  if (is_whole) {
    const std::string* good = &fixed().snapshots[0];
    for (const std::string& valid : fixed().snapshots)
      if (valid.compare(8 * position_word, 8, bytes, 8 * position_word, 8) == 0) good = &valid;
    std::copy_n(good->begin(), 8 * sample_word, bytes.begin());
    set(file_size_word, bytes.size());
    set(directory_size_word, bytes.size() - start);
    set(sections_end_word, start == snapshot_page ? start : start - 8);
  }
  // The sections are one block, of less than 1 MiB.
  const std::uint64_t end = word(sections_end_word);
  if (end > snapshot_page && end + 8 == start)
    store(
        bytes.data() + end,
        hash_of(std::string_view(bytes).substr(snapshot_page, end - snapshot_page), snapshot_page));
  if (end >= snapshot_page && end <= start)
    set(hash_of_hashes_word, hash_of(std::string_view(bytes).substr(end, start - end), layout));
  const auto place = static_cast<Offset>(word(position_word));
  if (place >= journal_start && place <= journal.get_size()) {
    set(sample_word, sample_journal(journal, place));
    set(journal_hash_word, hash_journal(journal, place).all);
  }
  set(directory_hash_word, hash_of(std::string_view(bytes).substr(start), layout));
  set(header_hash_word, hash_of(std::string_view(bytes).substr(0, 8 * header_hash_word), layout));
  return bytes;
}

// ---- use ----------------------------------------------------------------------------------------

// Limits the steps in a list, which may be circular in a damaged snapshot.
index_t steps_of(const Table& table) { return std::min<index_t>(table.records().size(), 1000); }

template <class F>
void for_each_column(const Table& table, F f) {
  for (std::size_t i = 0; i < table.fields().size(); ++i) {
    const Field_Id field(static_cast<std::uint16_t>(i + 1));
    if (const Field* const found = table.find_field(field); found != nullptr)
      visit_type(found->column->type().code,
                 [&]<class T>(std::type_identity<T>) { f(field, table.column<T>(field)); });
  }
}

template <Field_Value T>
std::uint64_t sum_of(T value) {
  const Key_Part part = key_part(value);
  std::uint64_t sum = part.number;
  for (const char c : part.text) sum += static_cast<unsigned char>(c);
  return sum;
}

std::uint64_t read_records(const Table& table) {
  const Record_Ids& records = table.records();
  std::uint64_t sum = 0;
  const auto visit = [&](index_t id) {
    require(id >= 0 && id < records.size(), "a record that no table can have");
    for_each_column(table, [&]<class T>(Field_Id, const Column<T>& column) {
      sum += sum_of<T>(column.get(id));
    });
  };
  index_t left = steps_of(table);
  for (index_t id = records.first(); id != Record_Ids::no_id && left-- > 0; id = records.next(id))
    visit(id);
  left = steps_of(table);
  for (index_t id = records.last(); id != Record_Ids::no_id && left-- > 0;
       id = records.previous(id))
    visit(id);
  for (index_t id = 0; id < steps_of(table); ++id) visit(id);
  return sum;
}

// Requires that the iteration ends in each direction.
void read_index(const Table& table, const Index& index, bool is_unchanged) {
  index_t most = 2 * table.records().size() + 100;
  for (auto place = index.begin(); place != index.end(); place.next()) {
    require(most-- > 0, "an index without an end");
    require(!is_unchanged || table.is_used(place.record()), "a record that is not in use");
  }
  for (auto place = index.end(); place != index.begin();) {
    const Record_Id before = place.record();
    place.previous();
    require(most-- > -2 * table.records().size() - 100, "an index without a beginning");
    if (place.record() == before) break;  // a wrong order
  }
  std::vector<Key_Part> key;
  for (const Field_Id field : index.definition().fields) {
    if (field == text) key.push_back(key_part(std::string_view("row number 38")));
    if (field == number) key.push_back(key_part(std::int32_t{100}));
    if (field == real) key.push_back(key_part(1.0f));
    index.find(key);
    index.lower_bound(key).previous();
    index.upper_bound(key).next();
  }
  for (index_t id = 0; id < steps_of(table); ++id) index.at(Record_Id(id)).next();
}

void read_all(const Database& database, bool is_unchanged) {
  std::uint64_t sum = 0;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    sum += read_records(*table);
    for (const auto& index : table->indexes())
      if (index->is_complete()) read_index(*table, *index, is_unchanged);
  }
  volatile std::uint64_t used = sum;
  static_cast<void>(used);
}

template <class T>
T new_value(int i) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return i % 3 == 0 ? "short" : "a text that does not fit where one was";
  else if constexpr (std::is_same_v<T, Record_Id>)
    return Record_Id(i);
  else if constexpr (std::is_same_v<T, Blob>)
    return Blob();
  else
    return static_cast<T>(1000 - i);
}

void change_all(Writable_Database& db) {
  const auto attempt = [](auto f) {
    try {
      f();
    } catch (const Exception&) {
    }
  };
  for (const auto& table : db.get_database().tables()) {
    if (!table) continue;
    const auto rows = static_cast<std::size_t>(steps_of(*table));
    for (int i = 0; i < 12 && rows > 0; ++i) {
      const Record_Id record(static_cast<index_t>(static_cast<std::size_t>(i) * 37 % rows));
      for_each_column(*table, [&]<class T>(Field_Id field, const Column<T>&) {
        attempt([&] { db.write(Update<T>{table->id(), record, field, new_value<T>(i)}); });
      });
      if (i % 3 == 0) attempt([&] { db.write(Delete{table->id(), record}); });
      attempt([&] { db.write(Insert{table->id(), Record_Id(table->records().next_free())}); });
    }
  }
}

}  // namespace

std::string valid_snapshot(std::size_t i) {
  return fixed().snapshots[i % fixed().snapshots.size()];
}

void fuzz_snapshot(std::string_view input) {
  Destructor_Logger::remove_logger();
  if (input.empty()) return;
  const auto options = static_cast<unsigned char>(input[0]);
  std::string snapshot(input.substr(1));
  if (options % 4 != 0) snapshot = mended(std::move(snapshot), options % 4 != 2);
  const auto mode = (options & 4) != 0 ? Deleted_Values::keep : Deleted_Values::reset;
  Sim_Disk disk(fixed().journal, {{snapshot_suffix(), std::move(snapshot)}});
  // The second round uses the snapshot that the first one has written.
  for (int round = 0; round < 2; ++round) {
    try {
      Sim_File file(disk);
      Writable_Database db(file, {}, mode,
                           (options & 8) != 0 ? std::vector<Index_Definition>() : indexes());
      if (round == 0 && db.get_database().snapshot_report().position == 0)
        require(content_text(db.get_database()) == fixed().content, "not what the journal has");
      read_all(db.get_database(), true);
      change_all(db);
      read_all(db.get_database(), false);
      db.hard_checkpoint();
      db.write_snapshot();
      read_all(db.get_database(), false);
    } catch (const Exception&) {
    }
  }
}

}  // namespace joedb::testing
