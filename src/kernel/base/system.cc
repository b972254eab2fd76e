#include "joedb/base/threads.h"

#include <random>
#include <thread>

namespace joedb::inline v1 {

System& System::real() {
  static System* const system = new System;  // never destroyed: threads may outlive static objects
  return *system;
}

System::Time System::now() { return std::chrono::steady_clock::now(); }

void System::sleep(Duration duration) { std::this_thread::sleep_for(duration); }

void System::wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                        Time end) {
  condition.wait_until(lock, end);
}

std::uint64_t System::random() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace joedb::inline v1
