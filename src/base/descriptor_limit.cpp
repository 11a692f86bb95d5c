#include "base/descriptor_limit.hpp"

#include <algorithm>

namespace muster {
namespace {

constexpr rlim_t descriptors_in_use = 64;  // a guess at what a process has open besides

}  // namespace

DescriptorLimit::DescriptorLimit(std::uint64_t wanted) {
  if (getrlimit(RLIMIT_NOFILE, &old_) != 0) return;
  rlimit more = old_;
  more.rlim_cur = std::min<rlim_t>(old_.rlim_max, wanted + descriptors_in_use);
  if (more.rlim_cur > old_.rlim_cur) raised_ = setrlimit(RLIMIT_NOFILE, &more) == 0;
}

std::uint64_t DescriptorLimit::current() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

void DescriptorLimit::restore() {
  if (raised_) setrlimit(RLIMIT_NOFILE, &old_);
  raised_ = false;
}

}  // namespace muster
