// The atomic objects and plain data of an execution (muster/check/atomic.hpp), by their addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/clock.hpp"
#include "check/memory.hpp"
#include "check/weak_memory.hpp"
#include "check/where.hpp"
#include "muster/check/atomic.hpp"

namespace muster::check::engine {

// A use of an atomic object, for who asks about scopes and about the end of the object.
struct ObjectUse {
  MemoryAccess by;
  Stamp stamp;
  bool writes = false;
  Where where;
};

// What is told of a write, by its number.
struct WriteNote {
  const char* operation = "";
  Where where;
  Clock cause;           // program order and every reads-from edge up to it
  std::size_t step = 0;  // of the trace, if one is kept
};

struct Object {
  std::uint32_t number = 0;    // among its kind
  bool is_atomic = false;      // else plain data
  std::uint32_t location = 0;  // of the weak memory; atomic objects have one
  Where where;                 // its first use
  Stamp made;                  // by whom; epoch 0: before the check began
  std::uint32_t toucher = 0;   // for Groups
  std::vector<ObjectUse> uses;
  std::vector<WriteNote> writes;
  std::vector<std::byte> first;  // what it was worth where it was read for that
  std::vector<std::byte> value;  // plain data
};

// Of one execution at a time. An object is made at its first use, or where its constructor runs;
// one that begins where another one was is a new one.
class Objects {
 public:
  void clear();
  // The object's index; `known` says whether it was there before.
  std::uint32_t find(const detail::Object& object, Where where, bool& known);
  void made(const detail::Object& object, Stamp by);
  void gone(const void* address) { made_.erase(address), at_.erase(address); }

  [[nodiscard]] Object& operator[](std::uint32_t index) { return all_[index]; }
  [[nodiscard]] const Object& operator[](std::uint32_t index) const { return all_[index]; }
  [[nodiscard]] const Object* at(const void* address) const {
    const auto found = at_.find(address);
    return found == at_.end() ? nullptr : &all_[found->second];
  }
  // Makes it an atomic object, or plain data, where it is new: its number counts those.
  void number(Object& object, bool is_atomic) {
    object.is_atomic = is_atomic;
    object.number = (is_atomic ? atomics_ : vars_)++;
  }
  // "atomic 1 of ticket_lock.hpp:12": where it is used first.
  [[nodiscard]] std::string name_of(const Object& object) const;
  // Of all objects, by index: for plain data.
  [[nodiscard]] std::vector<Shadow>& shadows() { return shadows_; }

 private:
  std::vector<Object> all_;
  std::vector<Shadow> shadows_;
  std::unordered_map<const void*, std::uint32_t> at_;
  std::unordered_map<const void*, Stamp> made_;  // and not used yet
  std::uint32_t atomics_ = 0;
  std::uint32_t vars_ = 0;
};

}  // namespace muster::check::engine
