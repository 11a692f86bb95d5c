// Stacks for fibers: of one size, with a guard page below, used again and again.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <vector>

namespace muster::check::engine {

class StackPool {
 public:
  static constexpr std::size_t stack_bytes = 256 * 1024;

  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  [[nodiscard]] boost::context::stack_context take();
  void give(const boost::context::stack_context& stack);

  // Is this address in the guard page of one of the stacks?
  [[nodiscard]] bool guards(const void* address) const;

  // The allocator that boost::context::fiber wants: a reference to the pool.
  struct Allocator {
    StackPool* pool;
    boost::context::stack_context allocate() { return pool->take(); }
    void deallocate(boost::context::stack_context& stack) { pool->give(stack); }
  };

 private:
  std::vector<void*> all_;  // the lowest byte of each: its guard page
  std::vector<boost::context::stack_context> idle_;
};

}  // namespace muster::check::engine
