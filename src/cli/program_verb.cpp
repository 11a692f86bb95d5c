#include "cli/program_verb.hpp"

#include <iterator>
#include <memory>

namespace muster::cli {
namespace {

class Usage : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

}  // namespace

ProgramVerb::ProgramVerb(const std::string& description, const std::string& name)
    : CLI::App(description, name) {
  formatter(std::make_shared<Usage>());
}

void ProgramVerb::take_program(std::vector<std::string>& arguments) {
  if (arguments.empty() || !check_name(arguments.front())) return;
  auto word = arguments.begin() + 1;
  while (word != arguments.end() && *word != "--" && word->size() > 1 && word->front() == '-') {
    word += std::min(words_of(*word), std::distance(word, arguments.end()));
  }
  if (word == arguments.end()) return;
  program_.assign(*word == "--" ? word + 1 : word, arguments.end());
  arguments.erase(word, arguments.end());
}

std::ptrdiff_t ProgramVerb::words_of(const std::string& word) const {
  const bool is_long = word.starts_with("--");
  const bool holds_value = is_long ? word.find('=') != std::string::npos : word.size() > 2;
  const auto* option = get_option_no_throw(is_long ? word : word.substr(0, 2));
  if (option == nullptr || holds_value) return 1;
  return 1 + option->get_items_expected_min();
}

}  // namespace muster::cli
