// StreamLane: notify and wait as operations of a CUDA stream. A stream that waits occupies no
// multiprocessor, and no kernel is launched: the GPU's front end writes and polls the word.
//
//   gpu::StreamLane lane(world, Rank{0}, stream);
//   handoff.vacant(lane);                       // see muster/handoff.hpp: safe in replayed graphs
//   world.launch_on(0, stream, fill_kernel, ...).value();
//   handoff.post(lane, Rank{1});
//   lane.result().value();                      // what was wrong with any of the calls
//
// WHAT IT ORDERS (CUDA 13.0 driver API, section 6.21 and enums CUstreamWriteValue_flags and
// CUstreamWaitValue_flags)
//
//  - A notify is cuStreamWriteValue32 with CU_STREAM_WRITE_VALUE_DEFAULT: "a memory fence before
//    the write, which has similar semantics to __threadfence_system() but is scoped to the stream".
//    So it is a release of all earlier work of the stream. The interface has no weaker form (the
//    flag that leaves the fence out is refused), so Order::relaxed is a release too.
//  - A wait is cuStreamWaitValue32: work after it starts once the condition has held. CUDA says
//    nothing more of what that work sees, except for writes that arrive from elsewhere than the own
//    GPU's memory system, which it may reorder unless the wait carries CU_STREAM_WAIT_VALUE_FLUSH.
//    That flag is given wherever the device has it (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES).
//    Where it has not, muster relies on two things: a fence of system scope has made the peer's
//    writes over NVLink or within the GPU visible before its deposit is, and a kernel or copy that
//    starts after the wait reads no cache older than its start (contract 10).
//    This is tested on every replay of tests/gpu/streams.cu, not promised by CUDA.
//  - gt is ge of value + 1: the same where seen and value are less than 2^31 apart.
//
// WHERE IT MAY BE USED
//
//  - On every signal of the world, also on a peer's and on adopted memory: the words must be device
//    memory that this GPU maps, by peer access or by cuMemMap; managed memory is refused by CUDA.
//  - Under stream capture: the operations become batch memory operation nodes. Their values are
//    baked in, so an epoch that grows cannot be waited for in a graph that is replayed: use
//    muster/handoff.hpp there.
//  - With kernels at the other end: notify and wait in a kernel work on the same cells. One writer
//    per cell holds here as everywhere; there is no add, so no CreditBarrier.
//
// WHAT IT DOES NOT DO
//
//  - No deadline and no abort reaches a stream's wait. It ends when somebody writes the word: a
//    notify_on() to the own rank from another stream does.
//  - CUDA does not see this order. Work that waits for other work of the SAME GPU through it must
//    not be put where CUDA may run the two one after the other: in one stream, in one graph branch,
//    in two streams that share a hardware queue (CUDA_DEVICE_MAX_CONNECTIONS, 8 by default), or
//    behind an operation of the legacy default stream. Between GPUs there is no such danger.
#pragma once

#include <optional>

#include "muster/fabric/gpu/world.hpp"
#include "muster/result.hpp"
#include "muster/types.hpp"

namespace muster::gpu {

// One rank's strand of work on one stream: notify and wait put operations into the stream and
// return at once. Protocols that need no more of a fabric run on it unchanged.
//
// The first error stays, and nothing is put into the stream after it: wait() returns `invalid`,
// result() says why. `ok` means that the wait is in the stream, not that it has ended.
class StreamLane {
 public:
  // `rank` is of this process, `stream` of its GPU or null; the first operation says if not.
  StreamLane(World world, Rank rank, Stream stream);

  // Annotated as protocols are, which call them; they are not for kernels, which do not link then.
  [[nodiscard]] MUSTER_FN Rank rank() const { return rank_; }
  [[nodiscard]] std::uint32_t size() const { return world_.size(); }
  [[nodiscard]] Stream stream() const { return stream_; }

  // `op` is set. Always a release.
  MUSTER_FN void notify(Signal signal, Rank peer, std::uint32_t value, NotifyOp op = NotifyOp::set,
                        Order order = Order::release);
  // `compare` is eq, ge or gt. Always an acquire.
  MUSTER_FN WaitStatus wait(Signal signal, Compare compare, std::uint32_t value,
                            Order order = Order::acquire);

  [[nodiscard]] Result<void> result() const;

 private:
  World world_;
  Rank rank_;
  Stream stream_;
  std::optional<Error> error_;
};

}  // namespace muster::gpu
