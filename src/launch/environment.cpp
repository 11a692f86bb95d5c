#include "launch/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "launch/launchers.hpp"

namespace muster::launcher {
namespace {

constexpr const char* joined_variable = "MUSTER_JOINED";
constexpr const char* chosen = "MUSTER_LAUNCHER";
constexpr std::string_view nobody = "none";

const char* look_up(const char* name) {
  return std::getenv(name);
}

std::string entry(const Kind& kind) {
  const auto digest = kind.digest();
  return digest ? fmt::format("{}:{}", choice_of(kind.launcher()), *digest) : "";
}

// Has a rank that this launcher started written down that the variables are its own?
bool is_taken(const Kind& kind, const Lookup& lookup) {
  const char* marks = lookup(joined_variable);
  const std::string own = entry(kind);
  if (marks == nullptr || own.empty()) return false;
  return fmt::format(",{},", marks).find(fmt::format(",{},", own)) != std::string::npos;
}

Error not_a_launcher(std::string_view choice) {
  std::vector<std::string_view> choices;
  for (const Launcher launcher : all_launchers()) choices.emplace_back(choice_of(launcher));
  return Error{ErrorCode::invalid_argument, fmt::format("{} is '{}'; it must be {} or {}", chosen,
                                                        choice, fmt::join(choices, ", "), nobody)};
}

Result<std::optional<LaunchedBy>> present(const Kind& kind, Reach reach) {
  auto self = kind.identify(reach);
  if (!self) return self.error();
  return std::optional(std::move(*self));
}

// What MUSTER_LAUNCHER says holds.
Result<std::optional<LaunchedBy>> by_choice(const Lookup& lookup, std::string_view choice,
                                            Reach reach) {
  if (choice == nobody) return std::optional<LaunchedBy>{};
  for (const Launcher launcher : all_launchers()) {
    if (choice != choice_of(launcher)) continue;
    const Kind kind(lookup, launcher);
    if (is_taken(kind, lookup)) return std::optional<LaunchedBy>{};
    if (kind.is_present()) return present(kind, reach);
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} is '{}', but {} has not started this program: of {}, not all are "
                             "set",
                             chosen, choice, name_of(launcher), kind.where_it_says())};
  }
  return not_a_launcher(choice);
}

bool agree(const Result<Claim>& one, const Result<Claim>& other) {
  if (!one || !other || one->rank != other->rank) return false;
  return !one->ranks || !other->ranks || *one->ranks == *other->ranks;
}

Error disagreement(const std::vector<Kind>& kinds) {
  std::vector<std::string> sayings;
  std::vector<std::string> choices;
  for (const Kind& kind : kinds) {
    const auto claim = kind.claim();
    sayings.push_back(
        claim ? fmt::format("{} says {} ({})", name_of(kind.launcher()), describe(*claim),
                            kind.where_it_says())
              : fmt::format("{} says that {}", name_of(kind.launcher()), claim.error().what));
    choices.push_back(fmt::format("{}={}", chosen, choice_of(kind.launcher())));
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("variables of {} launchers are set, and they disagree: {}; unset those "
                           "that are left over, or say which one started this program by {} "
                           "({}={} where none of them did)",
                           kinds.size(), fmt::join(sayings, "; "), fmt::join(choices, " or "),
                           chosen, nobody)};
}

}  // namespace

Result<std::optional<LaunchedBy>> detect(const Lookup& lookup, Reach reach) {
  if (const char* choice = lookup(chosen)) return by_choice(lookup, choice, reach);
  std::vector<Kind> kinds;
  for (const Launcher launcher : all_launchers()) {
    const Kind kind(lookup, launcher);
    if (!kind.is_present() || is_taken(kind, lookup)) continue;
    // Other launchers set PMIx's variables too.
    const bool beside =
        launcher == Launcher::pmix &&
        std::ranges::any_of(kinds, [&](const Kind& k) { return agree(k.claim(), kind.claim()); });
    if (!beside) kinds.push_back(kind);
  }
  if (kinds.empty()) return std::optional<LaunchedBy>{};
  const bool one_voice = std::ranges::all_of(
      kinds, [&](const Kind& kind) { return agree(kinds.front().claim(), kind.claim()); });
  if (kinds.size() > 1 && !one_voice) return disagreement(kinds);
  return present(kinds.front(), reach);
}

Result<std::optional<LaunchedBy>> detect(const Lookup& lookup) {
  return detect(lookup, Reach::one_host);
}

Result<std::optional<LaunchedBy>> detect(Reach reach) {
  return detect(look_up, reach);
}

Result<std::optional<LaunchedBy>> detect() {
  return detect(look_up);
}

std::string joined_mark(const Lookup& lookup) {
  std::vector<std::string> entries;
  for (const Launcher launcher : all_launchers()) {
    std::string own = entry(Kind(lookup, launcher));
    if (!own.empty()) entries.push_back(std::move(own));
  }
  return fmt::format("{}", fmt::join(entries, ","));
}

void take_from_others() {
  const std::string mark = joined_mark(look_up);
  if (!mark.empty()) setenv(joined_variable, mark.c_str(), 1);
}

void hide_from_children() {
  const Lookup lookup = look_up;
  Kind(lookup, Launcher::muster).forget();
  unsetenv(chosen);
  take_from_others();
}

void forget_launchers() {
  const Lookup lookup = look_up;
  for (const Launcher launcher : all_launchers()) Kind(lookup, launcher).forget();
  unsetenv(chosen);
}

}  // namespace muster::launcher
