#include "bench/measure.hpp"

#include <algorithm>
#include <cmath>

namespace muster::bench {

namespace {

// So many calls that a block takes the time asked for.
std::uint64_t calls_for(const Request& request, const Blocks& blocks) {
  if (request.calls != 0) return request.calls;
  const double fit = static_cast<double>(request.block.count()) / std::max(median(blocks), 1.0);
  return static_cast<std::uint64_t>(std::clamp(fit, 50.0, 1e7));
}

// A short run that is not counted: it warms up, shows whether the contender works here at all, and
// tells how many calls fill a block.
void rehearse(Measured& measured, const Request& request, Plan plan) {
  plan.calls = request.calls != 0 ? request.calls : 200;
  plan.warm_up = std::min<std::uint64_t>(plan.calls, 100);
  plan.repeat = std::min<std::uint32_t>(request.repeat, 3);
  const Result<Blocks> blocks = measured.contender.run(plan);
  if (!blocks) {
    measured.why_not = to_string(blocks.error());
    measured.failed = true;
    return;
  }
  measured.calls = calls_for(request, *blocks);
}

void run_once(Measured& measured, const Request& request, Plan plan) {
  plan.calls = measured.calls;
  plan.warm_up = std::max<std::uint64_t>(measured.calls / 4, 1);
  plan.repeat = request.repeat;
  Result<Blocks> blocks = measured.contender.run(plan);
  if (blocks) {
    measured.calls_per_block.push_back(plan.calls);
    // A contender may turn out much slower than in its rehearsal: its next run is shorter then.
    measured.calls = std::min(measured.calls, calls_for(request, *blocks));
    measured.rounds.push_back(std::move(*blocks));
    return;
  }
  measured.why_not = to_string(blocks.error());
  measured.failed = true;
  measured.rounds.clear();
}

}  // namespace

std::vector<double> Measured::per_round() const {
  std::vector<double> medians;
  for (const Blocks& blocks : rounds) medians.push_back(median(blocks));
  return medians;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<double> ratio(const Measured& one, const Measured& other) {
  const std::vector<double> above = one.per_round();
  const std::vector<double> below = other.per_round();
  if (above.empty() || above.size() != below.size()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t round = 0; round < above.size(); ++round)
    ratios.push_back(above[round] / below[round]);
  return median(ratios);
}

const Measured* fastest(const std::vector<Measured>& all, Role role) {
  const Measured* best = nullptr;
  for (const Measured& one : all) {
    if (one.contender.role != role || one.rounds.empty()) continue;
    if (best == nullptr || median(one.per_round()) < median(best->per_round())) best = &one;
  }
  return best;
}

std::vector<Measured> measure(const std::vector<Contender>& contenders, const Request& request,
                              const std::vector<int>& cores, const Progress& progress) {
  std::vector<Measured> all;
  const Plan plan{.ranks = request.ranks, .cores = cores, .limit = request.limit};
  for (const Contender& contender : contenders) {
    Measured& measured = all.emplace_back();
    measured.contender = contender;
    measured.why_not = contender.why_not;
    progress(0, contender.name);
    if (measured.why_not.empty()) rehearse(measured, request, plan);
  }
  for (std::uint32_t round = 0; round < request.rounds; ++round) {
    for (std::size_t step = 0; step < all.size(); ++step) {
      Measured& measured = all[(round + step) % all.size()];
      if (!measured.why_not.empty()) continue;
      progress(round + 1, measured.contender.name);
      run_once(measured, request, plan);
    }
  }
  return all;
}

}  // namespace muster::bench
