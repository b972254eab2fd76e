// Generated code with logical types, beside the types that they are stored as.
//
//     types_benchmark --benchmark_enable_random_interleaving=true --benchmark_repetitions=20
//
// Getters compile to the same instructions. Setters differ for dates, whose number has 64 bits in
// std::chrono and 32 in the column: it must fit.

#include <benchmark/benchmark.h>

#include <chrono>
#include <limits>
#include <vector>

#include "types.h"

namespace {

using namespace types;
constexpr std::int64_t batch = 10'000;

std::chrono::sys_days to_day(std::int64_t i) {
  return std::chrono::sys_days(std::chrono::days(static_cast<int>(i)));
}

void count_items(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * batch);
}

// One table with a field `value`: how to use it, and which value has the number i.
#define TABLE(TYPE, TABLE, VALUE)                                                              \
  struct TYPE {                                                                                \
    using Id = id_of_##TABLE;                                                                  \
    static Id insert(Writable_Database& db, [[maybe_unused]] std::int64_t i) {                 \
      return db.new_##TABLE(VALUE);                                                            \
    }                                                                                          \
    static void set(Writable_Database& db, Id id, std::int64_t i) { db.set_value(id, VALUE); } \
  }
TABLE(Int32, day_number, static_cast<std::int32_t>(i));
TABLE(Date, day, to_day(i));
TABLE(Int64, cents, i);
TABLE(Decimal, price, joedb::Decimal<2>::from_units(i));
TABLE(Int8, place, static_cast<std::int8_t>(i & 1));
TABLE(Enum, state, (i & 1) != 0 ? State_Value::paid : State_Value::open);
TABLE(Optional_Int32, count, static_cast<std::int32_t>(i));
TABLE(Optional_Date, birthday, to_day(i));
#undef TABLE

// The number of a value.
std::int64_t number(std::int64_t value) { return value; }
std::int64_t number(std::chrono::sys_days day) { return day.time_since_epoch().count(); }
std::int64_t number(joedb::Decimal<2> price) { return price.units(); }
std::int64_t number(State_Value state) { return static_cast<std::int64_t>(state); }

// What a program without logical types does for a value that may be missing.
struct Compared_Int32 : Int32 {};
template <class Type>
std::int64_t read(const Writable_Database& db, typename Type::Id id) {
  const auto value = db.get_value(id);
  if constexpr (std::is_same_v<Type, Compared_Int32>)
    return value != std::numeric_limits<std::int32_t>::min() ? value : 0;
  else if constexpr (requires { value.has_value(); })
    return value ? number(*value) : 0;
  else
    return number(value);
}

template <class Type>
struct Filled {
  Memory_Database db;
  std::vector<typename Type::Id> ids;
  Filled() {
    for (std::int64_t i = 0; i < batch; ++i) ids.push_back(Type::insert(db, i));
  }
};

template <class Type>
void get(benchmark::State& state) {
  const Filled<Type> filled;
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (const auto id : filled.ids) {
      sum += read<Type>(filled.db, id);
      benchmark::DoNotOptimize(sum);
    }
  }
  count_items(state);
}

template <class Type>
void set(benchmark::State& state) {
  Filled<Type> filled;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < batch; ++i)
      Type::set(filled.db, filled.ids[static_cast<std::size_t>(i)], i);
    state.PauseTiming();
    filled.db.rollback();
    for (std::int64_t i = 0; i < batch; ++i) Type::insert(filled.db, i);
    state.ResumeTiming();
  }
  count_items(state);
}

template <class Type>
void insert(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    {
      Memory_Database db;
      state.ResumeTiming();
      for (std::int64_t i = 0; i < batch; ++i) Type::insert(db, i);
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
  count_items(state);
}

#define PAIR(FUNCTION, STORED, LOGICAL) \
  BENCHMARK_TEMPLATE(FUNCTION, STORED); \
  BENCHMARK_TEMPLATE(FUNCTION, LOGICAL)
#define PAIRS(FUNCTION)                           \
  PAIR(FUNCTION, Int32, Date);                    \
  PAIR(FUNCTION, Int64, Decimal);                 \
  PAIR(FUNCTION, Int8, Enum);                     \
  PAIR(FUNCTION, Compared_Int32, Optional_Int32); \
  BENCHMARK_TEMPLATE(FUNCTION, Optional_Date)
PAIRS(get);
PAIRS(set);
PAIRS(insert);

}  // namespace

BENCHMARK_MAIN();
