#include "joedb/base/threads.h"

#include <pthread.h>

#include <utility>
#include <vector>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

constinit std::atomic<unsigned> Process_Mark::forks = 0;

// Runs in each child, before fork() returns there.
[[maybe_unused]] const int Process_Mark::is_counting =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

void Process_Mark::refuse(std::string_view name) { throw Inherited_Object(name); }

// Allocated and never destroyed: a static object would be destroyed at exit. No mutex: a child of
// fork() has one thread.
void keep_until_exit(std::shared_ptr<void> object) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  kept->push_back(std::move(object));
}

}  // namespace joedb::inline v1
