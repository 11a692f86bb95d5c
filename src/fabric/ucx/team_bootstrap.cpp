#include "fabric/ucx/team_bootstrap.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace muster::ucx {

Result<std::vector<std::string>> TeamBootstrap::all_gather(std::string_view own,
                                                           std::chrono::nanoseconds /*within*/) {
  const auto lengths = team_.window<std::uint64_t>({1});
  if (!lengths) return lengths.error();
  std::vector<std::uint64_t> of(team_.size());
  const auto told = team_.lane([&](auto& fabric) { fabric.local(*lengths)[0] = own.size(); });
  if (!told) return told.error();
  if (const auto met = team_.sync(); !met) return met.error();
  const auto heard = team_.lane([&](auto& fabric) {
    for (std::uint32_t peer = 0; peer < fabric.size(); ++peer)
      of[peer] = fabric.address(*lengths, Rank{peer})[0];
  });
  if (!heard) return heard.error();
  const auto most = static_cast<std::int64_t>(std::max<std::uint64_t>(1, std::ranges::max(of)));
  const auto bytes = team_.window<std::uint8_t>({most});
  if (!bytes) return bytes.error();
  const auto shown = team_.lane([&](auto& fabric) {
    if (!own.empty()) std::memcpy(fabric.local(*bytes).data(), own.data(), own.size());
  });
  if (!shown) return shown.error();
  if (const auto met = team_.sync(); !met) return met.error();
  std::vector<std::string> all;
  const auto read = team_.lane([&](auto& fabric) {
    for (std::uint32_t peer = 0; peer < fabric.size(); ++peer) {
      const auto* const from = fabric.address(*bytes, Rank{peer}).data();
      all.emplace_back(reinterpret_cast<const char*>(from), of[peer]);
    }
  });
  if (!read) return read.error();
  if (const auto freed = team_.free(*bytes); !freed) return freed.error();
  if (const auto freed = team_.free(*lengths); !freed) return freed.error();
  return all;
}

}  // namespace muster::ucx
