// muster_fuzz: compares the checker with the reference on as many random programs as one likes.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "compare.hpp"
#include "generator.hpp"
#include "support/options.hpp"

namespace {

using namespace muster;
using namespace muster::fuzz;

struct Tally {
  std::uint64_t programs = 0, compared = 0, correct = 0, certified = 0, searched = 0, bounded = 0;
  std::uint64_t differences = 0;

  void count(const Comparison& one) {
    ++programs;
    compared += one.compared ? 1 : 0;
    correct += one.correct ? 1 : 0;
    certified += one.certified ? 1 : 0;
    searched += one.searched ? 1 : 0;
    bounded += one.bounded ? 1 : 0;
    differences += one.difference ? 1 : 0;
  }
};

void show(std::uint64_t seed, const Program& program, const Comparison& result, bool small) {
  fmt::print("seed {}: {}\n", seed, *result.difference);
  const Program shown = small ? shrink(program) : program;
  fmt::print("{}", to_string(shown));
  if (small) fmt::print("  {}\n", compare(shown).difference.value_or("no longer differs"));
  std::fflush(stdout);
}

struct Arguments {
  std::string seeds = "0:2000";
  std::vector<std::string> profiles{"rdma", "direct", "sc", "noncoherent"};
  bool shrink = false;
  bool quiet = false;
  bool fetched = false;
  bool kernels = false;
  std::uint64_t most_differences = 10;
};

bool parse_seeds(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  return std::sscanf(text.c_str(), "%lu:%lu", &first, &last) == 2 && first < last;
}

int run(const Arguments& arguments) {
  std::uint64_t first = 0, last = 0;
  if (!parse_seeds(arguments.seeds, first, last)) {
    fmt::print(stderr, "muster_fuzz: --seeds takes A:B with A < B\n");
    return 2;
  }
  std::vector<Profile> profiles;
  for (const std::string& name : arguments.profiles) profiles.push_back(*check::profile_of(name));
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Tally tally;
  double reported = 0;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    for (const Profile profile : profiles) {
      const Program program =
          arguments.kernels ? draw_kernels(seed, profile) : draw(seed, profile, arguments.fetched);
      const Comparison result = compare(program);
      tally.count(result);
      if (result.difference) show(seed, program, result, arguments.shrink);
    }
    if (!arguments.quiet && seconds() - reported > 10) {
      reported = seconds();
      fmt::print(stderr, "{} programs, {} differences\n", tally.programs, tally.differences);
    }
    if (tally.differences >= arguments.most_differences) break;
  }
  fmt::print(
      "{} programs: {} compared, {} correct ({:.1f} %), {} certified, {} searched, {} bounded, "
      "{} differences ({:.0f} s)\n",
      tally.programs, tally.compared, tally.correct,
      100.0 * static_cast<double>(tally.correct) / static_cast<double>(tally.programs),
      tally.certified, tally.searched, tally.bounded, tally.differences, seconds());
  return tally.differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  testing::Options options("Compares certificate, search and reference on random programs");
  options.add("--seeds", arguments.seeds, "A:B, from A up to B exclusive");
  options.add("--profile", arguments.profiles, {"rdma", "direct", "sc", "noncoherent"},
              "rdma, direct, sc, noncoherent (default: all)");
  options.add("--fetched", arguments.fetched, "programs with fetched operations");
  options.add("--kernels", arguments.kernels, "programs of kernels that overlap");
  options.add("--shrink", arguments.shrink, "print the smallest program that still differs");
  options.add("--quiet", arguments.quiet, "no progress");
  options.add("--stop-after", arguments.most_differences, "stop after so many differences");
  if (!options.parse(argc, argv)) return options.exit_code();
  return run(arguments);
}
