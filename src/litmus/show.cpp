#include "litmus/show.hpp"

#include <fmt/format.h>

namespace muster::litmus {
namespace {

// Values below zero are rare and mean what a signed word means.
std::int64_t number(const Candidate& candidate, const Event& event) {
  return static_cast<std::int64_t>(candidate.value(event.value).value_or(0));
}

std::string writer(const Candidate& candidate, const Event& read) {
  const Event& write = candidate.events[read.from];
  if (write.thread == nothing) return "the initial value";
  return fmt::format("P{}: {}", write.thread, write.instruction->text);
}

}  // namespace

std::vector<std::string> show(const Program& program, const Candidate& candidate,
                              const std::vector<std::size_t>& finals) {
  std::vector<std::string> lines;
  for (std::size_t thread = 0; thread < program.threads.size(); ++thread) {
    for (const Event& event : candidate.events) {
      if (event.thread != thread) continue;
      const std::string head = fmt::format("P{}: {}", thread, event.instruction->text);
      if (event.kind == Event::Kind::read) {
        lines.push_back(fmt::format("{:<40} reads {} from {}", head, number(candidate, event),
                                    writer(candidate, event)));
      } else if (event.kind == Event::Kind::write) {
        lines.push_back(fmt::format("{:<40} writes {}", head, number(candidate, event)));
      } else {
        lines.push_back(head);
      }
    }
  }
  std::string memory = "at the end:";
  for (std::size_t i = 0; i < finals.size(); ++i)
    memory += fmt::format(" {}={}", program.locations[i].name,
                          number(candidate, candidate.events[finals[i]]));
  lines.push_back(memory);
  return lines;
}

const char* name_of(Quantifier quantifier) {
  switch (quantifier) {
    case Quantifier::exists: return "exists";
    case Quantifier::not_exists: return "~exists";
    case Quantifier::forall: break;
  }
  return "forall";
}

}  // namespace muster::litmus
