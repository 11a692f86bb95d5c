#include "check/closed_sets.hpp"

#include "check/mutant.hpp"

namespace muster::check::engine {

namespace {

class Walk {
 public:
  explicit Walk(const SetQuery& query) : query_(query), cell_(*query.cell) {
    // For the bound: what the adds from here on could still bring.
    if (query.minimal && cell_.sets.empty() && query.condition) {
      rest_.assign(cell_.count + 1, 0);
      for (std::uint32_t at = cell_.count; at-- > 0;) {
        const bool free = query.among.has(at) && !query.must.has(at);
        const auto value = static_cast<std::int32_t>(cell_.deposits[at].value);
        rest_[at] = rest_[at + 1] + (free && value > 0 ? value : 0);
      }
    }
  }

  void go(SetAnswer& answer) {
    answer_ = &answer;
    from(0, query_.must);
  }

 private:
  [[nodiscard]] bool ends(std::uint64_t work) const {
    return query_.patience != nullptr && query_.patience->ends(work);
  }

  [[nodiscard]] bool satisfied(const Bits& set) const {
    return !query_.condition ||
           satisfies(cell_.value(set), query_.condition->compare, query_.condition->value);
  }

  // Would a closed part without one of the latest deposits do as well?
  [[nodiscard]] bool minimal(const Bits& set) const {
    bool is = true;
    set.each([&](std::uint32_t at) {
      if (!is || query_.must.has(at)) return;
      bool latest = true;
      set.each([&](std::uint32_t other) {
        if (cell_.deposits[other].before.has(at)) latest = false;
      });
      if (!latest) return;
      Bits less = set;
      less.remove(at);
      if (satisfied(less)) is = false;
    });
    return is;
  }

  [[nodiscard]] bool in_chain(const Bits& set) const {
    for (const Reading& reading : cell_.readings)
      if (!reading.set.within(set) && !set.within(reading.set) && !mutant("no-chain")) return false;
    return true;
  }

  void offer(const Bits& set) {
    if (query_.newer > 0 && set.end() <= query_.newer) return;
    if (query_.chain && !in_chain(set)) return;
    if (query_.minimal && (ends(cell_.count) || !minimal(set))) return;
    if (query_.fetch && !query_.fetch->leaves(cell_.value(set)) && !cell_.is_newest(set) &&
        !mutant("fetch-after-an-older-value"))
      return;
    if (answer_->sets.size() == query_.limit) {
      answer_->cut = true;
      return;
    }
    answer_->sets.push_back(set);
  }

  void from(std::uint32_t at, const Bits& set) {
    if (answer_->cut) return;
    if (++visited_ > most_visits || ends(1)) {
      answer_->cut = true;
      return;
    }
    if (query_.minimal && satisfied(set)) return offer(set);
    if (!rest_.empty() && hopeless(at, set)) return;
    const auto closed = [&] {
      return cell_.deposits[at].before.within(set) || mutant("sets-not-closed");
    };
    while (at < cell_.count && (set.has(at) || !query_.among.has(at) || !closed())) ++at;
    if (at == cell_.count) {
      if (!query_.minimal && satisfied(set)) offer(set);
      return;
    }
    from(at + 1, set);
    Bits more = set;
    more.add(at);
    from(at + 1, more);
  }

  // Not even all remaining adds together reach the threshold (compare is ge or gt).
  [[nodiscard]] bool hopeless(std::uint32_t at, const Bits& set) const {
    const std::uint32_t most = cell_.value(set) + static_cast<std::uint32_t>(rest_[at]);
    return !satisfies(most, query_.condition->compare, query_.condition->value);
  }

  static constexpr std::uint64_t most_visits = 1U << 20;

  const SetQuery& query_;
  const Cell& cell_;
  std::uint64_t visited_ = 0;
  SetAnswer* answer_ = nullptr;
  std::vector<std::int64_t> rest_;
};

}  // namespace

SetAnswer closed_sets(const SetQuery& query) {
  SetAnswer answer;
  Walk(query).go(answer);
  return answer;
}

}  // namespace muster::check::engine
