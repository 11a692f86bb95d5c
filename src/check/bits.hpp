// A set of small numbers: which deposits of a cell.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace muster::check::engine {

class Bits {
 public:
  [[nodiscard]] bool has(std::uint32_t at) const { return (word(at / 64) >> (at % 64)) & 1U; }
  void add(std::uint32_t at) { reach(at / 64) |= std::uint64_t{1} << (at % 64); }
  void remove(std::uint32_t at) {
    if (at / 64 < words()) reach(at / 64) &= ~(std::uint64_t{1} << (at % 64));
  }
  void clear() {
    few_ = {};
    more_.clear();
  }

  void add(const Bits& other) {
    for (std::size_t i = 0; i < other.words(); ++i)
      if (other.word(i) != 0) reach(i) |= other.word(i);
  }
  // Every member of this is in `other`.
  [[nodiscard]] bool within(const Bits& other) const {
    for (std::size_t i = 0; i < words(); ++i)
      if ((word(i) & ~other.word(i)) != 0) return false;
    return true;
  }
  [[nodiscard]] bool empty() const {
    for (std::size_t i = 0; i < words(); ++i)
      if (word(i) != 0) return false;
    return true;
  }
  [[nodiscard]] std::uint32_t count() const {
    int n = 0;
    for (std::size_t i = 0; i < words(); ++i) n += std::popcount(word(i));
    return static_cast<std::uint32_t>(n);
  }
  // The largest member + 1, or 0.
  [[nodiscard]] std::uint32_t end() const {
    for (std::size_t i = words(); i-- > 0;)
      if (word(i) != 0)
        return static_cast<std::uint32_t>(i * 64 + 64 -
                                          static_cast<std::size_t>(std::countl_zero(word(i))));
    return 0;
  }
  // visit(member), ascending.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t i = 0; i < words(); ++i)
      for (std::uint64_t rest = word(i); rest != 0; rest &= rest - 1)
        visit(
            static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
  }

  [[nodiscard]] std::uint64_t word(std::size_t i) const {
    if (i < few_.size()) return few_[i];
    return i - few_.size() < more_.size() ? more_[i - few_.size()] : 0;
  }
  [[nodiscard]] std::size_t words() const { return few_.size() + more_.size(); }

  friend bool operator==(const Bits& a, const Bits& b) { return a.within(b) && b.within(a); }

 private:
  std::uint64_t& reach(std::size_t i) {
    if (i < few_.size()) return few_[i];
    if (i - few_.size() >= more_.size()) more_.resize(i - few_.size() + 1);
    return more_[i - few_.size()];
  }
  std::array<std::uint64_t, 2> few_{};  // most cells see fewer than 128 deposits
  std::vector<std::uint64_t> more_;
};

}  // namespace muster::check::engine
