#include "kernel/base/interrupts.h"

#include <chrono>
#include <utility>

namespace joedb::inline v1 {

using Clock = std::chrono::steady_clock;

static thread_local constinit Interruptible* current = nullptr;
static thread_local constinit Clock::time_point next_look{};

static void set_next_look() { next_look = Clock::now() + std::chrono::milliseconds(50); }

Interruptible::Interruptible(const std::function<void()>& look)
    : look_(look), outer_(std::exchange(current, this)) {
  if (outer_ == nullptr) set_next_look();
}

Interruptible::~Interruptible() { current = outer_; }

void Interruptible::call_look() {
  rethrow();
  if (Clock::now() < next_look) return;
  set_next_look();
  try {
    look_();
  } catch (...) {
    interrupt_ = std::current_exception();
    throw;
  }
}

void look_for_interrupt() {
  if (current != nullptr) current->call_look();
}

}  // namespace joedb::inline v1
