// The small parts that the large figures are made of.

#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/writable.h"
#include "joedb/format/codec.h"
#include "joedb/format/entry.h"

namespace {

constexpr std::int64_t batch = 10'000;

// Numbers that need `size` bytes.
std::vector<std::uint64_t> numbers(std::size_t size) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> result;
  for (std::int64_t i = 0; i < batch; ++i)
    result.push_back((random() % 30 + 1) << (8 * (size - 1)));
  return result;
}

void count_items(benchmark::State& state, std::int64_t bytes_per_item = 0) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * batch);
  if (bytes_per_item > 0)
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * batch * bytes_per_item);
}

// ---- format -------------------------------------------------------------------------------------

void write_compact(benchmark::State& state) {
  const auto values = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<char> out(values.size() * joedb::max_compact_size);
  for (auto _ : state) {
    char* end = out.data();
    for (const std::uint64_t value : values) end = joedb::write_compact(end, value);
    benchmark::DoNotOptimize(end);
    benchmark::ClobberMemory();
  }
  count_items(state);
}
BENCHMARK(write_compact)->Arg(1)->Arg(2)->Arg(4);

void take_compact(benchmark::State& state) {
  std::string bytes(batch * joedb::max_compact_size, '\0');
  char* end = bytes.data();
  for (const std::uint64_t value : numbers(static_cast<std::size_t>(state.range(0))))
    end = joedb::write_compact(end, value);
  bytes.resize(static_cast<std::size_t>(end - bytes.data()));
  for (auto _ : state) {
    joedb::Memory_Decoder_Input input(bytes);
    std::uint64_t sum = 0;
    while (input.remaining() > 0) sum += input.take_compact();
    benchmark::DoNotOptimize(sum);
  }
  count_items(state);
}
BENCHMARK(take_compact)->Arg(1)->Arg(2)->Arg(4);

// The three entries of a new row with a string and an integer: 18 bytes.
char* encode_row(char* out, joedb::Context& context, std::int64_t i) {
  using namespace joedb;
  const Table_Id table(1);
  const Record_Id record(i);
  out = encode(out, context, Insert{table, record});
  out = encode(out, context, Update<std::string_view>{table, record, Field_Id(1), "TOTO"});
  return encode(out, context, Update<std::int64_t>{table, record, Field_Id(2), i});
}

void encode_rows(benchmark::State& state) {
  std::vector<char> out(batch * 64);
  for (auto _ : state) {
    joedb::Context context;
    char* end = out.data();
    for (std::int64_t i = 0; i < batch; ++i) end = encode_row(end, context, i);
    benchmark::DoNotOptimize(end);
    benchmark::ClobberMemory();
  }
  count_items(state, 18);
}
BENCHMARK(encode_rows);

void decode_rows(benchmark::State& state) {
  std::string bytes(batch * 64, '\0');
  joedb::Context encoding;
  char* end = bytes.data();
  for (std::int64_t i = 0; i < batch; ++i) end = encode_row(end, encoding, i);
  bytes.resize(static_cast<std::size_t>(end - bytes.data()));

  struct Sum : joedb::Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const joedb::Update<std::int64_t>& update) { sum += update.value; }
    std::int64_t sum = 0;
  };
  for (auto _ : state) {
    joedb::Memory_Decoder_Input input(bytes);
    joedb::Context context;
    Sum sum;
    while (input.remaining() > 0) joedb::decode_entry(input, context, sum);
    benchmark::DoNotOptimize(sum.sum);
  }
  count_items(state, 18);
}
BENCHMARK(decode_rows);

// ---- a database in memory -----------------------------------------------------------------------

// Every round begins with a new database of `batch` rows; only `work` is measured.
template <class Work>
void measure_with_rows(benchmark::State& state, Work work) {
  for (auto _ : state) {
    state.PauseTiming();
    auto db = std::make_unique<bench::Memory_Database>();
    const auto first = db->new_vector_of_benchmark(batch);
    state.ResumeTiming();
    work(*db, first);
    state.PauseTiming();
    db->soft_checkpoint();
    db.reset();
    state.ResumeTiming();
  }
  count_items(state);
}

void new_rows(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto) {
    for (std::int64_t i = 0; i < batch; ++i) db.new_benchmark("TOTO", i);
  });
}
BENCHMARK(new_rows);

void set_integers(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto first) {
    for (std::size_t i = 0; i < batch; ++i) db.set_value(first[i], 1);
  });
}
BENCHMARK(set_integers);

void set_short_strings(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto first) {
    for (std::size_t i = 0; i < batch; ++i) db.set_name(first[i], "TOTO");
  });
}
BENCHMARK(set_short_strings);

void set_long_strings(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto first) {
    for (std::size_t i = 0; i < batch; ++i) db.set_name(first[i], "a string of 24 letters..");
  });
}
BENCHMARK(set_long_strings);

void update_vector_of_integers(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto first) {
    db.update_vector_of_value(first, batch, [](joedb::Span<std::int64_t> values) {
      for (std::int64_t& value : values) value = 1;
    });
  });
}
BENCHMARK(update_vector_of_integers);

void update_vector_of_strings(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto first) {
    db.update_vector_of_name(first, batch, [](joedb::Span<std::string> names) {
      for (std::size_t i = 0; i < batch; ++i) names[i] = "TOTO";
    });
  });
}
BENCHMARK(update_vector_of_strings);

// The same with an observer. It is called at the checkpoint, which is not measured; saving the old
// values is.
void observe(benchmark::State& state, void (*work)(bench::Memory_Database&, bench::id_of_benchmark),
             bool has_checkpoint) {
  std::int64_t sum = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto db = std::make_unique<bench::Memory_Database>();
    const auto first = db->new_vector_of_benchmark(batch);
    db->soft_checkpoint();
    const auto insertions =
        db->on_benchmark_inserted([&](auto, const auto& row) { sum += row.value; });
    const auto updates =
        db->on_benchmark_updated([&](auto, auto&, const auto& row) { sum += row.value; });
    state.ResumeTiming();
    work(*db, first);
    if (has_checkpoint) db->soft_checkpoint();
    state.PauseTiming();
    db->soft_checkpoint();
    db.reset();
    state.ResumeTiming();
  }
  benchmark::DoNotOptimize(sum);
  count_items(state);
}

void observed_new_rows(benchmark::State& state) {
  observe(
      state,
      [](auto& db, auto) {
        for (std::int64_t i = 0; i < batch; ++i) db.new_benchmark("TOTO", i);
      },
      state.range(0) != 0);
}
BENCHMARK(observed_new_rows)->Arg(0)->Arg(1);

void observed_set_integers(benchmark::State& state) {
  observe(
      state,
      [](auto& db, auto first) {
        for (std::size_t i = 0; i < batch; ++i) db.set_value(first[i], 1);
      },
      state.range(0) != 0);
}
BENCHMARK(observed_set_integers)->Arg(0)->Arg(1);

void get_integers(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto) {
    std::int64_t sum = 0;
    for (const auto row : db.get_benchmark_table()) sum += db.get_value(row);
    benchmark::DoNotOptimize(sum);
  });
}
BENCHMARK(get_integers);

void get_strings(benchmark::State& state) {
  measure_with_rows(state, [](auto& db, auto) {
    std::size_t sum = 0;
    for (const auto row : db.get_benchmark_table()) sum += db.get_name(row).size();
    benchmark::DoNotOptimize(sum);
  });
}
BENCHMARK(get_strings);

}  // namespace

BENCHMARK_MAIN();
