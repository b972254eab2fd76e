#ifndef BENCHMARKS_COMMAND_LINE_H
#define BENCHMARKS_COMMAND_LINE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

// One thing to measure: makes, or reads, the database FILE with `rows` rows.
struct Case {
  const char* name;
  void (*run)(std::int64_t rows, const char* file);
};

// PROGRAM CASE ROWS FILE: runs one case. Who starts the program measures it.
inline int run_case(std::span<const Case> cases, int argc, char** argv) {
  try {
    for (const Case& candidate : cases) {
      if (argc == 4 && std::strcmp(argv[1], candidate.name) == 0) {
        candidate.run(std::atoll(argv[2]), argv[3]);
        return 0;
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: %s CASE ROWS FILE; cases:\n", argv[0]);
  for (const Case& candidate : cases) std::fprintf(stderr, "  %s\n", candidate.name);
  return 2;
}

// A row of a store that has keys and values: its key is its number.
struct [[gnu::packed]] Row_Value {
  char name[4] = {'T', 'O', 'T', 'O'};
  std::int64_t number = 0;
};

// Another number for each number, in no order.
inline std::uint64_t mix(std::int64_t number) {
  auto z = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15;  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return (z ^ (z >> 27)) * 0x94d049bb133111eb;
}

// Texts that are all different and in no order: the same 16 characters for the same number.
inline std::string text_of(std::int64_t number) {
  std::uint64_t z = mix(number);
  std::string text(16, 0);
  for (char& c : text) {
    c = "0123456789abcdef"[z & 15];
    z >>= 4;
  }
  return text;
}

// Goes through 1 … rows, each once, in jumps. Requires that 7919 does not divide rows.
inline std::int64_t jump(std::int64_t i, std::int64_t rows) { return i * 7919 % rows + 1; }

// A row in no order, to be changed: some come twice, others never.
inline std::int64_t random_row(std::int64_t i, std::int64_t rows) {
  return static_cast<std::int64_t>(mix(i) % static_cast<std::uint64_t>(rows)) + 1;
}

// Runs half of the rows in each of two processes. The first one makes the file.
inline void in_two_processes(void (*run)(std::int64_t, const char*), std::int64_t rows,
                             const char* file) {
  run(0, file);
  for (int i = 0; i < 2; ++i)
    if (fork() == 0) {
      run(rows / 2, file);
      std::_Exit(0);
    }
  for (int status; wait(&status) > 0;)
    if (status != 0) throw std::runtime_error("a process failed");
}

// The rows are numbered from 1: a case that reads them must come to this sum.
inline void require_sum(std::int64_t rows, std::int64_t sum) {
  if (sum == rows * (rows + 1) / 2) return;
  std::fprintf(stderr, "wrong sum: %lld\n", static_cast<long long>(sum));
  std::exit(1);
}

#endif
