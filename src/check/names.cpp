// Names of kinds, verdicts, profiles and places.
#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "check/sites.hpp"
#include "muster/check/report.hpp"

namespace muster::check {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::deadlock: return "deadlock";
    case Kind::race: return "race";
    case Kind::stale_pass: return "stale pass";
    case Kind::clobber: return "clobber";
    case Kind::credits: return "credits";
    case Kind::scope: return "scope";
    case Kind::domain: return "domain";
    case Kind::divergence: return "divergence";
    case Kind::noncoherent: return "noncoherent";
    case Kind::expect: return "expect";
    case Kind::contract: return "contract";
    case Kind::body: return "body";
  }
  return "?";
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::certified: return "certified";
    case Verdict::complete: return "complete";
    case Verdict::bounded: return "bounded";
    case Verdict::refuted: return "refuted";
  }
  return "?";
}

const char* name_of(Profile profile) {
  switch (profile) {
    case Profile::rdma: return "rdma";
    case Profile::direct: return "direct";
    case Profile::sc: return "sc";
    case Profile::noncoherent: return "noncoherent";
  }
  return "?";
}

std::optional<Profile> profile_of(const std::string& name) {
  for (const Profile profile : {Profile::rdma, Profile::direct, Profile::sc, Profile::noncoherent})
    if (name == name_of(profile)) return profile;
  return std::nullopt;
}

std::string Site::key() const {
  return fmt::format("{}:{}:{}:{}", file, line, column, operation);
}

bool Report::has(Kind kind) const {
  for (const Finding& finding : findings)
    if (finding.kind == kind) return true;
  return false;
}

namespace engine {

namespace {
std::string_view last_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}
}  // namespace

Site site_of(const char* operation, Where where) {
  Site site;
  site.file = last_part(where.at.file_name());
  site.line = where.at.line();
  site.column = where.at.column();
  site.operation = operation;
  return site;
}

const char* word(Order order) {
  switch (order) {
    case Order::relaxed: return "relaxed";
    case Order::acquire: return "acquire";
    case Order::release: return "release";
    case Order::acq_rel: return "acq_rel";
  }
  return "?";
}

bool is_in(Where where, const std::string& file) {
  return last_part(where.at.file_name()) == file;
}

bool same_place(std::source_location a, std::source_location b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0;
}

namespace {
std::string line_of(std::source_location place) {
  return fmt::format("{}:{}", last_part(place.file_name()), place.line());
}
}  // namespace

std::string short_place(Where where) {
  if (!where.is_called()) return line_of(where.at);
  return fmt::format("{}, in {}", line_of(where.from), line_of(where.at));
}

}  // namespace engine
}  // namespace muster::check
