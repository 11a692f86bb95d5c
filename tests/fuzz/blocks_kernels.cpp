// Programs of kernels that overlap: exchanges in slots whose data is its own flag, counters, data
// that a later kernel reads, notifies that speak for an earlier one.
#include "blocks.hpp"
#include "generator.hpp"

namespace muster::fuzz {
namespace {

class KernelBuilder {
 public:
  KernelBuilder(std::uint64_t seed, Profile profile)
      : random_(seed * 4 + 977 + static_cast<std::uint64_t>(profile)) {
    program_.profile = profile;
    program_.ranks = random_.percent(80) ? 2 : 3;
    program_.kernels = program_.ranks == 2 ? 2 + random_.below(3) : 2;
    sets_ = random_.percent(15) ? 1 : random_.percent(60) ? 2 : 3;
    program_.slots = sets_ * program_.ranks;
    program_.code.resize(program_.strands());
    program_.cells = program_.kernels;
    program_.elements = program_.kernels + 1;
  }

  Program build() {
    const std::uint32_t exchanges = random_.below(4);  // 0: none
    const bool counts = random_.percent(40);
    const bool passes = random_.percent(exchanges == 0 ? 80 : 30);
    const bool tells = random_.percent(exchanges == 0 ? 80 : 20);
    for (std::uint32_t kernel = 0; kernel < program_.kernels; ++kernel) {
      const bool early = random_.percent(8);
      for (std::uint32_t rank = 0; rank < program_.ranks; ++rank) {
        list_ = &program_.code[kernel * program_.in_kernel() + rank];
        kernel_ = kernel;
        if (passes) look_back(2);
        if (early && exchanges > 0) put_all(rank);
        if (early && tells) tell(rank);
        if (counts && random_.percent(8)) add({.kind = Kind::read_counter});
        if (kernel > 0 || random_.percent(30)) add({.kind = Kind::launch_wait});
        if (counts) add({.kind = Kind::read_counter});
        if (counts) add({.kind = Kind::write_counter, .value = kernel + 1});
        if (passes) look_back(1);
        if (passes) add(data(Kind::store, 0, kernel, 0, 5 + kernel));
        if (!early && tells) tell(rank);
        if (!early && exchanges > 0) put_all(rank);
        if (sets_ == 3 && exchanges > 0) clear_all(rank, kernel + 2);
        if (random_.percent(80)) add({.kind = Kind::launch_done});
        if (exchanges > 0) take_all(rank);
        if (tells) hear(rank);
      }
    }
    if (random_.percent(40)) spoil(program_, random_);
    return std::move(program_);
  }

 private:
  void add(const Op& op) { list_->push_back(op); }
  std::uint32_t place(std::uint32_t call, std::uint32_t writer) const {
    return call % sets_ * program_.ranks + writer;
  }
  template <class Visit>
  void each_peer(std::uint32_t rank, Visit visit) {
    for (std::uint32_t step = 1; step < program_.ranks; ++step)
      visit((rank + step) % program_.ranks);
  }
  void put_all(std::uint32_t rank) {
    each_peer(rank, [&](std::uint32_t peer) {
      add({.kind = Kind::put_sentinel,
           .peer = peer,
           .value = 1 + 10 * kernel_ + rank,
           .to = place(kernel_, rank)});
    });
  }
  void clear_all(std::uint32_t rank, std::uint32_t call) {
    each_peer(rank, [&](std::uint32_t peer) {
      add({.kind = Kind::clear_sentinel, .to = place(call, peer)});
    });
  }
  void take_all(std::uint32_t rank) {
    each_peer(rank, [&](std::uint32_t peer) {
      add({.kind = Kind::wait_sentinel, .to = place(kernel_, peer)});
      if (sets_ < 3) add({.kind = Kind::clear_sentinel, .to = place(kernel_, peer)});
    });
  }
  // What a kernel so many before this one has stored; now and then one too few.
  void look_back(std::uint32_t kernels) {
    if (kernels > 1 && random_.percent(10)) --kernels;
    if (kernel_ >= kernels && random_.percent(60))
      add(data(Kind::load, 0, 0, kernel_ - kernels, 0));
  }
  // Rank 1 hears, often relaxed, of what rank 0 has stored there, in this kernel or the last one.
  void tell(std::uint32_t rank) {
    if (rank != 0) return;
    const bool later = random_.percent(70);
    if (later && kernel_ > 0) add(notify(kernel_ - 1, 1, 1, NotifyOp::add, Order::relaxed));
    if (kernel_ + 1 == program_.kernels) return;
    add(data(Kind::remote_store, 1, program_.kernels, 0, kernel_));
    if (!later) add(notify(kernel_, 1, 1, NotifyOp::add, Order::release));
    told_ = later ? kernel_ + 1 : kernel_;
  }
  void hear(std::uint32_t rank) {
    if (rank != 1 || told_ != kernel_ || kernel_ == 0) return;
    add(wait(kernel_ - 1, Compare::ge, 1, random_.percent(50) ? Order::relaxed : Order::acquire));
    add(data(Kind::load, 0, 0, program_.kernels, 0));
  }

  Random random_;
  Program program_;
  std::vector<Op>* list_ = nullptr;
  std::uint32_t kernel_ = 0;
  std::uint32_t sets_ = 2;
  std::uint32_t told_ = ~0U;
};

}  // namespace

Program draw_kernels(std::uint64_t seed, Profile profile) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Program program = KernelBuilder(seed + (attempt << 40), profile).build();
    if (program.size() > 0 && program.size() <= 40 && well_formed(program)) return program;
  }
}

}  // namespace muster::fuzz
