#include "sim/lab/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define JOEDB_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JOEDB_FIBER_ASAN
#endif
#endif
#ifdef JOEDB_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace joedb::testing {

namespace {

#ifdef JOEDB_FIBER_ASAN
constexpr std::size_t stack_size = std::size_t{1} << 20;
#else
constexpr std::size_t stack_size = std::size_t{1} << 18;
#endif
constexpr std::size_t guard_size = std::size_t{1} << 16;

// The stacks of fibers, each above a guard area of 64 KiB. A thread reuses its stacks.
class Stacks {
 public:
  Stacks() = default;
  ~Stacks() {
    for (char* const stack : free_) munmap(stack, guard_size + stack_size);
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  char* take() {
    if (!free_.empty()) {
      char* const stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* const memory = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory, guard_size, PROT_NONE);
    return static_cast<char*>(memory);
  }
  void give_back(char* stack) { free_.push_back(stack); }

 private:
  std::vector<char*> free_;
};

Stacks& stacks() {
  thread_local Stacks result;
  return result;
}

// The exceptions that are being handled. The C++ runtime has one such object for each thread, but
// each fiber needs its own. The layout is defined by the Itanium C++ ABI.
struct Exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

void exchange(Exceptions& own) {
  auto* const current = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  std::swap(*current, own);
}

}  // namespace

struct Fiber::State {
  std::function<void()> function;
  char* stack = nullptr;
  ucontext_t inside = {};
  ucontext_t outside = {};
  Exceptions exceptions;
  bool is_done = false;
#ifdef JOEDB_FIBER_ASAN
  void* fake_stack_inside = nullptr;
  void* fake_stack_outside = nullptr;
  const void* outer_stack = nullptr;
  std::size_t outer_size = 0;
#endif

  void enter() {
    exchange(exceptions);
#ifdef JOEDB_FIBER_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_outside, stack + guard_size, stack_size);
#endif
    swapcontext(&outside, &inside);
#ifdef JOEDB_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_outside, nullptr, nullptr);
#endif
    exchange(exceptions);
  }

  void leave() {
#ifdef JOEDB_FIBER_ASAN
    __sanitizer_start_switch_fiber(is_done ? nullptr : &fake_stack_inside, outer_stack, outer_size);
#endif
    swapcontext(&inside, &outside);
    arrive();
  }

  void arrive() {
#ifdef JOEDB_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_inside, &outer_stack, &outer_size);
#endif
  }

  // makecontext passes only arguments of type int, so the address is split.
  static void start(unsigned high, unsigned low) {
    const auto address = std::uintptr_t{high} << 32 | low;
    State* const state = reinterpret_cast<State*>(address);
    state->arrive();
    state->function();
    state->is_done = true;
    state->leave();
  }
};

Fiber::Fiber(std::function<void()> function) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.function = std::move(function);
  state.stack = stacks().take();
  getcontext(&state.inside);
  state.inside.uc_stack.ss_sp = state.stack + guard_size;
  state.inside.uc_stack.ss_size = stack_size;
  state.inside.uc_link = nullptr;
  const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(&state)};
  makecontext(&state.inside, reinterpret_cast<void (*)()>(&State::start), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
}

Fiber::~Fiber() { stacks().give_back(state_->stack); }

void Fiber::resume() { state_->enter(); }
void Fiber::suspend() { state_->leave(); }
bool Fiber::is_done() const { return state_->is_done; }

}  // namespace joedb::testing
