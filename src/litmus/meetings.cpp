#include "litmus/meetings.hpp"

#include <map>
#include <vector>

namespace muster::litmus {

bool meet(const Program& program, const Candidate& candidate, const Relation& program_order,
          Relation& synchronizes) {
  std::map<std::vector<Word>, std::vector<std::size_t>> meetings;
  std::map<std::vector<Word>, Word> uses;
  std::vector<std::size_t> barriers;
  for (std::size_t i = 0; i < candidate.events.size(); ++i) {
    const Event& event = candidate.events[i];
    if (event.kind != Event::Kind::barrier) continue;
    const Thread& thread = program.threads[event.thread];
    std::vector<Word> name{thread.gpu, thread.cta, event.identity.size()};
    for (const std::size_t each : event.identity) name.push_back(candidate.value(each).value_or(0));
    std::vector<Word> mine = name;
    mine.push_back(event.thread);
    name.push_back(uses[mine]++);
    meetings[name].push_back(i);
    barriers.push_back(i);
  }
  for (const auto& [name, members] : meetings) {
    for (const std::size_t from : members) {
      for (const std::size_t to : members) {
        if (from == to || candidate.events[to].arrives) continue;
        synchronizes.add(from, to);
      }
    }
  }
  // Coming to b takes having passed every earlier a, so that all that meet a have come.
  Relation coming(candidate.events.size());
  for (const std::size_t a : barriers) {
    for (const std::size_t b : barriers) {
      if (!program_order.has(a, b)) continue;
      coming.add(a, b);
      for (const std::size_t other : barriers) {
        if (synchronizes.has(other, a)) coming.add(other, b);
      }
    }
  }
  return coming.acyclic();
}

}  // namespace muster::litmus
