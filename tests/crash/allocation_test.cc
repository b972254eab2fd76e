#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "commands/interpreter.h"
#include "crash/allocations.h"
#include "crash/watch.h"
#include "geo_2.h"
#include "joedb/base/log.h"
#include "joedb/io/memory_file.h"
#include "joedb/replica/clients.h"
#include "sim/lab/database_text.h"
#include "support/file_uses.h"

// Runs each step of a workload with its first allocation failing, then its second, and so on, until
// it succeeds. Failing checks the state after each failure.

void geo_2::Writable_Database::capitalise(geo_2::Writable_Database& db) {
  for (const auto city : db.get_city_table())
    db.set_country(city, "a country: " + std::string(db.get_country(city)));
}

namespace joedb {
namespace {

namespace allocations = testing::allocations;

constexpr int seconds_for_each_failure = 60;

std::string_view bytes_of(const Memory_File& file) {
  return {file.get_data().data(), file.get_data().size()};
}

// ---- worlds: a file, and the objects that use it ------------------------------------------------

// The state on which workloads without a compiled schema run.
struct Untyped {
  Memory_File file;
  std::unique_ptr<Writable_Database> db;
  Memory_File other;  // a longer copy of the file

  static constexpr Table_Id t = Table_Id(1);
  static constexpr Field_Id text = Field_Id(1), number = Field_Id(2), real = Field_Id(3);

  void open(Recovery recovery) {
    db.reset();
    db = std::make_unique<Writable_Database>(
        file, recovery, Deleted_Values::keep,
        std::vector<Index_Definition>{{"by_number", t, {number}, true},
                                      {"by_text", t, {text}, false},
                                      {"by_both", t, {text, number}, true}});
  }
  void close() { db.reset(); }
  bool is_open() const { return db != nullptr; }
  std::string seen() const {
    std::string result = testing::content_text(db->get_database());
    for (const Index* index : db->get_database().indexes()) {
      result += index->definition().name + ':';
      for (auto i = index->begin(); i != index->end(); i.next())
        result += ' ' + std::to_string(i.record().value());
    }
    return result;
  }
};

// The same, with generated code.
struct Typed {
  Memory_File file;
  std::unique_ptr<geo_2::Writable_Database> db;

  void open(Recovery recovery) {
    db.reset();
    db = std::make_unique<geo_2::Writable_Database>(file, recovery);
  }
  void close() { db.reset(); }
  bool is_open() const { return db != nullptr; }
  std::string seen() const {
    std::ostringstream out;
    for (const auto id : db->get_city_table())
      out << id.get_id() << ' ' << db->get_name(id) << ' ' << db->get_population(id) << ' '
          << db->get_country(id) << '\n';
    for (const auto id : db->get_person_table())
      out << id.get_id() << ' ' << db->get_name(id) << ' ' << db->get_home(id).get_id() << ' '
          << db->get_age(id) << '\n';
    for (const auto& [key, id] : db->get_index_of_city_by_name()) out << ' ' << id.get_id();
    for (const auto& [key, id] : db->get_index_of_person_by_home()) out << ' ' << id.get_id();
    return out.str();
  }
};

template <class World>
struct Step {
  const char* name;
  std::function<void(World&)> run;
  bool may_change = false;  // after a failure, its changes may be visible until a rollback
};

// ---- failures -----------------------------------------------------------------------------------

template <class World>
class Failing {
 public:
  // `has_room`: the memory of the file is reserved, so that writes do not allocate. Otherwise a
  // write can fail, after which the file accepts no more writes.
  Failing(std::vector<Step<World>> steps, bool has_room)
      : steps_(std::move(steps)), has_room_(has_room) {
    Destructor_Logger::remove_logger();
    World world;
    prepare(world, 0);
    for (const Step<World>& step : steps_) {
      step.run(world);
      seen_.push_back(world.is_open() ? world.seen() : "");
      durable_.push_back(durable(world));
    }
  }

  void run() {
    testing::Watch watch(seconds_for_each_failure);
    for (std::size_t step = 0; step < steps_.size() && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(steps_[step].name);
      bool is_done = false;
      for (std::int64_t k = 0; !is_done && !::testing::Test::HasFailure(); ++k) {
        SCOPED_TRACE("allocation " + std::to_string(k) + " fails");
        watch.begin(std::string("step ") + steps_[step].name + ", allocation " + std::to_string(k) +
                    " fails");
        const auto before = allocations::live().count;
        is_done = fail(step, k);
        EXPECT_EQ(allocations::live().count, before) << "memory is lost";
      }
    }
    std::printf("%d failures: %d steps repeated, %d after a rollback, %d after opening again\n",
                failures_, repeated_, rolled_back_, reopened_);
  }

 private:
  void prepare(World& world, std::size_t step) {
    if (has_room_) world.file.get_data().reserve(std::size_t{1} << 21);
    for (std::size_t i = 0; i < step; ++i) steps_[i].run(world);
  }

  // Returns the content of the file up to its checkpoint. An empty file is an empty database, like
  // a file with only a header.
  static std::string durable(const World& world) {
    if (world.file.get_data().empty()) return testing::content_text(Database());
    return testing::content_of(bytes_of(world.file), Recovery::overwrite).value_or("nothing");
  }

  // Returns true if the step made fewer than k + 1 allocations, so that none failed.
  bool fail(std::size_t number, std::int64_t k) {
    const Step<World>& step = steps_[number];
    World world;
    prepare(world, number);
    const std::string seen = world.is_open() ? world.seen() : "";
    const std::string in_file = durable(world);
    bool has_thrown = false;
    allocations::fail_after(k);
    try {
      step.run(world);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    } catch (const Exception&) {
      has_thrown = true;
    }
    const bool has_failed = allocations::has_failed();
    allocations::fail_after(-1);
    EXPECT_TRUE(has_failed || !has_thrown);
    if (!has_thrown) {  // the failed allocation was optional, or there was none
      EXPECT_EQ(world.is_open() ? world.seen() : "", seen_[number]);
      return !has_failed;
    }
    ++failures_;
    const std::string now_in_file = durable(world);
    EXPECT_TRUE(now_in_file == in_file || now_in_file == durable_[number]);
    EXPECT_TRUE(!world.is_open() || step.may_change || world.seen() == seen);
    continue_run(number, world, now_in_file);
    return false;
  }

  // Repeats the step. If that throws, rolls back; if that throws, too, reopens the file. The file
  // has the same content then.
  void continue_run(std::size_t number, World& world, const std::string& in_file) {
    if constexpr (requires { world.db->must_build(); }) {
      if (world.is_open() && world.db->must_build() && world.db->ahead_of_checkpoint() > 0) {
        EXPECT_THROW(world.db->soft_checkpoint(), Exception);
      }
      EXPECT_EQ(durable(world), in_file);
    }
    try {
      steps_[number].run(world);
      EXPECT_EQ(world.is_open() ? world.seen() : "", seen_[number]);
      ++repeated_;
    } catch (const Exception& error) {
      EXPECT_STRNE(error.what(), "");
      EXPECT_TRUE(steps_[number].may_change || !has_room_) << error.what();
      try {
        world.db->rollback();
        ++rolled_back_;
      } catch (const Exception&) {
        EXPECT_FALSE(has_room_);
        world.close();
        world.open(Recovery::overwrite);
        ++reopened_;
      }
      EXPECT_EQ(durable(world), in_file);
    }
    if (!world.is_open()) return;
    world.db->soft_checkpoint();
    const std::string old = world.seen();
    world.close();
    world.open(Recovery::none);
    EXPECT_EQ(world.seen(), old) << "the file has something else";
  }

  const std::vector<Step<World>> steps_;
  const bool has_room_;
  std::vector<std::string> seen_;     // visible content after each step
  std::vector<std::string> durable_;  // content of the file up to its checkpoint, after each step
  int failures_ = 0, repeated_ = 0, rolled_back_ = 0, reopened_ = 0;
};

// ---- workloads ----------------------------------------------------------------------------------

std::string long_text(int i) { return "a text that does not fit " + std::to_string(i); }

void insert(Writable_Database& db, index_t id, std::string_view text, std::int32_t number) {
  Table& table = *db.get_database().find_table(Untyped::t);
  db.insert(table, Insert{Untyped::t, Record_Id(id)},
            Writable_Database::Value<std::string_view>{
                table.column<std::string_view>(Untyped::text), Untyped::text, text},
            Writable_Database::Value<std::int32_t>{table.column<std::int32_t>(Untyped::number),
                                                   Untyped::number, number},
            Writable_Database::Value<double>{table.column<double>(Untyped::real), Untyped::real,
                                             number / 2.0});
}

std::vector<Step<Untyped>> untyped_steps() {
  using W = Untyped;
  static constexpr Table_Id t = W::t;
  const auto entry = [](const char* name, auto e) {
    return Step<W>{name, [e](W& w) { w.db->write(e); }, is_schema_entry<decltype(e)>};
  };
  const auto command = [](const char* line) { return [line](W& w) { run_text(line, *w.db); }; };
  std::vector<Step<W>> steps = {
      {"open", [](W& w) { w.open(Recovery::none); }},
      entry("create_table", Create_Table{"a_table_with_quite_a_long_name"}),
      entry("add text", Add_Field{t, "text", {Type_Code::string, {}}}),
      entry("add number", Add_Field{t, "number", {Type_Code::int32, {}}}),
      entry("add real", Add_Field{t, "real", {Type_Code::float64, {}}}),
      {"insert", [](W& w) { insert(*w.db, 0, "short", 500); }},
      {"insert more", [](W& w) { insert(*w.db, 1, long_text(1), 1); }},
      {"soft checkpoint", [](W& w) { w.db->soft_checkpoint(); }},
      {"by command", command("insert_into a_table_with_quite_a_long_name 2 \"by a command\" 2 1")},
  };
  for (int i = 3; i < 40; ++i)  // so that columns, trees and arenas grow
    steps.push_back({"insert", [i](W& w) { insert(*w.db, i, long_text(100 - i), 100 - i); }});
  const std::vector<Step<W>> rest = {
      entry("update", Update<std::string_view>{t, Record_Id(3), W::text,
                                               "a longer text than that which was there before"}),
      {"update by command",
       command("update a_table_with_quite_a_long_name 4 text \"another one\"")},
      entry("update key", Update<std::int32_t>{t, Record_Id(3), W::number, -3}),
      entry("insert vector", Insert_Vector{t, Record_Id(40), 1}),
      entry("fill it", Update<std::int32_t>{t, Record_Id(40), W::number, 40}),
      entry("insert far", Insert{t, Record_Id(100)}),
      entry("delete", Delete{t, Record_Id(100)}),
      {"hard checkpoint", [](W& w) { w.db->hard_checkpoint(); }},
      entry("create second table", Create_Table{"u"}),
      entry("add field", Add_Field{Table_Id(2), "x", {Type_Code::string, {}}}),
      entry("add reference", Add_Field{Table_Id(2), "r", {Type_Code::reference, t}}),
      entry("add blob", Add_Field{Table_Id(2), "b", {Type_Code::blob, {}}}),
      entry("insert rows", Insert_Vector{Table_Id(2), Record_Id(0), 20}),
      entry("delete rows", Delete_Vector{Table_Id(2), Record_Id(7), 3}),
      entry("insert in a hole", Insert{Table_Id(2), Record_Id(8)}),
      {"write numbers",
       [](W& w) {
         w.db->write_vector<double>(t, Record_Id(1), W::real, std::vector<double>{1, 2, 3});
       }},
      {"write keys",
       [](W& w) {
         w.db->write_vector<std::int32_t>(t, Record_Id(5), W::number,
                                          std::vector<std::int32_t>{1005, 1006, 1007});
       },
       true},
      {"write texts",
       [](W& w) {
         const std::string texts[] = {long_text(1001), "", long_text(1003)};
         w.db->write_vector<std::string_view>(t, Record_Id(5), W::text,
                                              std::vector<std::string_view>(texts, texts + 3));
       },
       true},
      {"update texts",
       [](W& w) {
         Table& table = *w.db->get_database().find_table(t);
         auto& column = table.column<std::string_view>(W::text);
         w.db->update_vector<std::string_view>(table, column, W::text, Record_Id(10), 5, [&] {
           for (int i = 10; i < 15; ++i) column.set(i, long_text(2000 - i));
         });
       },
       true},
      {"comment", [](W& w) { w.db->write(Comment{std::string(5000, 'x')}); }},
      entry("time stamp", Timestamp{17}),
      {"blob", [](W& w) { w.db->write_blob("bytes"); }},
      {"large blob", [](W& w) { w.db->write_blob(std::string(300'000, 'x')); }},
      {"blob in pieces",
       [](W& w) {
         w.db->write_blob(300'000,
                          [](char* data, std::size_t size) { std::fill(data, data + size, 'y'); });
       }},
      {"commit", [](W& w) { w.db->commit(); }},
      entry("rename table", Rename_Table{Table_Id(2), "a_new_name_which_is_not_short_either"}),
      entry("rename field", Rename_Field{Table_Id(2), Field_Id(1), "a_new_name_of_some_length"}),
      entry("drop field", Drop_Field{Table_Id(2), Field_Id(2)}),
      entry("custom", Custom{"something_that_was_done_by_the_program"}),
      {"checkpoint", [](W& w) { w.db->soft_checkpoint(); }},
      {"another copy",
       [](W& w) {
         w.other.get_data() = w.file.get_data();
         Writable_Database db(w.other);
         insert(db, 200, "from the other", 200);
         insert(db, 201, long_text(201), 201);
         db.soft_checkpoint();
       }},
      {"pull", [](W& w) { w.db->copy_from(w.other, w.other.get_size()); }},
      entry("drop table", Drop_Table{Table_Id(2)}),
      {"insert after it", [](W& w) { insert(*w.db, 300, long_text(300), 300); }},
      {"flush", [](W& w) { w.db->flush(); }},
      {"roll back", [](W& w) { w.db->rollback(); }, true},
      {"insert again", [](W& w) { insert(*w.db, 301, long_text(301), 301); }},
      {"half checkpoint", [](W& w) { w.db->checkpoint(Checkpoint_Level::half); }},
      {"close", [](W& w) { w.close(); }},
      {"open again", [](W& w) { w.open(Recovery::none); }},
      {"client",
       [](W& w) {
         Memory_File copy;
         File_Connection connection(copy);
         w.close();
         Writable_Database_Client client(w.file, connection);
         client.push_if_ahead();
         client.transaction([](const Database&, Writable_Database&) {});
       }},
      {"open after the client", [](W& w) { w.open(Recovery::none); }},
      entry("create third table", Create_Table{"v"}),
      entry("add field", Add_Field{Table_Id(3), "x", {Type_Code::string, {}}}),
      // Enough rows that columns become mapped memory. Few are kept, so that comparing them is
      // fast.
      entry("many rows", Insert_Vector{Table_Id(3), Record_Id(0), 20'000}),
      entry("few rows", Delete_Vector{Table_Id(3), Record_Id(7), 19'990}),
      entry("more rows", Insert_Vector{Table_Id(3), Record_Id(20'000), 20'000}),
      entry("holes", Delete_Vector{Table_Id(3), Record_Id(20'000), 19'999}),
  };
  steps.insert(steps.end(), rest.begin(), rest.end());
  return steps;
}

std::vector<Step<Typed>> typed_steps() {
  using W = Typed;
  using geo_2::id_of_city;
  using geo_2::id_of_person;
  std::vector<Step<W>> steps = {{"open", [](W& w) { w.open(Recovery::none); }}};
  for (int i = 0; i < 40; ++i)
    steps.push_back(
        {"new city", [i](W& w) { w.db->new_city(long_text(i), i % 7, long_text(i % 3)); }});
  const std::vector<Step<W>> rest = {
      {"new person", [](W& w) { w.db->new_person("Ann", id_of_city(7), 7); }},
      {"new person", [](W& w) { w.db->new_person(long_text(0), id_of_city(3), 8); }},
      {"checkpoint", [](W& w) { w.db->soft_checkpoint(); }},
      {"set name", [](W& w) { w.db->set_name(id_of_city(4), "a name that is not there yet"); }},
      {"set home", [](W& w) { w.db->set_home(id_of_person(0), id_of_city(1)); }},
      {"erase", [](W& w) { w.db->delete_city(id_of_city(5)); }},
      {"new vector", [](W& w) { w.db->new_vector_of_person(1); }},
      {"update names",
       [](W& w) {
         w.db->update_vector_of_name(id_of_person(0), 3, [](Span<std::string> names) {
           for (std::size_t i = 0; i < names.size(); ++i)
             names[i] = long_text(3000 + static_cast<int>(i));
         });
       },
       true},
      {"update populations",
       [](W& w) {
         w.db->update_vector_of_population(id_of_city(0), 3, [](Span<std::int64_t> populations) {
           for (std::size_t i = 0; i < populations.size(); ++i) populations[i] = 5;
         });
       },
       true},
      {"hard checkpoint", [](W& w) { w.db->hard_checkpoint(); }},
      {"not to be kept", [](W& w) { w.db->new_city("forgotten again", 1, "nowhere"); }},
      {"roll back", [](W& w) { w.db->rollback(); }, true},
      {"close", [](W& w) { w.close(); }},
      {"open again", [](W& w) { w.open(Recovery::none); }},
      {"clear", [](W& w) { w.db->delete_person(id_of_person(1)); }},
  };
  steps.insert(steps.end(), rest.begin(), rest.end());
  return steps;
}

// ---- tests --------------------------------------------------------------------------------------

TEST(Allocation, AFailureLeavesTablesAndFileAsTheyWere) {
  Failing<Untyped>(untyped_steps(), true).run();
}

TEST(Allocation, AFailingFileInMemoryHasItsCheckpoint) {
  Failing<Untyped>(untyped_steps(), false).run();
}

TEST(Allocation, AFailureInGeneratedCodeLeavesTablesAndFileAsTheyWere) {
  Failing<Typed>(typed_steps(), true).run();
}

TEST(Allocation, AFailingFileInMemoryOfGeneratedCodeHasItsCheckpoint) {
  Failing<Typed>(typed_steps(), false).run();
}

}  // namespace
}  // namespace joedb
