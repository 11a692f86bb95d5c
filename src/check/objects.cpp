#include "check/objects.hpp"

#include <fmt/format.h>

#include "check/sites.hpp"

namespace muster::check::engine {

void Objects::clear() {
  all_.clear();
  shadows_.clear();
  at_.clear();
  made_.clear();
  atomics_ = vars_ = 0;
}

std::uint32_t Objects::find(const detail::Object& object, Where where, bool& known) {
  const auto [at, is_new] =
      at_.try_emplace(object.address, static_cast<std::uint32_t>(all_.size()));
  known = !is_new;
  if (known) return at->second;
  Object& fresh = all_.emplace_back();
  shadows_.emplace_back();
  fresh.where = where;
  if (const auto made = made_.find(object.address); made != made_.end()) fresh.made = made->second;
  const auto* bytes = static_cast<const std::byte*>(object.value);
  fresh.first.assign(bytes, bytes + object.bytes);
  return at->second;
}

void Objects::made(const detail::Object& object, Stamp by) {
  at_.erase(object.address);
  made_[object.address] = by;
}

std::string Objects::name_of(const Object& object) const {
  return fmt::format("{} {} of {}", object.is_atomic ? "atomic" : "var", object.number,
                     short_place(object.where));
}

}  // namespace muster::check::engine
