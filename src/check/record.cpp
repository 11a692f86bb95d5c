#include "check/record.hpp"

#include <algorithm>
#include <cstring>

#include "check/sites.hpp"

namespace muster::check::engine {

bool Did::same_as(const Did& other) const {
  return with == other.with && std::strcmp(operation, other.operation) == 0 &&
         same_place(where.at, other.where.at);
}

void Record::begin(std::size_t threads) {
  if (!kept_) return;
  time_ = 0;
  did_.resize(threads);
  answers_.resize(threads);
  for (auto& all : did_) all.clear();
  for (auto& all : answers_) all.clear();
  for (auto& all : depositors_) all.clear();
}

void Record::did(std::uint32_t thread, const char* operation, Where where) {
  if (kept_) did_[thread].push_back({operation, where, ++time_, 0});
}

void Record::with(std::uint32_t thread, std::initializer_list<std::uint64_t> values) {
  if (!kept_ || did_[thread].empty()) return;
  std::uint64_t& sum = did_[thread].back().with;
  for (const std::uint64_t value : values)
    sum = (sum ^ (sum >> 29U) ^ value) * 0x9E3779B97F4A7C15U + 1;
}

void Record::deposited(std::uint32_t cell, std::uint32_t thread) {
  if (!kept_) return;
  if (cell >= depositors_.size()) depositors_.resize(cell + 1);
  depositors_[cell].push_back(thread);
}

void Record::answered(std::uint32_t thread, Answer answer) {
  if (kept_) answers_[thread].push_back(std::move(answer));
}

void Record::ordered(const WeakMemory& memory, const std::vector<Stamp>& fences) {
  if (!kept_) return;
  orders_.clear();
  for (std::uint32_t location = 0; location < memory.locations(); ++location) {
    std::vector<Stamp>& order = orders_.emplace_back();
    for (const WriteNumber number : memory.order(location))
      order.push_back(number == 0 ? Stamp{} : memory.write_of(location, number).stamp);
  }
  orders_.push_back(fences);
}

std::optional<Record::Difference> Record::difference(const Record& other) const {
  std::optional<Difference> first;
  std::uint64_t earliest = ~std::uint64_t{0};
  for (std::uint32_t thread = 0; thread < did_.size(); ++thread) {
    const auto& mine = did_[thread];
    const auto& theirs = other.did_[thread];
    const auto [here, there] =
        std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                      [](const Did& a, const Did& b) { return a.same_as(b); });
    if (here == mine.end() && there == theirs.end()) continue;
    const std::uint64_t time = here != mine.end() ? here->time : there->time;
    if (time >= earliest) continue;
    earliest = time;
    first = Difference{thread, here != mine.end() ? &*here : nullptr,
                       there != theirs.end() ? &*there : nullptr};
  }
  return first;
}

}  // namespace muster::check::engine
