#include "check/site_changes.hpp"

#include <utility>

#include "check/sites.hpp"

namespace muster::check::engine {

SiteChanges::SiteChanges(const Options& options) : options_(options) {
  for (const auto& [key, change] : options_.changes) {
    if (change != Change::converge_after || options_.threads == 1) continue;
    const auto colon = key.find(':');
    converge_file_ = key.substr(0, colon);
    converge_line_ = static_cast<std::uint32_t>(std::stoul(key.substr(colon + 1)));
  }
}

std::vector<Site> SiteChanges::sites() const {
  std::vector<Site> all;
  for (const auto& [key, site] : sites_) all.push_back(site);
  return all;
}

Site& SiteChanges::keep(const char* operation, Where where) {
  Site site = site_of(operation, where);
  return sites_.try_emplace(site.key(), std::move(site)).first->second;
}

Order SiteChanges::order_of(const char* operation, Order order, Where where) {
  if (keeping_) {
    Site& kept = keep(operation, where);
    if (kept.order == Order::relaxed) kept.order = order;
  }
  if (options_.profile == Profile::sc) return Order::acq_rel;
  if (options_.changes.empty()) return order;
  if (has(operation, where, Change::relax)) return Order::relaxed;
  if (has(operation, where, Change::release))
    return order == Order::acquire ? Order::acq_rel : Order::release;
  if (has(operation, where, Change::acquire))
    return order == Order::release ? Order::acq_rel : Order::acquire;
  return order;
}

Scope SiteChanges::scope_of(const char* operation, Scope scope, Where where) {
  if (scope == Scope::system) return scope;
  if (keeping_) {
    Site site = site_of(operation, where);
    sites_.try_emplace(site.key(), std::move(site)).first->second.narrow = true;
  }
  return has(operation, where, Change::widen) ? Scope::system : scope;
}

bool SiteChanges::tries(const char* operation, Where where, Change change) const {
  const auto at = options_.changes.find(site_of(operation, where).key());
  return at != options_.changes.end() && at->second == change;
}

SiteChanges::Side SiteChanges::side_of_converge(Where where) const {
  if (!is_in(where, converge_file_)) return Side::elsewhere;
  return where.at.line() <= converge_line_ ? Side::before : Side::behind;
}

}  // namespace muster::check::engine
