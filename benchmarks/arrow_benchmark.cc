// Arrow streams, each step timed inside of the process: ARROW_BENCHMARK [ROWS] prints milliseconds.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "joedb/arrow/arrow.h"
#include "joedb/io/memory_file.h"

static double milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

static void measure(const std::string& what, const std::function<void()>& f) {
  const double start = milliseconds();
  f();
  std::printf("%12.4f ms  %s\n", milliseconds() - start, what.c_str());
}

// Reads it to its end. The number of batches.
static int consume(ArrowArrayStream& stream) {
  int batches = 0;
  while (true) {
    ArrowArray item{};
    if (stream.get_next(&stream, &item) != 0) throw joedb::Exception("the stream fails");
    if (item.release == nullptr) break;
    item.release(&item);
    ++batches;
  }
  stream.release(&stream);
  return batches;
}

static const joedb::Table_Id words(1);
static const joedb::Field_Id number(1), text(2);

static void make_table(joedb::Writable_Database& db) {
  db.write(joedb::Create_Table{"t"});
  db.write(joedb::Add_Field{words, "number", {joedb::Type_Code::int64, {}}});
  db.write(joedb::Add_Field{words, "text", {joedb::Type_Code::string, {}}});
}

int main(int argc, char** argv) {
  const joedb::index_t rows = argc > 1 ? std::atoll(argv[1]) : 10000000;
  joedb::Memory_File file;
  joedb::Writable_Database db(file);
  joedb::Arrow_Pins pins(db.get_database());
  make_table(db);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(rows));
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::int64_t>(i);
    strings.push_back("the word number " + std::to_string(i));
  }
  const std::vector<std::string_view> texts(strings.begin(), strings.end());
  db.write(joedb::Insert_Vector{words, joedb::Record_Id(0), rows});
  db.write_vector<std::int64_t>(words, joedb::Record_Id(0), number, numbers);
  db.write_vector<std::string_view>(words, joedb::Record_Id(0), text, texts);

  const auto stream = [&](joedb::Arrow_Options options) {
    ArrowArrayStream result{};
    joedb::export_table(pins, words, options, &result);
    return result;
  };
  const auto export_all = [&](const std::string& what, const joedb::Arrow_Options& options) {
    measure("export: " + what, [&] {
      ArrowArrayStream s = stream(options);
      consume(s);
    });
  };
  const joedb::Arrow_Options as_numbers{.fields = {{number}}};
  export_all("int64", as_numbers);
  export_all("int64, again", as_numbers);
  for (const char* const again : {"", ", again"}) {
    export_all(std::string("texts as views") + again,
               {.fields = {{text}}, .text = joedb::Arrow_Text::utf8_view});
    export_all(std::string("texts, copied") + again, {.fields = {{text}}});
  }

  const auto import_all = [&](const std::string& what, const joedb::Arrow_Options& options) {
    joedb::Memory_File target;
    joedb::Writable_Database to(target);
    make_table(to);
    ArrowArrayStream s = stream(options);
    measure("import: " + what, [&] { joedb::import_stream(to, words, &s); });
    to.soft_checkpoint();
  };
  import_all("int64", as_numbers);
  import_all("int64 and texts", {});
  import_all("int64 and texts, again", {});  // in memory that the machine has given before
  import_all("int64 and texts as views", {.text = joedb::Arrow_Text::utf8_view});
  {
    joedb::Memory_File target;
    joedb::Writable_Database to(target);
    make_table(to);
    measure("the same by write_vector", [&] {
      to.write(joedb::Insert_Vector{words, joedb::Record_Id(0), rows});
      to.write_vector<std::int64_t>(words, joedb::Record_Id(0), number, numbers);
      to.write_vector<std::string_view>(words, joedb::Record_Id(0), text, texts);
    });
    to.soft_checkpoint();
  }

  ArrowArrayStream late = stream(as_numbers);
  measure("before_change with a live array of int64", [&] { pins.before_change(words); });
  late.release(&late);
  measure("before_change without", [&] { pins.before_change(words); });

  // One record in 2, 64, 512, … is deleted: runs of other lengths, copied or not.
  for (const joedb::index_t length : {8192, 2048, 512, 64, 2}) {
    for (joedb::index_t id = length - 1; id < rows; id += length)
      if (db.get_database().table(words).is_used(joedb::Record_Id(id)))
        db.write(joedb::Delete{words, joedb::Record_Id(id)});
    const std::string what = "int64, runs of " + std::to_string(length - 1);
    joedb::Arrow_Options copied = as_numbers;
    copied.min_run = rows;
    export_all(what + ", copied", copied);
    copied.min_run = 1;
    if (length > 2) export_all(what + ", not copied", copied);
  }
  db.soft_checkpoint();
}
