// The operations of the source, and what is tried in the place of some of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "check/where.hpp"
#include "muster/check/report.hpp"
#include "muster/types.hpp"

namespace muster::check::engine {

// Options::changes, which stay as they are, and the sites that executions have come to while those
// were kept: one for each key. An order that varies at a site is kept as the first that is not
// relaxed.
class SiteChanges {
 public:
  explicit SiteChanges(const Options& options);

  void keep_sites(bool keep) { keeping_ = keep; }
  [[nodiscard]] std::vector<Site> sites() const;

  // The operation is made there.
  void come_to(const char* operation, Where where) {
    if (keeping_) ++keep(operation, where).times;
  }
  // The order that it is made with, where the source has written `order`.
  [[nodiscard]] Order order_of(const char* operation, Order order, Where where);
  // Its scope, likewise.
  [[nodiscard]] Scope scope_of(const char* operation, Scope scope, Where where);
  // Is this to be changed there?
  [[nodiscard]] bool has(const char* operation, Where where, Change change) const {
    return !options_.changes.empty() && tries(operation, where, change);
  }

  // Of the one converge that is tried behind a wait: is there one, and does this place come after?
  enum class Side : std::uint8_t { elsewhere, before, behind };
  [[nodiscard]] bool converges_behind() const { return converge_line_ > 0; }
  [[nodiscard]] Side side_of_converge(Where where) const;

 private:
  [[nodiscard]] bool tries(const char* operation, Where where, Change change) const;
  Site& keep(const char* operation, Where where);

  const Options& options_;
  bool keeping_ = false;
  std::map<std::string, Site> sites_;
  std::string converge_file_;
  std::uint32_t converge_line_ = 0;
};

}  // namespace muster::check::engine
