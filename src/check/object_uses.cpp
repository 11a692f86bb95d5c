// What is asked of every use of an atomic object or of plain data, where these begin and end, and
// the face of muster/check/atomic.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "check/execution.hpp"
#include "check/mutant.hpp"
#include "check/sites.hpp"

namespace muster::check::engine {

// The object that an operation is about; nothing where it may not be used here.
std::optional<std::uint32_t> Execution::find_object(Thread& self, const detail::Object& of,
                                                    bool is_atomic) {
  if (!contract(self, options_.profile != Profile::rdma,
                "atomic objects and plain data that threads share need the profile direct: load "
                "and store do not reach peers (say .weakest = Profile::direct)",
                self.where))
    return std::nullopt;
  bool known = false;
  const std::uint32_t index = objects_.find(of, self.where, known);
  Object& object = objects_[index];
  if (!known) {
    objects_.number(object, is_atomic);
    if (is_atomic) {
      Word initial = 0;
      std::memcpy(&initial, object.first.data(), object.first.size());
      object.location = weak_.make(initial, object.made);
      object.writes.emplace_back().operation = "initial value";
      object.writes.back().cause.raise(object.made);
    } else {
      object.value = object.first;
    }
  }
  const bool same =
      std::equal(object.first.begin(), object.first.end(), static_cast<const std::byte*>(of.value));
  if (!contract(self, object.is_atomic == is_atomic && object.first.size() == of.bytes && same,
                objects_.name_of(object) + " is also used otherwise than as that", self.where))
    return std::nullopt;
  if (!self.is_setup) {
    if (launches_.count(self.rank) > 1) groups_.merge_all();
    groups_.touch(object.toucher, self.id);
  }
  if (object.made.epoch > 0 && !self.hb.has(object.made))
    found(self, Kind::race,
          fmt::format("{} uses {} ({}), unordered with its construction by {}",
                      name_of_thread(self), objects_.name_of(object), short_place(self.where),
                      name_of_thread(threads_[object.made.component])),
          "whoever uses it must have heard from its maker", objects_.name_of(object));
  return index;
}

// Two uses that nothing orders, one of them a write, must be inside of each other's scope.
void Execution::check_object_scope(Thread& self, Object& object, ObjectUse use) {
  for (const ObjectUse& other : object.uses) {
    if (self.hb.has(other.stamp) || !(use.writes || other.writes) ||
        weak_.morally_strong(use.by, other.by) || mutant("atomic-scope-unseen"))
      continue;
    found(self, Kind::scope,
          fmt::format("{} is used by {} ({}) and by {} ({}), unordered, and one of them is outside "
                      "of the other's scope",
                      objects_.name_of(object), name_of_thread(self), short_place(use.where),
                      name_of_thread(threads_[other.by.thread]), short_place(other.where)),
          "block reaches the threads of one lane, device the lanes of one rank, system all: both "
          "sides must name one that reaches the other",
          objects_.name_of(object));
    break;
  }
  object.uses.push_back(std::move(use));
}

void* Execution::touch_object(Thread& self, const detail::Object& of, bool writes,
                              std::source_location place) {
  if (scratch_.size() < of.bytes) scratch_.resize(of.bytes);
  if (fibers_.unwinding()) return scratch_.data();
  const Where where = self.at(place.line() > 0 ? place : self.where.at);
  self.where = where;
  did(self, writes ? "write" : "read", where);
  count_step(self, "access");
  const auto index = find_object(self, of, false);
  if (!index) return scratch_.data();
  Object& object = objects_[*index];
  const std::string name = objects_.name_of(object);
  if (writes)
    changes(self);
  else
    look(self, (std::uint64_t{*index} << 20U) ^ 0xA70B1CU, where);
  has_substance_ = true;
  if (tracing()) note(self, where, fmt::format("{} {}", writes ? "write" : "read", name));
  const Stamp stamp = writes ? self.stamp() : clocks_.load_of(self);
  if (!writes) self.loading = true;
  record_access(
      self, objects_.shadows(),
      {.stamp = stamp,
       .segment = objects_segment,
       .first = *index,
       .last = *index + std::uint64_t{1},
       .access = writes ? model::Access::write : model::Access::read},
      {self.hb, self.ended, clocks_.loads_of(self)}, [&](std::uint64_t) { return name; }, "");
  return objects_[*index].value.data();
}

void Execution::object_made(Thread& self, const detail::Object& object) {
  if (fibers_.unwinding()) return;
  // Whichever rank makes what all share: they meet behind it.
  if (sharing_) return objects_.made(object, {});
  objects_.made(object, self.stamp());
  self.tick();
}

void Execution::object_gone(Thread& self, const void* address) {
  if (fibers_.unwinding()) return;
  if (const Object* object = objects_.at(address))
    for (const ObjectUse& use : object->uses)
      if (!self.hb.has(use.stamp)) {
        found(self, Kind::race,
              fmt::format("{} ends {}, unordered with its use by {} ({})", name_of_thread(self),
                          objects_.name_of(*object), name_of_thread(threads_[use.by.thread]),
                          short_place(use.where)),
              "whoever ends it must have heard from all that use it", objects_.name_of(*object));
        break;
      }
  objects_.gone(address);
}

void* Execution::share_object(Thread& self, const std::function<std::shared_ptr<void>()>& make,
                              const char* name, std::source_location place) {
  const std::uint32_t at = meet(
      self, name,
      [&] {
        sharing_ = true;
        shared_.push_back(make());
        sharing_ = false;
        return static_cast<std::uint32_t>(shared_.size() - 1);
      },
      self.at(place));
  return at < shared_.size() ? shared_[at].get() : nullptr;
}

}  // namespace muster::check::engine

namespace muster::check::detail {

namespace {
engine::Thread* running() {
  engine::Execution* const run = engine::Execution::current();
  return run == nullptr ? nullptr : run->running();
}

// Outside of a check: on the value itself.
Word access_value(const Object& object, const AtomicCall& call) {
  Word found = 0;
  std::memcpy(&found, object.value, object.bytes);
  Word left = call.kind == AtomicCall::Kind::load ? found : call.operand;
  if (call.kind == AtomicCall::Kind::change) left = call.next(found, call.operand);
  if (call.kind == AtomicCall::Kind::swap && found != call.expected) left = found;
  std::memcpy(object.value, &left, object.bytes);
  return found;
}
}  // namespace

Word access(const Object& object, const AtomicCall& call) {
  engine::Thread* const self = running();
  return self == nullptr ? access_value(object, call) : self->run->atomic(*self, object, call);
}

void fence(std::memory_order order, Scope scope, Where where) {
  if (engine::Thread* const self = running()) self->run->atomic_fence(*self, order, scope, where);
}

void* touch(const Object& object, bool writes, Where where) {
  engine::Thread* const self = running();
  return self == nullptr ? object.value : self->run->touch_object(*self, object, writes, where);
}

void made(const Object& object) {
  if (engine::Thread* const self = running()) self->run->object_made(*self, object);
}

void gone(const void* address) {
  if (engine::Thread* const self = running()) self->run->object_gone(*self, address);
}

void* share(const std::function<std::shared_ptr<void>()>& make, const char* name, Where where) {
  engine::Thread* const self = running();
  return self->run->share_object(*self, make, name, where);
}

}  // namespace muster::check::detail
