#include "litmus/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "litmus/parse.hpp"

namespace muster::litmus {
namespace {

namespace fs = std::filesystem;

Error unreadable(const fs::path& path, const std::string& why) {
  return {ErrorCode::invalid_argument, fmt::format("{}: {}", path.string(), why)};
}

}  // namespace

Result<std::vector<fs::path>> collect(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return unreadable(path, "there is no such file or directory");
    if (!fs::is_directory(status)) {
      files.emplace_back(path);
      continue;
    }
    std::vector<fs::path> found;
    fs::recursive_directory_iterator walk(path, error);
    for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
      if (walk->path().extension() == ".litmus") found.push_back(walk->path());
    }
    if (error) return unreadable(path, error.message());
    if (found.empty()) return unreadable(path, "there is no file *.litmus in this directory");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Result<Program> load(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) return unreadable(file, "a directory; name a file");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return unreadable(file, "it cannot be read");
  return parse(text.str(), file.string());
}

Result<std::optional<bool>> expectation(const fs::path& file) {
  const fs::path list = file.parent_path() / "expected.csv";
  std::ifstream stream(list);
  const std::string name = file.filename().string() + ",";
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.starts_with(name)) continue;
    const std::string word = line.substr(name.size());
    if (word == "1" || word == "0") return std::optional<bool>(word == "1");
    return unreadable(fmt::format("{}:{}", list.string(), number),
                      fmt::format("'{}' is to be 1, the condition holds, or 0", word));
  }
  return std::optional<bool>();
}

}  // namespace muster::litmus
