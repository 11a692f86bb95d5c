// A contender that cannot live in this program (it needs CUDA, Python, another library) lives in
// one of its own, which measures when it is asked to. So its runs take turns with those of all
// others.
//
// Requests and replies are lines; a reply ends with the line "end". Fields are parted by tabs.
//
//   devices                             devices TEXT       what it runs on, "2 x NVIDIA H200"
//   list TOPIC BYTES VARIANT            contender ROLE PEER NAME WHY_NOT     for each, in order
//   run INDEX WARM_UP CALLS BLOCKS      ns BLOCK...        the time of one call in each block
//
// BYTES is 0 in topics without sizes, ROLE one of floor, bare, muster, peer; PEER is empty where it
// is no peer, WHY_NOT where it can run. INDEX counts the last list's contenders from 0. Instead of
// a reply's lines: "unavailable WHY" (nothing of this can be measured here) or "failed WHY". The
// program ends when its stdin does.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "muster/result.hpp"

namespace muster::bench {

class MeasuringProgram {
 public:
  explicit MeasuringProgram(std::string path);
  ~MeasuringProgram();
  MeasuringProgram(const MeasuringProgram&) = delete;
  MeasuringProgram& operator=(const MeasuringProgram&) = delete;

  // "2 x NVIDIA H200"; an error with the code `unavailable` where it can measure nothing here.
  [[nodiscard]] Result<std::string> devices();

  // The contenders of one table; they ask this program, which must outlive them. Errors: as above.
  [[nodiscard]] Result<std::vector<Contender>> list(const std::string& topic,
                                                    const Request& request);

 private:
  using Lines = std::vector<std::string>;

  Result<Lines> ask(const std::string& request, std::chrono::milliseconds limit);
  Result<void> start();
  void end();
  Result<std::string> read_line(std::chrono::steady_clock::time_point deadline);
  Error ended();
  Result<Blocks> run(std::size_t index, const Plan& plan);

  struct Process;
  std::string path_;
  std::unique_ptr<Process> process_;
};

}  // namespace muster::bench
