// Linked into all test programs: their local time is UTC, wherever they run.

#include <cstdlib>
#include <ctime>

namespace {

struct Utc {
  Utc() {
    setenv("TZ", "UTC0", 1);
    tzset();
  }
} utc;

}  // namespace
