#include "check/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace muster::check::engine {

namespace {
std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
}  // namespace

StackPool::~StackPool() {
  for (void* base : all_) munmap(base, stack_bytes + page_bytes());
}

boost::context::stack_context StackPool::take() {
  if (!idle_.empty()) {
    const auto stack = idle_.back();
    idle_.pop_back();
    return stack;
  }
  void* base = mmap(nullptr, stack_bytes + page_bytes(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  mprotect(base, page_bytes(), PROT_NONE);
  all_.push_back(base);
  boost::context::stack_context stack;
  stack.size = stack_bytes;
  stack.sp = static_cast<char*>(base) + page_bytes() + stack_bytes;
  return stack;
}

void StackPool::give(const boost::context::stack_context& stack) {
  idle_.push_back(stack);
}

bool StackPool::guards(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  for (const void* base : all_) {
    const auto* low = static_cast<const char*>(base);
    if (at >= low && at < low + page_bytes()) return true;
  }
  return false;
}

}  // namespace muster::check::engine
