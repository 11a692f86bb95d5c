#include "net/pmix_bootstrap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "net/place.hpp"
#include "net/pmix_library.hpp"
#include "net/wire.hpp"

namespace muster::detail::net {
namespace {

using namespace std::chrono_literals;

constexpr auto for_the_servers_to_say = 1s;  // who has come and who has not
constexpr std::size_t most_names = 16;

// What PMIx's thread tells, also when nobody waits for it any more: it is kept by both.
struct Told {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<pmix_status_t> status;  // of the fence
  std::vector<bool> has_come;           // by rank
  std::uint32_t answers = 0;
};
using Kept = std::shared_ptr<Told>;

struct OneRank {
  Kept told;
  std::uint32_t rank;
};

void on_fence(pmix_status_t status, void* data) {
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(data));
  const std::lock_guard guard((*kept)->mutex);
  (*kept)->status = status;
  (*kept)->changed.notify_all();
}

void on_value(pmix_status_t status, pmix_value_t*, void* data) {
  const std::unique_ptr<OneRank> one(static_cast<OneRank*>(data));
  const std::lock_guard guard(one->told->mutex);
  one->told->has_come[one->rank] = status == PMIX_SUCCESS;
  ++one->told->answers;
  one->told->changed.notify_all();
}

bool wait(Told& told, Clock::time_point until, const std::function<bool()>& condition) {
  std::unique_lock lock(told.mutex);
  return told.changed.wait_until(lock, until, condition);
}

class PmixBootstrap final : public Bootstrap {
 public:
  PmixBootstrap(const PmixLibrary& pmix, const pmix_proc_t& self) : pmix_(pmix), self_(self) {}
  ~PmixBootstrap() override { pmix_.finalize(nullptr, 0); }

  // Asks how many ranks there are.
  [[nodiscard]] Result<void> measure() {
    pmix_proc_t job = self_;
    job.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* value = nullptr;
    const pmix_status_t status = pmix_.get(&job, PMIX_JOB_SIZE, nullptr, 0, &value);
    if (status != PMIX_SUCCESS || value->type != PMIX_UINT32)
      return refused("how many ranks there are", status);
    size_ = value->data.uint32;
    std::free(value);
    return {};
  }

  [[nodiscard]] Rank rank() const override { return Rank{self_.rank}; }
  [[nodiscard]] std::uint32_t size() const override { return size_; }

  [[nodiscard]] Result<std::vector<std::string>> all_gather(
      std::string_view own, std::chrono::nanoseconds within) override {
    if (const auto fits = check_entry(own); !fits) return fits.error();
    if (failed_) return *failed_;
    // Every rank comes to the same exchanges in the same order. Relaxed: it only counts.
    static std::atomic<std::uint32_t> exchanges{0};
    const std::string key =
        fmt::format("muster.{}", exchanges.fetch_add(1, std::memory_order_relaxed));
    auto all = exchange(key, own, within);
    if (!all) failed_ = all.error();
    return all;
  }

 private:
  [[nodiscard]] Result<std::vector<std::string>> exchange(const std::string& key,
                                                          std::string_view own,
                                                          std::chrono::nanoseconds within) {
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = const_cast<char*>(own.data());
    value.data.bo.size = own.size();
    pmix_status_t status = pmix_.put(PMIX_GLOBAL, key.c_str(), &value);
    if (status == PMIX_SUCCESS) status = pmix_.commit();
    if (status != PMIX_SUCCESS) return refused("to take what this rank brings", status);

    const auto until = Clock::now() + within;
    const auto told = std::make_shared<Told>();
    pmix_info_t collect{};
    std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    auto* kept = new Kept(told);
    status = pmix_.fence(nullptr, 0, &collect, 1, on_fence, kept);
    if (status != PMIX_SUCCESS) {
      delete kept;
      return refused("to gather what ranks bring", status);
    }
    if (!wait(*told, until, [&] { return told->status.has_value(); })) return missing(key, within);
    if (*told->status != PMIX_SUCCESS) {
      return Error{ErrorCode::peer_lost,
                   fmt::format("the launcher's PMIx servers gave up gathering what ranks bring: {}",
                               pmix_.error_string(*told->status)),
                   rank()};
    }
    std::vector<std::string> all(size_);
    for (std::uint32_t other = 0; other < size_; ++other) {
      auto brought = brought_by(other, key);
      if (!brought) return brought.error();
      all[other] = std::move(*brought);
    }
    return all;
  }

  [[nodiscard]] pmix_proc_t proc_of(std::uint32_t other) const {
    pmix_proc_t proc = self_;
    proc.rank = other;
    return proc;
  }

  [[nodiscard]] Result<std::string> brought_by(std::uint32_t other, const std::string& key) {
    const pmix_proc_t proc = proc_of(other);
    pmix_value_t* value = nullptr;
    const pmix_status_t status = pmix_.get(&proc, key.c_str(), nullptr, 0, &value);
    if (status != PMIX_SUCCESS || value->type != PMIX_BYTE_OBJECT)
      return refused(fmt::format("what rank {} brings", other), status);
    std::string bytes(value->data.bo.bytes, value->data.bo.size);
    std::free(value->data.bo.bytes);
    std::free(value);
    return bytes;
  }

  // "rank 3 on node-b": the launcher has told where each rank is.
  [[nodiscard]] std::string name_of(std::uint32_t other) {
    const pmix_proc_t proc = proc_of(other);
    pmix_info_t here{};
    std::strncpy(here.key, PMIX_OPTIONAL, PMIX_MAX_KEYLEN);
    here.value.type = PMIX_BOOL;
    here.value.data.flag = true;
    pmix_value_t* value = nullptr;
    const pmix_status_t status = pmix_.get(&proc, PMIX_HOSTNAME, &here, 1, &value);
    if (status != PMIX_SUCCESS || value->type != PMIX_STRING) return fmt::format("rank {}", other);
    std::string name = fmt::format("rank {} on {}", other, value->data.string);
    std::free(value->data.string);
    std::free(value);
    return name;
  }

  // The fence does not say who has not come: each rank's own server does.
  [[nodiscard]] Error missing(const std::string& key, std::chrono::nanoseconds within) {
    const auto told = std::make_shared<Told>();
    told->has_come.resize(size_);
    std::uint32_t asked = 0;
    for (std::uint32_t other = 0; other < size_; ++other) {
      const pmix_proc_t proc = proc_of(other);
      auto* one = new OneRank{told, other};
      if (pmix_.get_later(&proc, key.c_str(), nullptr, 0, on_value, one) == PMIX_SUCCESS)
        ++asked;
      else
        delete one;
    }
    static_cast<void>(
        wait(*told, Clock::now() + for_the_servers_to_say, [&] { return told->answers == asked; }));
    std::vector<bool> has_come;
    {
      const std::lock_guard guard(told->mutex);
      has_come = told->has_come;
    }
    std::vector<std::string> names;
    std::optional<Rank> first;
    std::uint32_t late = 0;
    for (std::uint32_t other = 0; other < size_; ++other) {
      if (has_come[other] || other == self_.rank) continue;
      if (!first) first = Rank{other};
      if (++late <= most_names) names.push_back(name_of(other));
    }
    const std::string more =
        late > most_names ? fmt::format(" and {} more", late - most_names) : "";
    const std::string who =
        late == 0 ? "a rank" : fmt::format("{}{}", fmt::join(names, ", "), more);
    return {
        ErrorCode::expired,
        fmt::format("{} ha{} not come within {}", who, late < 2 ? "s" : "ve", in_seconds(within)),
        rank(),
        {},
        first};
  }

  [[nodiscard]] Error refused(const std::string& what, pmix_status_t status) const {
    return {
        ErrorCode::unavailable,
        fmt::format("the launcher's PMIx server refuses {}: {}", what, pmix_.error_string(status)),
        rank()};
  }

  const PmixLibrary& pmix_;
  pmix_proc_t self_;
  std::uint32_t size_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

bool has_pmix() {
  return std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr;
}

Result<std::unique_ptr<Bootstrap>> meet_by_pmix() {
  const auto library = pmix_library();
  if (!library) return library.error();
  pmix_proc_t self{};
  const pmix_status_t status = (*library)->init(&self, nullptr, 0);
  if (status != PMIX_SUCCESS) {
    return Error{ErrorCode::unavailable,
                 fmt::format("the launcher's PMIx server does not answer: {}",
                             (*library)->error_string(status))};
  }
  auto bootstrap = std::make_unique<PmixBootstrap>(**library, self);
  if (const auto measured = bootstrap->measure(); !measured) return measured.error();
  return std::unique_ptr<Bootstrap>(std::move(bootstrap));
}

}  // namespace muster::detail::net
