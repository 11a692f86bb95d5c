// The deferral search: every way in which the reads of a program can be answered, each once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/execution.hpp"

namespace muster::check::engine {

// One read that was decided: which sets it may take, and where the search stands.
struct Node {
  struct Choice {
    std::uint32_t look = 0;
    Bits set;
    bool again = false;  // a poll is answered as the last time, for a while
  };
  std::uint64_t visit = 0;  // when in the execution: the how-manieth read that was looked at
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::vector<Choice> choices;
  std::vector<std::uint32_t> starts;  // no read: which of these tasks starts, `at` is one of them
  bool may_expire = false;
  bool always_later = false;  // value-sensitive: putting it off is always tried
  bool later_useful = false;  // monotone: below, a deposit came that gives a new minimal set
  std::uint32_t at = 0;       // 0 .. choices: take; choices: later; choices + 1: expire
  // For later_useful.
  std::uint32_t cell = 0;
  Bits must;
  Condition condition;
};

class Search final : public Scheduler {
 public:
  // `probe`: only the first way, as the candidate for a certificate.
  explicit Search(bool probe) : probe_(probe) {}

  void begin() override {
    depth_ = 0;
    visits_ = 0;
  }
  Decision pick(Execution& run) override;
  std::uint32_t choose(Execution& run, const std::vector<std::uint32_t>& among,
                       std::uint32_t count) override;
  void deposited(Execution& run, std::uint32_t cell) override;

  // To the next way; false when there is none.
  bool advance();
  [[nodiscard]] bool cut() const { return cut_; }
  // The last execution went the whole way that it was to go.
  [[nodiscard]] bool arrived() const { return depth_ == stack_.size(); }
  // The path as text, and back: what Options::replay takes.
  [[nodiscard]] std::string path() const;
  void follow(const std::string& path);
  // Why the path that was to be followed is none; empty where it was followed to its end.
  [[nodiscard]] std::string objection() const;

 private:
  void choices_of(Execution& run, Thread& thread, Node& node);
  [[nodiscard]] static bool sensitive(Execution& run, const Thread& thread, const Look& look);
  [[nodiscard]] bool new_minimal_set(Execution& run, const Node& node, std::uint32_t deposit) const;
  void force(Node& node);
  bool step(Node& node);
  [[nodiscard]] static bool leads_elsewhere(Execution& run, const Thread& thread, const Node& node);
  [[nodiscard]] bool others_deviate(const Node& node) const;

  bool probe_;
  Execution* run_ = nullptr;
  bool cut_ = false;
  std::size_t depth_ = 0;
  std::uint64_t visits_ = 0;
  std::vector<Node> stack_;
  std::vector<std::uint32_t> forced_;  // positions of a replay, by depth
  std::string objection_;              // to one of them
};

// The ways that a read can be answered now, at most `limit`; `cut` is set where there are more.
[[nodiscard]] std::vector<Node::Choice> ways(Execution& run, const Thread& thread, bool all,
                                             std::size_t limit, bool& cut);

}  // namespace muster::check::engine
