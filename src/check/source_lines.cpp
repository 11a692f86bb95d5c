#include "check/source_lines.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

namespace muster::check {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t around = 3;               // lines before and after
constexpr std::uintmax_t most_bytes = 4U << 20U;  // of a source; more is none
constexpr int folders_above = 4;                  // of this program's, where a build may have begun

struct Wanted {
  std::set<std::uint32_t> acts;
  std::set<std::uint32_t> fails;
};

bool can_be_read(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) <= most_bytes && !error;
}

fs::path this_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

// Empty where there is none.
fs::path find_source(const std::string& name) {
  const fs::path path(name);
  if (path.is_absolute()) return can_be_read(path) ? path : fs::path();
  fs::path folder = this_program().parent_path();
  for (int above = 0; above <= folders_above; ++above, folder = folder.parent_path())
    if (const fs::path there = folder / path; can_be_read(there)) return there;
  return can_be_read(path) ? path : fs::path();
}

bool is_newer(const fs::path& source) {
  std::error_code error;
  const auto program = fs::last_write_time(this_program(), error);
  if (error) return false;
  const auto changed = fs::last_write_time(source, error);
  return !error && changed > program;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

SourceFile source_file(const std::string& name, const Wanted& wanted) {
  SourceFile file;
  file.file = name;
  file.name = fs::path(name).filename().string();
  std::vector<std::string> text;
  const fs::path path = find_source(name);
  if (!path.empty()) text = read_lines(path);
  // A shorter file is another one.
  file.found = !wanted.acts.empty() && text.size() >= *wanted.acts.rbegin();
  file.newer = file.found && is_newer(path);
  const auto last = static_cast<std::uint32_t>(text.size());
  std::set<std::uint32_t> shown = wanted.acts;
  if (file.found)
    for (const std::uint32_t line : wanted.acts)
      for (std::uint32_t near = line > around ? line - around : 1;
           near <= std::min(line + around, last); ++near)
        shown.insert(near);
  for (const std::uint32_t number : shown)
    file.lines.push_back({number, file.found ? text[number - 1] : "", wanted.acts.contains(number),
                          wanted.fails.contains(number)});
  return file;
}

}  // namespace

std::vector<SourceFile> source_of(const Diagram& diagram) {
  std::vector<std::string> order;
  std::map<std::string, Wanted> wanted;
  std::set<std::size_t> lacks;  // rows
  for (const Diagram::Arrow& arrow : diagram.arrows)
    if (arrow.missing) {
      lacks.insert(arrow.to);
      lacks.insert(arrow.from.begin(), arrow.from.end());
    }
  for (std::size_t row = 0; row < diagram.rows.size(); ++row)
    for (const Place* place : {&diagram.rows[row].event.call, &diagram.rows[row].event.at}) {
      if (place->line == 0 || place->file.empty()) continue;
      if (!wanted.contains(place->file)) order.push_back(place->file);
      Wanted& here = wanted[place->file];
      here.acts.insert(place->line);
      if (diagram.rows[row].event.fails || lacks.contains(row)) here.fails.insert(place->line);
    }
  std::vector<SourceFile> files;
  files.reserve(order.size());
  for (const std::string& name : order) files.push_back(source_file(name, wanted[name]));
  return files;
}

}  // namespace muster::check
