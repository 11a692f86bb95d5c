// Relations between the events of one candidate.
#pragma once

#include <bitset>
#include <cstddef>
#include <vector>

namespace muster::litmus {

class Relation {
 public:
  static constexpr std::size_t most = 192;
  using Row = std::bitset<most>;

  // Of `events` events, at most `most`.
  explicit Relation(std::size_t events) : rows_(events) {}

  [[nodiscard]] std::size_t events() const { return rows_.size(); }
  [[nodiscard]] bool has(std::size_t a, std::size_t b) const { return rows_[a][b]; }
  void add(std::size_t a, std::size_t b) { rows_[a][b] = true; }
  void remove(std::size_t a, std::size_t b) { rows_[a][b] = false; }

  friend Relation operator|(Relation left, const Relation& right) {
    for (std::size_t i = 0; i < left.rows_.size(); ++i) left.rows_[i] |= right.rows_[i];
    return left;
  }
  friend Relation operator&(Relation left, const Relation& right) {
    for (std::size_t i = 0; i < left.rows_.size(); ++i) left.rows_[i] &= right.rows_[i];
    return left;
  }
  // left ; right: a to c where left has (a, b) and right has (b, c).
  [[nodiscard]] Relation then(const Relation& right) const {
    Relation both(rows_.size());
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      for (std::size_t b = 0; b < rows_.size(); ++b) {
        if (rows_[a][b]) both.rows_[a] |= right.rows_[b];
      }
    }
    return both;
  }
  [[nodiscard]] Relation inverse() const {
    Relation back(rows_.size());
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      for (std::size_t b = 0; b < rows_.size(); ++b) {
        if (rows_[a][b]) back.add(b, a);
      }
    }
    return back;
  }
  [[nodiscard]] Relation closure() const {
    Relation all = *this;
    for (std::size_t via = 0; via < rows_.size(); ++via) {
      for (Row& row : all.rows_) {
        if (row[via]) row |= all.rows_[via];
      }
    }
    return all;
  }
  [[nodiscard]] bool irreflexive() const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i][i]) return false;
    }
    return true;
  }
  [[nodiscard]] bool acyclic() const { return closure().irreflexive(); }

 private:
  std::vector<Row> rows_;
};

}  // namespace muster::litmus
