#include "joedb/journal/readonly_journal.h"

#include <gtest/gtest.h>

#include <limits>

// The checkpoint chosen from a header, for all kinds of damage to a header.

namespace joedb {

static std::ostream& operator<<(std::ostream& out, const Checkpoints& c) {
  return out << "checkpoint " << c.checkpoint << ", hard " << c.hard_checkpoint << " in slot "
             << c.hard_index << ", soft in copy " << c.soft_index;
}

namespace {

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr auto any_size = std::nullopt;

struct Case {
  const char* when;
  Checkpoint_Words words;  // slot 0, slot 1
  std::optional<Offset> file_size;
  Offset checkpoint;
  Offset hard_checkpoint;
  int hard_index;
  int soft_index;
};

void expect_read(const Case& c, Checkpoints before = {}) {
  Checkpoints after = before;
  after.read(c.words, c.file_size);
  const Checkpoints expected{.hard_index = c.hard_index,
                             .soft_index = c.soft_index,
                             .checkpoint = c.checkpoint,
                             .hard_checkpoint = c.hard_checkpoint};
  EXPECT_EQ(after, expected) << c.when;
}

// clang-format off
TEST(Checkpoints, AreReadFromAnyHeader) {
  const Case cases[] = {
      // when                                    slot 0          slot 1         file size   checkpoint hard slot copy
      {"a new file: on a tie the later slot",    { 41,   41,     41,   41},            {41},   41,   41,     1,  0},
      {"soft",                                   { 41,   41,     41,  -44},            {44},   44,   41,     0,  1},
      {"soft, soft",                             { 41,   41,    -47,  -44},            {47},   47,   41,     0,  0},
      {"soft, soft, soft",                       { 41,   41,    -47,  -50},            {50},   50,   41,     0,  1},
      {"hard",                                   { 41,   41,     44,   44},            {44},   44,   44,     1,  0},
      {"hard, hard",                             { 47,   47,     44,   44},            {47},   47,   47,     0,  0},
      {"hard, soft",                             { 41,  -47,     44,   44},            {47},   47,   44,     1,  1},
      {"hard, soft, soft",                       {-50,  -47,     44,   44},            {50},   50,   44,     1,  0},
      {"hard, soft, hard",                       { 50,   50,     44,   44},            {50},   50,   50,     0,  0},
      {"two soft words, the larger first",       { 41,   41,    -50,  -47},            {50},   50,   41,     0,  0},
      {"two equal soft words: the later",        { 41,   41,    -50,  -50},            {50},   50,   41,     0,  1},
      {"soft at the hard one",                   { 41,  -44,     44,   44},            {44},   44,   44,     1,  1},
      {"an old soft one beside the hard one",    { 60,   60,    -44,  -47},            {60},   60,   60,     0,  1},

      {"hard, first copy only",                  { 41,   41,     77,   41},            {77},   41,   41,     0,  0},
      {"hard, second copy only",                 { 41,   41,     41,   77},            {77},   41,   41,     0,  0},
      {"hard, first copy over the soft one",     { 41,   41,     77,  -60},            {77},   60,   41,     0,  1},
      {"hard, second copy beside the soft one",  { 41,   41,    -60,   77},            {77},   60,   41,     0,  0},
      {"hard, half over an older hard one",      { 77,   50,     60,   60},            {77},   60,   60,     1,  0},
      {"two whole slots: the larger",            { 77,   77,     89,   89},            {89},   89,   89,     1,  0},
      {"two whole slots: the larger, first",     { 89,   89,     77,   77},            {89},   89,   89,     0,  0},
      {"two whole slots, equal",                 { 89,   89,     89,   89},            {89},   89,   89,     1,  0},

      {"soft beyond the end",                    { 41,   41,     41,  -99},            {77},   41,   41,     0,  0},
      {"soft beyond the end, the other good",    { 41,   41,    -70,  -99},            {77},   70,   41,     0,  0},
      {"soft beyond the end, the other first",   { 41,   41,    -99,  -70},            {77},   70,   41,     0,  1},
      {"soft beyond the end, hard good",         {-99,  -98,     77,   77},            {77},   77,   77,     1,  0},
      {"soft at the end",                        { 41,   41,     41,  -77},            {77},   77,   41,     0,  1},
      {"soft one byte beyond the end",           { 41,   41,     41,  -78},            {77},   41,   41,     0,  0},
      {"of unknown size: every soft word",       { 41,   41,    -70,  -99},        any_size,   99,   41,     0,  1},
      {"hard beyond the end",                    { 41,   41,     99,   99},            {77},   41,   41,     0,  0},
      {"hard beyond the end, the other good",    { 77,   77,     99,   99},            {77},   77,   77,     0,  0},

      {"all zero",                               {  0,    0,      0,    0},            {77},   41,   41,     0,  0},
      {"below the header",                       { 40,   40,     12,   12},            {77},   41,   41,     0,  0},
      {"soft below the header",                  {-40,  -40,     -1,  -12},            {77},   41,   41,     0,  0},
      {"soft at the header",                     { 41,   41,    -41,   41},            {77},   41,   41,     0,  0},
      {"a whole slot below, one above",          { 40,   40,     77,   77},            {77},   77,   77,     1,  0},
      {"soft in both slots: the larger",         {-60,   41,    -70,   41},            {77},   70,   41,     0,  0},
      {"soft in both slots: the larger, first",  {-70,   41,    -60,   41},            {77},   70,   41,     1,  0},
      {"soft in both slots, equal: the later",   {-70,   41,     41,  -70},            {77},   70,   41,     0,  1},
      {"garbage of both signs",          {largest, -largest, smallest, 12345},         {77},   41,   41,     0,  0},
      {"the most negative word",         {smallest, smallest, smallest, smallest}, any_size,   41,   41,     0,  0},
      {"the largest soft word",                  { 41,   41,     41, -largest},    any_size, largest, 41,    0,  1},
      {"the largest hard one",           {largest, largest,      41,   41},        any_size, largest, largest, 0, 0},
      {"size 0",                                 { 41,   41,     41,  -44},             {0},   41,   41,     0,  0},
  };
  for (const Case& c : cases) expect_read(c);
}

// If a process knows newer checkpoints than the header, it keeps them when it reads the header
// again.
TEST(Checkpoints, NeverGoBack) {
  const Checkpoints hard_80{0, 1, 80, 80};
  const Checkpoints soft_90{0, 1, 90, 80};
  const struct { Case c; Checkpoints before; } cases[] = {
      // when                                    slot 0          slot 1    size checkpoint hard slot copy
      {{"the same hard one",                     { 80,   80,     41,   41},  {99},   80,   80,     0,  1}, hard_80},
      {{"an older hard one only",                { 41,   41,     60,   60},  {99},   80,   80,     0,  1}, hard_80},
      {{"a newer hard one in the other slot",    { 80,   80,     95,   95},  {99},   95,   95,     1,  1}, hard_80},
      {{"a newer soft one",                      { 80,   80,    -95,   41},  {99},   95,   80,     0,  0}, hard_80},
      {{"an older soft one",                     { 80,   80,    -70,   41},  {99},   80,   80,     0,  1}, hard_80},
      {{"the same soft one",                     { 80,   80,     41,  -90},  {99},   90,   80,     0,  1}, soft_90},
      {{"an older soft one than ours",           { 80,   80,    -85,  -70},  {99},   90,   80,     0,  1}, soft_90},
      {{"hard where ours is soft",               { 80,   80,     90,   90},  {99},   90,   90,     1,  1}, soft_90},
      {{"a newer hard one, below the soft one",  { 80,   80,     85,   85},  {99},   90,   85,     1,  1}, soft_90},
      {{"nothing",                               {  0,    0,      0,    0},  {99},   90,   80,     0,  1}, soft_90},
      {{"the file is shorter than ours",         { 80,   80,     41,  -90},  {85},   90,   80,     0,  1}, soft_90},
  };
  for (const auto& [c, before] : cases) expect_read(c, before);
}
// clang-format on

TEST(Checkpoints, AreNextWrittenToTheSlotWithoutTheHardOne) {
  EXPECT_EQ(Checkpoints{.hard_index = 0}.next_slot(), 1);
  EXPECT_EQ(Checkpoints{.hard_index = 1}.next_slot(), 0);
}

// For any words, the largest valid checkpoint is chosen, and never a checkpoint past the end.
TEST(Checkpoints, AreTheLargestThatCount) {
  const std::int64_t values[] = {0,   40,  41,  60,  77,  99,       largest,
                                 -40, -41, -60, -77, -99, smallest, -largest};
  const Offset size = 77;
  for (const auto a : values)
    for (const auto b : values)
      for (const auto c : values)
        for (const auto d : values) {
          Offset hard = journal_start;
          if (a == b && a > hard && a <= size) hard = a;
          if (c == d && c > hard && c <= size) hard = c;
          Offset expected = hard;
          for (const auto word : {a, b, c, d})
            if (word < 0 && word >= -size) expected = std::max(expected, -word);
          Checkpoints checkpoints;
          checkpoints.read({a, b, c, d}, size);
          ASSERT_EQ(checkpoints.checkpoint, expected) << a << ' ' << b << ' ' << c << ' ' << d;
          ASSERT_EQ(checkpoints.hard_checkpoint, hard) << a << ' ' << b << ' ' << c << ' ' << d;
        }
}

}  // namespace
}  // namespace joedb
