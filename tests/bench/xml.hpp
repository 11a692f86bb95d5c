// Reads an SVG with a real parser: Python's.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster::bench {

inline bool have_python() {
  return std::system("command -v python3 >/dev/null") == 0;
}

// What Python prints for `expression` about the parsed document `root`, without its line end; or
// the parser's complaint. `E` is the prefix of SVG's names.
inline std::string ask_xml(const std::string& document, const std::string& expression) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("muster-chart-test-" + std::to_string(getpid()) + ".svg");
  std::ofstream(path) << document;
  const std::string command =
      "python3 -c 'import sys, xml.etree.ElementTree as tree\n"
      "root = tree.parse(sys.argv[1]).getroot()\n"
      "E = \"{http://www.w3.org/2000/svg}\"\n"
      "print(" +
      expression + ")' '" + path.string() + "' 2>&1";
  std::string said;
  if (FILE* pipe = popen(command.c_str(), "r"); pipe != nullptr) {
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
    pclose(pipe);
  }
  std::filesystem::remove(path);
  while (said.ends_with('\n')) said.pop_back();
  return said;
}

}  // namespace muster::bench
