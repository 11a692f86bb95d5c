#!/usr/bin/env python3
"""muster's FlipBarrier on the signal pad of PyTorch's symmetric memory, between two GPUs.

    torchrun --nproc-per-node 2 flip_barrier.py        or        python3 flip_barrier.py

What it shows, and checks on every element:

  - kernels of muster and handle.barrier() take turns on the same cells of the same pad;
  - a sum over the ranks by pulling (barriers `entry` and `exit`) and by pushing (`full`, `exit`);
  - both at once in a CUDA graph that is replayed;
  - the pad is zero afterwards;
  - how long a barrier takes in a graph: muster's, PyTorch's, and the ratio.

Options: --library PATH (libmuster_pytorch.so; default: beside this file), --rounds N, --replays N,
--backend nccl|gloo, --json FILE. Exit codes: 0 OK or SKIPPED (with the reason), 1 failed, 2 usage.
"""
import argparse
import ctypes
import json
import os
import pathlib
import statistics
import sys
import tempfile

# Without multicast: handle.barrier() then is the barrier on the pad. Read when torch is loaded.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")

RANKS = 2
LANES = 4
ELEMENTS = 100_003  # no multiple of anything
DEADLINE_S = 10.0


def skip(why):
    print(f"SKIPPED: {why}", flush=True)
    sys.exit(0)


class Muster:
    """libmuster_pytorch.so, with errors as exceptions."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        pointer, u32, u64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
        signatures = {
            "error": (ctypes.c_char_p, []),
            "bytes": (u64, [u32, u64]),
            "attach": (pointer, [u32, u32, ctypes.c_int, u32, u64, pointer, pointer, u64, ctypes.c_double]),
            "pull": (ctypes.c_int, [pointer, pointer, pointer]),
            "push": (ctypes.c_int, [pointer, pointer, pointer, pointer]),
            "flip_barrier": (ctypes.c_int, [pointer, pointer]),
            "epoch_barrier": (ctypes.c_int, [pointer, pointer]),
            "check": (ctypes.c_int, [pointer]),
            "detach": (None, [pointer]),
        }
        for name, (result, arguments) in signatures.items():
            function = getattr(self.lib, f"muster_torch_{name}")
            function.restype, function.argtypes = result, arguments
        self.attached = None

    def fail(self, what):
        raise RuntimeError(f"{what}: {self.lib.muster_torch_error().decode()}")

    def bytes_for(self, ranks, elements):
        return self.lib.muster_torch_bytes(ranks, elements)

    def attach(self, rank, device, buffers, pads, pad_bytes):
        def array(values):
            return (ctypes.c_void_p * len(values))(*values)

        self.attached = self.lib.muster_torch_attach(
            rank, len(buffers), device, LANES, ELEMENTS, array(buffers), array(pads), pad_bytes, DEADLINE_S
        )
        if not self.attached:
            self.fail("attach")

    def call(self, name, *arguments):
        """On the current stream of torch, so that it is ordered with torch's own work."""
        stream = torch.cuda.current_stream().cuda_stream
        pointers = [argument.data_ptr() for argument in arguments]
        if getattr(self.lib, f"muster_torch_{name}")(self.attached, stream, *pointers) != 0:
            self.fail(name)

    def check(self):
        if self.lib.muster_torch_check(self.attached) != 0:
            self.fail("a kernel")

    def detach(self):
        self.lib.muster_torch_detach(self.attached)
        self.attached = None


class Program:
    """One rank. `wrong` counts wrong elements, on the GPU."""

    def __init__(self, rank, muster):
        self.rank, self.muster = rank, muster
        self.device = torch.device("cuda", rank)
        size = muster.bytes_for(RANKS, ELEMENTS)
        self.buffer = symm_mem.empty(size, dtype=torch.uint8, device=self.device)
        self.handle = symm_mem.rendezvous(self.buffer, dist.group.WORLD)
        self.buffer.zero_()
        self.shared = self.buffer[: 4 * ELEMENTS].view(torch.float32)
        self.pad_bytes = int(getattr(self.handle, "signal_pad_size", 0) or symm_mem.get_signal_pad_size())
        # buffer_ptrs are those of the whole allocation; the tensor may begin later in it.
        offset = self.buffer.data_ptr() - self.handle.buffer_ptrs[rank]
        buffers = [pointer + offset for pointer in self.handle.buffer_ptrs]
        muster.attach(rank, rank, buffers, list(self.handle.signal_pad_ptrs), self.pad_bytes)
        self.index = torch.arange(ELEMENTS, device=self.device, dtype=torch.float32) % 1000
        self.round = torch.zeros((), device=self.device)
        self.source = torch.empty(ELEMENTS, device=self.device)
        self.out = torch.empty(ELEMENTS, device=self.device)
        self.wrong = torch.zeros((), device=self.device, dtype=torch.int64)
        torch.cuda.synchronize()
        dist.barrier()  # all buffers are zero before anybody's first kernel

    def values(self, rank):
        """Whole numbers below 2^24: sums of them are exact."""
        return self.index * (rank + 1) + self.round * (2 * rank + 1)

    def count_wrong(self):
        expected = sum(self.values(rank) for rank in range(RANKS))
        self.wrong += (self.out != expected).sum()
        self.out.fill_(-1)

    def one_round(self, channel):
        """Two exchanges of muster's, with PyTorch's barrier between them, on the same cells."""
        self.shared.copy_(self.values(self.rank))  # an earlier kernel's writes: `entry` shows them
        self.muster.call("pull", self.out)
        self.count_wrong()
        self.handle.barrier(channel=channel)
        self.source.copy_(self.values(self.rank))
        self.muster.call("push", self.source, self.out)
        self.count_wrong()
        self.handle.barrier(channel=channel)
        self.round += 1

    def eager(self, rounds):
        for number in range(rounds):
            if number % 7 == self.rank:  # now the one, now the other is late
                torch.cuda._sleep(200_000)
            self.one_round(number % LANES)
        torch.cuda.synchronize()
        self.muster.check()

    def replayed(self, replays):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self.one_round(0)
            self.one_round(LANES - 1)
        for number in range(replays):
            if number % 97 == self.rank:
                torch.cuda._sleep(200_000)
            graph.replay()
            if number % 1000 == 999:
                self.round.zero_()  # stays exact
        torch.cuda.synchronize()
        self.muster.check()

    def nonzero_cells(self):
        pad = self.handle.get_signal_pad(self.rank, [self.pad_bytes // 4], dtype=torch.int32)
        return int(pad.cpu().count_nonzero())

    def time_of(self, barrier, calls=200, replays=40):
        """Microseconds for each barrier in a graph of `calls` launches: the median of the replays."""
        barrier()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            for _ in range(calls):
                barrier()
        begin = [torch.cuda.Event(enable_timing=True) for _ in range(replays)]
        end = [torch.cuda.Event(enable_timing=True) for _ in range(replays)]
        for _ in range(5):
            graph.replay()
        for one, other in zip(begin, end):
            one.record()
            graph.replay()
            other.record()
        torch.cuda.synchronize()
        self.muster.check()
        return statistics.median(one.elapsed_time(other) for one, other in zip(begin, end)) * 1000 / calls

    def times(self):
        """Interleaved three times; the best of each."""
        barriers = {
            "muster FlipBarrier on the pad": lambda: self.muster.call("flip_barrier"),
            "muster EpochBarrier": lambda: self.muster.call("epoch_barrier"),
            "handle.barrier()": lambda: self.handle.barrier(channel=0),
        }
        found = {name: [] for name in barriers}
        for _ in range(3):
            for name, barrier in barriers.items():
                found[name].append(self.time_of(barrier))
        return {name: min(values) for name, values in found.items()}


def report(times, options):
    theirs = times["handle.barrier()"]
    print("one barrier, a launch each, in a CUDA graph:")
    for name, value in times.items():
        print(f"  {name:32} {value:7.2f} us   {value / theirs:5.2f} of handle.barrier()")
    if options.json:
        pathlib.Path(options.json).write_text(
            json.dumps({"torch": torch.__version__, "ranks": RANKS, "us": times}, indent=2) + "\n", encoding="utf-8"
        )


def total(value):
    """The sum of an integer over the ranks."""
    number = torch.tensor(value, device="cuda" if dist.get_backend() == "nccl" else "cpu", dtype=torch.int64)
    dist.all_reduce(number)
    return int(number.item())


def problems_of(program, options):
    program.eager(options.rounds)
    program.replayed(options.replays)
    problems = []
    if wrong := total(int(program.wrong.item())):
        problems.append(f"{wrong} elements were wrong")
    if cells := total(program.nonzero_cells()):
        problems.append(f"{cells} cells of the signal pads are not zero")
    return problems


def run_rank(rank, options, init_method):
    torch.cuda.set_device(rank)
    device = {"device_id": torch.device("cuda", rank)} if options.backend == "nccl" else {}
    dist.init_process_group(options.backend, init_method=init_method, rank=rank, world_size=RANKS, **device)
    muster = Muster(options.library)
    program = Program(rank, muster)
    problems = problems_of(program, options)
    times = program.times() if not problems else None
    if times and (cells := total(program.nonzero_cells())):
        problems.append(f"after the timing, {cells} cells of the signal pads are not zero")
    if rank == 0:
        for problem in problems:
            print(f"FAILED: {problem}")
        if not problems:
            report(times, options)
            print(f"OK: {options.rounds} rounds and {2 * options.replays} replayed ones, torch {torch.__version__}")
        sys.stdout.flush()
    dist.barrier()
    muster.detach()
    dist.destroy_process_group()
    if problems:
        sys.exit(1)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = pathlib.Path(__file__).resolve().parent / "libmuster_pytorch.so"
    parser.add_argument("--library", type=pathlib.Path, default=beside)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--replays", type=int, default=2000)
    parser.add_argument("--backend", choices=["nccl", "gloo"], default="nccl")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    options = parse()
    first = os.environ.get("RANK", "0") == "0"
    why = None
    if torch is None:
        why = f"torch cannot be imported ({missing})"
    elif symm_mem is None:
        why = f"torch {torch.__version__} has no symmetric memory ({missing})"
    elif torch.cuda.device_count() < RANKS:
        why = f"two GPUs are needed, torch sees {torch.cuda.device_count()}"
    elif not options.library.exists():
        why = f"{options.library} does not exist: build the target muster_pytorch"
    if why:
        skip(why) if first else sys.exit(0)
    if "RANK" in os.environ:
        if int(os.environ["WORLD_SIZE"]) != RANKS:
            sys.exit(f"FAILED: started with {os.environ['WORLD_SIZE']} ranks; torchrun --nproc-per-node {RANKS}")
        run_rank(int(os.environ["RANK"]), options, "env://")
        return
    with tempfile.TemporaryDirectory() as directory:
        torch.multiprocessing.spawn(run_rank, (options, f"file://{directory}/rendezvous"), nprocs=RANKS)


torch = symm_mem = missing = None
try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing
    import torch.distributed._symmetric_memory as symm_mem
except ImportError as error:
    missing = error

if __name__ == "__main__":
    main()
