#include "muster/fabric/gpu/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/verify.hpp"
#include "fabric/gpu/bootstrap_calls.hpp"
#include "fabric/gpu/cuda_calls.hpp"
#include "fabric/gpu/state.hpp"

namespace muster::gpu {

namespace {

constexpr std::uint64_t window_align = 256;

std::uint32_t new_team_number() {
  std::random_device random;
  std::uint32_t number = 0;
  while (number == 0) number = random();
  return number;
}

[[noreturn]] void refuse_launch(std::string what) {
  throw Failure(Error{ErrorCode::invalid_argument, std::move(what)});
}

// Throws where MUSTER_VERIFY is wrong.
bool verifies(std::optional<bool> wish) {
  return wish ? *wish : verifies_by_default().value();
}

void check_devices(const std::vector<int>& devices) {
  if (devices.empty()) refuse_launch("a world needs at least one rank: devices is empty");
  int count = 0;
  must(cudaGetDeviceCount(&count), "counting GPUs");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0 || devices[i] >= count)
      refuse_launch(fmt::format("there is no GPU {}: this machine has {}", devices[i], count));
    const auto before = devices.begin() + static_cast<std::ptrdiff_t>(i);
    if (i > 0 && devices[i] != devices[i - 1] &&
        std::find(devices.begin(), before, devices[i]) != before)
      refuse_launch(
          fmt::format("the ranks of GPU {} are not next to each other in devices", devices[i]));
  }
}

void check_sizes(const WorldOptions& options) {
  if (options.lanes == 0) refuse_launch("lanes must be at least 1");
  if (options.cells == 0) refuse_launch("cells must be at least 1");
  (void)verifies(options.verify);
}

std::vector<Group> group_by_device(const std::vector<int>& devices, std::uint32_t first_rank) {
  std::vector<Group> groups;
  for (const int device : devices) {
    if (groups.empty() || groups.back().device != device) {
      Group group;
      group.device = device;
      group.first_rank = first_rank;
      groups.push_back(group);
    }
    ++groups.back().ranks;
    ++first_rank;
  }
  return groups;
}

std::uint64_t cell_region(const WorldOptions& options) {
  const std::uint64_t bytes = std::uint64_t{options.cells} * cell_bytes;
  return (bytes + window_align - 1) / window_align * window_align;
}

// Segment 0: cells, then windows.
void lay_out(World::State& state, const WorldOptions& options) {
  const std::uint64_t cells = cell_region(options);
  state.segments.push_back({state.memory->bases(), cells + options.bytes});
  state.cells = Range(0, options.cells);
  state.has_cells = true;
  state.windows = Range(cells, cells + options.bytes);
  state.lanes = options.lanes;
  state.deadline = options.deadline;
  state.on_expiry = options.on_expiry;
  state.verify = verifies(options.verify);
}

// What every process says of itself, and must agree on, but for the last two.
struct Hello {
  std::uint32_t lanes;
  std::uint32_t cells;
  std::uint64_t bytes;
  std::uint32_t ranks;
  std::uint32_t team;  // process 0's counts
};

void compare(const Hello& mine, const Hello& other, std::uint32_t me, std::uint32_t process) {
  const auto differ = [&](const char* what, std::uint64_t a, std::uint64_t b) {
    if (a != b)
      throw Failure(
          Error{ErrorCode::mismatch,
                fmt::format("process {} has {} = {}, process {} has {}", me, what, a, process, b)});
  };
  differ("lanes", mine.lanes, other.lanes);
  differ("cells", mine.cells, other.cells);
  differ("bytes", mine.bytes, other.bytes);
}

}  // namespace

World::State::~State() {
  for (const Group& group : groups) {
    if (group.stream != nullptr) (void)cudaStreamDestroy(group.stream);
    (void)cudaFree(group.claims);
    for (std::byte** far : group.far) (void)cudaFree(far);
  }
}

void World::State::equip_groups() {
  for (Group& group : groups) {
    const OnDevice on(group.device);
    must(cudaStreamCreateWithFlags(&group.stream, cudaStreamNonBlocking), "making a stream");
    void* claims = nullptr;
    must(cudaMalloc(&claims, ranks * sizeof(std::uint32_t)), "allocating claims");
    group.claims = static_cast<std::uint32_t*>(claims);
    must(cudaMemset(claims, 0, ranks * sizeof(std::uint32_t)), "clearing claims");
    for (const Bases& segment : segments) {
      if (ranks <= near_ranks) continue;
      const std::size_t bytes = ranks * sizeof(std::byte*);
      void* far = nullptr;
      must(cudaMalloc(&far, bytes), "allocating the addresses of the ranks");
      group.far.push_back(static_cast<std::byte**>(far));
      must(cudaMemcpy(far, segment.bases.data(), bytes, cudaMemcpyHostToDevice),
           "copying the addresses of the ranks");
    }
    must(cudaDeviceSynchronize(), "setting up a GPU");
  }
}

World::World(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<World> World::create(const WorldOptions& options) {
  return attempt([&]() -> Result<World> {
    check_devices(options.devices);
    check_sizes(options);
    auto state = std::make_shared<State>();
    state->ranks = static_cast<std::uint32_t>(options.devices.size());
    state->team = new_team_number();
    state->groups = group_by_device(options.devices, 0);
    state->memory = allocate_local(options.devices, cell_region(options) + options.bytes);
    state->failure_log = std::make_unique<FailureLog>(state->ranks);
    lay_out(*state, options);
    state->equip_groups();
    return World(std::move(state));
  });
}

Result<World> World::join(const WorldOptions& options, const Bootstrap& bootstrap) {
  return attempt([&]() -> Result<World> {
    check_devices(options.devices);
    check_sizes(options);
    const Hello mine{options.lanes, options.cells, options.bytes,
                     static_cast<std::uint32_t>(options.devices.size()), new_team_number()};
    const std::vector<Hello> all = gather_all(bootstrap, mine);
    auto state = std::make_shared<State>();
    std::uint32_t first_rank = 0;
    std::vector<std::uint32_t> ranks_of;
    for (std::uint32_t process = 0; process < bootstrap.processes(); ++process) {
      compare(mine, all[process], bootstrap.process, process);
      if (process < bootstrap.process) first_rank += all[process].ranks;
      state->ranks += all[process].ranks;
      ranks_of.push_back(all[process].ranks);
    }
    state->team = all[0].team;
    state->bootstrap = bootstrap;
    state->groups = group_by_device(options.devices, first_rank);
    state->memory =
        allocate_shared(options.devices, cell_region(options) + options.bytes, ranks_of, bootstrap);
    state->failure_log = std::make_unique<FailureLog>(state->ranks, bootstrap);
    lay_out(*state, options);
    state->equip_groups();
    meet(bootstrap);
    return World(std::move(state));
  });
}

Result<World> World::attach(const AttachOptions& options) {
  return attempt([&]() -> Result<World> {
    check_devices({options.device});
    if (options.lanes == 0) refuse_launch("lanes must be at least 1");
    if (options.memory.empty() || options.memory.size() > max_segments)
      refuse_launch(fmt::format("memory has {} segments; 1 to {} are possible",
                                options.memory.size(), max_segments));
    auto state = std::make_shared<State>();
    state->ranks = static_cast<std::uint32_t>(options.memory[0].bases.size());
    state->team = new_team_number();
    if (options.rank.value >= state->ranks)
      refuse_launch(fmt::format("rank {} of {} ranks", options.rank.value, state->ranks));
    for (const Adopted& adopted : options.memory) {
      if (adopted.bases.size() != state->ranks)
        refuse_launch(fmt::format("one segment has the addresses of {} ranks, another of {}",
                                  state->ranks, adopted.bases.size()));
      State::Bases segment{{}, adopted.bytes};
      for (void* base : adopted.bases) {
        if (base == nullptr) refuse_launch("the address of a rank's memory is null");
        segment.bases.push_back(static_cast<std::byte*>(base));
      }
      state->segments.push_back(std::move(segment));
    }
    state->groups = group_by_device({options.device}, options.rank.value);
    state->failure_log = std::make_unique<FailureLog>(state->ranks);
    state->lanes = options.lanes;
    state->deadline = options.deadline;
    state->on_expiry = options.on_expiry;
    state->verify = verifies(options.verify);
    state->equip_groups();
    return World(std::move(state));
  });
}

std::uint32_t World::size() const {
  return state_->ranks;
}
std::uint32_t World::max_lanes() const {
  return state_->lanes;
}
std::uint32_t World::number() const {
  return state_->team;
}
std::uint32_t World::groups() const {
  return static_cast<std::uint32_t>(state_->groups.size());
}
int World::device(std::uint32_t group) const {
  return state_->groups.at(group).device;
}
Rank World::first_rank(std::uint32_t group) const {
  return Rank{state_->groups.at(group).first_rank};
}
std::uint32_t World::ranks_of(std::uint32_t group) const {
  return state_->groups.at(group).ranks;
}
Stream World::stream(std::uint32_t group) const {
  return state_->groups.at(group).stream;
}
std::byte* World::base(std::uint32_t segment, Rank rank) const {
  return state_->segments.at(segment).bases.at(rank.value);
}
void World::set_deadline(std::chrono::nanoseconds deadline) {
  state_->deadline = deadline;
}

Handle World::handle(std::uint32_t number) const {
  const Group& group = state_->groups.at(number);
  Handle handle;
  for (std::size_t s = 0; s < state_->segments.size(); ++s) {
    Segment& segment = handle.segments[s];
    segment.bytes = state_->segments[s].bytes;
    if (state_->ranks <= near_ranks)
      std::copy(state_->segments[s].bases.begin(), state_->segments[s].bases.end(), segment.near);
    else
      segment.far = group.far[s];
  }
  handle.ranks = state_->ranks;
  handle.first_rank = group.first_rank;
  handle.ranks_here = group.ranks;
  handle.max_lanes = state_->lanes;
  handle.team = state_->team;
  handle.verify = state_->verify ? 1 : 0;
  handle.retries = state_->on_expiry == OnExpiry::retry ? 1 : 0;
  handle.notes = handle.retries != 0 || state_->failure_log->stop() != WaitStatus::ok ? 1 : 0;
  handle.cells_end = state_->memory != nullptr ? state_->windows.begin() : 0;
  handle.deadline_ns =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, state_->deadline.count()));
  handle.stop = state_->failure_log->stop_in_kernels();
  handle.claims = group.claims;
  handle.records = state_->failure_log->records_in_kernels();
  return handle;
}

}  // namespace muster::gpu
