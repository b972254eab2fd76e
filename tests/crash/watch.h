#ifndef CRASH_WATCH_H
#define CRASH_WATCH_H

#include <string>

namespace joedb::testing {

// While it lives: if the program crashes, aborts or takes longer than the time for one case, the
// case is on standard error, as what to type to see it again.
class Watch {
 public:
  explicit Watch(int seconds_for_each_case);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The next case begins.
  void begin(const std::string& replay_command);

 private:
  const int seconds_;
};

}  // namespace joedb::testing

#endif
