// The options of the programs that tests run with some.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace muster::testing {

// Its methods are compiled once for all programs: CLI11 is all headers, and long to compile. What a
// variable holds when it is added is its default.
class Options {
 public:
  explicit Options(const std::string& about);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  void add(const std::string& name, bool& flag, const std::string& about);
  void add(const std::string& name, std::uint32_t& number, const std::string& about);
  void add(const std::string& name, std::uint64_t& number, const std::string& about);
  void add(const std::string& name, double& number, const std::string& about);
  void add(const std::string& name, std::string& word, const std::string& about);

  // Several, with commas between them.
  void add(const std::string& name, std::vector<std::uint32_t>& numbers, const std::string& about);

  // Several out of `known`, with spaces between them.
  void add(const std::string& name, std::vector<std::string>& words,
           const std::vector<std::string>& known, const std::string& about);

  // False where the program must end now, with exit_code(): after --help, or a usage error (2).
  [[nodiscard]] bool parse(int argc, char** argv);
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  std::unique_ptr<CLI::App> app_;
  int exit_code_ = 0;
};

}  // namespace muster::testing
