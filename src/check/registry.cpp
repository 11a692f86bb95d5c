// The checks that are linked into this program.
#include <algorithm>

#include "muster/check.hpp"

namespace muster::check {

namespace {
// Filled by static initialisers: not a global of its own, or it might be made too late.
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}
}  // namespace

const std::vector<Entry>& registry() {
  auto& all = entries();
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return all;
}

const Entry* find(const std::string& name) {
  for (const Entry& entry : registry())
    if (entry.name == name) return &entry;
  return nullptr;
}

bool add(const char* name, const Protocol& protocol, std::function<void(model::Team&)> body) {
  const std::string group = protocol.group;
  entries().push_back({group.empty() ? name : group + "/" + name, protocol, std::move(body)});
  return true;
}

}  // namespace muster::check
