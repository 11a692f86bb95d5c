#include "bench/gpu/serve.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

namespace muster::bench_gpu {

namespace {

using Fields = std::vector<std::string>;

Fields fields_of(const std::string& line) {
  Fields fields;
  std::size_t at = 0;
  for (std::size_t tab = 0; tab != std::string::npos; at = tab + 1) {
    tab = line.find('\t', at);
    fields.push_back(line.substr(at, tab == std::string::npos ? tab : tab - at));
  }
  return fields;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

class Session {
 public:
  explicit Session(const Server& server) : server_(server) {}

  // The lines of the reply, without the last.
  std::string reply(const Fields& request) {
    try {
      if (request[0] == "devices" && request.size() == 1)
        return "devices\t" + one_line(server_.devices()) + "\n";
      if (request[0] == "list" && request.size() == 4)
        return list({request[1], number(request[2]), request[3]});
      if (request[0] == "run" && request.size() == 5)
        return run(number(request[1]), static_cast<std::uint32_t>(number(request[2])),
                   static_cast<std::uint32_t>(number(request[3])), number(request[4]));
      return "failed\tthere is no request '" + request[0] + "' with so many fields\n";
    } catch (const Unavailable& why) {
      return "unavailable\t" + one_line(why.what()) + "\n";
    } catch (const std::exception& failure) {
      return "failed\t" + one_line(failure.what()) + "\n";
    }
  }

 private:
  static std::uint64_t number(const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 10);
  }

  std::string list(const Wanted& wanted) {
    contenders_.clear();  // gives back what the last table's hold before new ones take it
    contenders_ = server_.list(wanted);
    std::string lines;
    for (const Contender& one : contenders_)
      lines += "contender\t" + one.role + "\t" + one.peer + "\t" + one_line(one.name) + "\t" +
               one_line(one.why_not) + "\n";
    return lines;
  }

  std::string run(std::uint64_t index, std::uint32_t warm_up, std::uint32_t calls,
                  std::uint64_t blocks) {
    if (index >= contenders_.size())
      throw std::out_of_range("the last list has no contender " + std::to_string(index));
    const Contender& one = contenders_[index];
    if (warm_up > 0) (void)one.measure(warm_up);
    std::string line = "ns";
    for (std::uint64_t block = 0; block < blocks; ++block) {
      char text[32];
      std::snprintf(text, sizeof(text), "\t%.3f", one.measure(calls));
      line += text;
    }
    return line + "\n";
  }

  const Server& server_;
  std::vector<Contender> contenders_;
};

}  // namespace

int serve(const Server& server) {
  // Libraries write to stdout, too: replies have a descriptor of their own.
  std::FILE* const out = fdopen(dup(STDOUT_FILENO), "w");
  if (out == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    std::perror("stdout");
    return 1;
  }
  if (isatty(STDIN_FILENO) == 1)
    std::fprintf(stderr,
                 "muster bench --fabric gpu starts this program; src/bench/program.hpp says "
                 "what it understands\n");
  Session session(server);
  for (std::string line; std::getline(std::cin, line);) {
    std::fprintf(out, "%send\n", session.reply(fields_of(line)).c_str());
    if (std::fflush(out) != 0) return 1;
  }
  return 0;
}

}  // namespace muster::bench_gpu
