// Blocks in which all lanes take part, or one of each rank: barriers, latches, semaphores.
#include "blocks.hpp"

namespace muster::fuzz {

// A barrier of a lane of each rank, called up to twice, between writes and reads of neighbours.
void Blocks::barrier() {
  const std::vector<std::uint32_t> members = one_per_rank();
  const auto ranks = static_cast<std::uint32_t>(members.size());
  if (ranks < 2) return;
  const std::uint32_t kind = random_.below(4);  // epochs, a counter, credits, counting down
  const std::uint32_t need = kind == 1 ? 1 : ranks;
  if (most_cells - cells_ < need) return;
  const std::uint32_t first = cells_;
  cells_ += need;
  const std::uint32_t written = element(), moved = element();
  const std::uint32_t calls = 1 + random_.below(ranks > 2 ? 1 : 2);
  for (const std::uint32_t m : members) {
    const std::uint32_t right = (rank_of(m) + 1) % ranks;
    emit(m, data(Kind::store, 0, written, 0, rank_of(m) + 1));
    emit(m, data(Kind::remote_store, right, moved, 0, rank_of(m) + 11));
  }
  for (std::uint32_t call = 1; call <= calls; ++call) {
    for (const std::uint32_t m : members) enter(m, kind, first, ranks, call);
  }
  for (const std::uint32_t m : members) {
    const std::uint32_t left = (rank_of(m) + ranks - 1) % ranks;
    emit(m, data(Kind::remote_load, left, 0, written, 0));
    if (random_.percent(60)) emit(m, data(Kind::load, 0, 0, moved, 0));
  }
}

void Blocks::enter(std::uint32_t m, std::uint32_t kind, std::uint32_t first, std::uint32_t ranks,
                   std::uint32_t call) {
  const std::uint32_t self = rank_of(m);
  if (kind == 1) emit(m, {.kind = Kind::flush});
  meet(m);
  for (std::uint32_t p = 0; p < ranks; ++p) {
    if (p == self) continue;
    if (kind == 0) emit(m, notify(first + self, p, call, NotifyOp::set));
    if (kind == 1) emit(m, notify(first, p, 1, NotifyOp::add));
    if (kind == 2) emit(m, notify(first + self, p, 1, NotifyOp::add));
    if (kind == 3) count_down(m, first, p);
  }
  if (kind == 1) emit(m, wait(first, Compare::ge, call * (ranks - 1)));
  for (std::uint32_t p = 0; p < ranks && kind != 1; ++p) {
    if (p == self) continue;
    const std::uint32_t strand = m * program_.threads;  // the waiter takes back: the same thread
    program_.code[strand].push_back(kind == 3 ? wait(first + p, Compare::le, 0)
                                              : wait(first + p, Compare::ge, kind == 0 ? call : 1));
    if (kind == 2)
      program_.code[strand].push_back(notify(first + p, self, ~0U, NotifyOp::add, Order::relaxed));
    if (kind == 2) program_.zero_cells |= 1U << (first + p);
  }
  meet(m);
}

// One more to come from p, here; one less to come from here, at p.
void Blocks::count_down(std::uint32_t m, std::uint32_t first, std::uint32_t p) {
  const std::uint32_t self = rank_of(m), strand = m * program_.threads;
  program_.code[strand].push_back(
      notify(first + p, self, 1, NotifyOp::add, maybe_relaxed(Order::release)));
  program_.code[strand].push_back(notify(first + self, p, ~0U, NotifyOp::add));
}

// Lane b lets the others go on, which write to it and count down.
void Blocks::latch() {
  const std::uint32_t b = random_.below(lanes());
  if (lanes() - 1 > most_elements - elements_) return;
  const std::uint32_t left = cell(), begun = cell();
  const bool adds = random_.percent(50);
  emit(b, notify(left, rank_of(b), lanes() - 1, adds ? NotifyOp::add : NotifyOp::set));
  for (std::uint32_t rank = 0; rank < program_.ranks; ++rank)
    tell(b, notify(begun, rank, 1, NotifyOp::set));
  std::vector<std::uint32_t> written;
  for (std::uint32_t a = 0; a < lanes(); ++a) {
    if (a == b) continue;
    hear(a, wait(begun, Compare::ge, 1));
    written.push_back(element());
    emit(a, data(Kind::remote_store, rank_of(b), written.back(), 0, a + 1));
    tell(a, notify(left, rank_of(b), ~0U, NotifyOp::add));
  }
  hear(b, wait(left, random_.percent(70) ? Compare::le : Compare::eq, 0));
  for (const std::uint32_t at : written) emit(b, data(Kind::load, 0, 0, at, 0));
}

// The lanes of a rank take one each and give it back; there are enough, or one too few.
void Blocks::semaphore() {
  const std::uint32_t rank = random_.below(program_.ranks), free = cell();
  const std::uint32_t least = random_.percent(80) ? program_.lanes : 1;
  for (std::uint32_t lane = rank * program_.lanes; lane < (rank + 1) * program_.lanes; ++lane) {
    const std::uint32_t strand = lane * program_.threads;
    auto& list = program_.code[strand];
    list.push_back(notify(free, rank, ~0U, NotifyOp::add, maybe_relaxed(Order::release)));
    list.push_back(wait(free, Compare::ge, ~least + 1));
    list.push_back(notify(free, rank, 1, NotifyOp::add));
  }
}

}  // namespace muster::fuzz
