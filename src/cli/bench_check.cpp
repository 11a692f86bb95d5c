// `muster bench check`: the speed of the checker and how much it explores, beside GenMC.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "muster/barrier/counter.hpp"
#include "muster/barrier/credit.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/check.hpp"

namespace muster::cli {

namespace {

// GenMC 0.10.3 on the same protocols written in C with its loops, on two cores of an AMD EPYC,
// measured 2026-11-29; kept as text, since GenMC is not run here.
struct Row {
  const char* protocol;
  std::uint32_t ranks;
  std::uint32_t calls;
  check::Report (*run)(const check::Options& options);
  const char* genmc;
};

template <class Barrier>
check::Report barriers(const check::Options& options) {
  return check::explore(options, [](model::Team& team) {
    const Barrier barrier(team);
    (void)team.lane([&](auto& fabric) {
      for (std::uint32_t call = 0; call < team.calls(); ++call)
        if (barrier.sync(fabric) != WaitStatus::ok) return;
    });
  });
}

constexpr Row rows[] = {
    {"one shared counter cell", 3, 1, barriers<CounterBarrier>, "8"},
    {"one shared counter cell", 4, 1, barriers<CounterBarrier>, "1,296 (0.14 s)"},
    {"one shared counter cell", 5, 1, barriers<CounterBarrier>, "over 100 s"},
    {"one shared counter cell", 2, 2, barriers<CounterBarrier>, ""},
    {"one shared counter cell", 3, 2, barriers<CounterBarrier>, ""},
    {"one shared counter cell", 4, 2, barriers<CounterBarrier>, ""},
    {"one shared counter cell", 5, 2, barriers<CounterBarrier>, ""},
    {"dedicated cells, epochs", 4, 2, barriers<EpochBarrier>, "463"},
    {"dedicated cells, epochs", 5, 2, barriers<EpochBarrier>, "20,062 (5.9 s)"},
    {"dedicated cells, epochs", 32, 2, barriers<EpochBarrier>, ""},
    {"self-clearing credits", 4, 2, barriers<CreditBarrier>, "58,680 (6.7 s)"},
};

void print(const Row& row) {
  check::Options options;
  options.ranks = row.ranks;
  options.calls = row.calls;
  options.profile = Profile::direct;
  const auto begin = std::chrono::steady_clock::now();
  const check::Report report = row.run(options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{:<25} {:>5} {:>5}  {:<10} {:>10} {:>9.3f} s  {}\n", row.protocol, row.ranks,
             row.calls, check::name_of(report.verdict), report.executions, took.count(), row.genmc);
}

int measure(double seconds) {
  const check::StepRate rate = check::measure_steps(seconds);
  fmt::print("the model on one core: {:.2f} million steps a second, {:.0f} executions a second\n\n",
             rate.per_second() / 1e6, static_cast<double>(rate.executions) / rate.seconds);
  fmt::print("{:<25} {:>5} {:>5}  {:<10} {:>10} {:>11}  {}\n", "protocol", "ranks", "calls",
             "verdict", "executions", "time", "GenMC 0.10.3");
  for (const Row& row : rows) print(row);
  fmt::print("\nGenMC's column: executions (time), taken on another machine on 2026-11-29\n");
  return 0;
}

}  // namespace

void add_bench_check(CLI::App& bench, int& status) {
  CLI::App* verb = bench.add_subcommand("check", "the checker's speed, beside GenMC's figures");
  const auto seconds = std::make_shared<double>(1.0);
  verb->add_option("--seconds", *seconds, "How long to count steps")
      ->check([](const std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool fits = !text.empty() && *end == '\0' && value >= 0.01 && value <= 600;
        return fits ? "" : fmt::format("'{}' must be a number from 0.01 to 600", text);
      })
      ->capture_default_str();
  verb->callback([&status, seconds] { status = measure(*seconds); });
}

}  // namespace muster::cli
