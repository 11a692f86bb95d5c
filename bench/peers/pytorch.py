#!/usr/bin/env python3
"""muster-peer-pytorch: the barrier of PyTorch's symmetric memory, in a graph, between two GPUs.

`muster bench --fabric gpu barrier` starts it; src/bench/program.hpp says what it is asked and
answers. It starts itself a second time, so that each GPU has a process.
"""

import os
import subprocess
import sys
import tempfile

NODES = 500  # barriers in the graph
TABLE = ["barrier", "a kernel each, in a graph"]


class Unavailable(Exception):
    """Nothing can be measured here; the text says why."""


def import_torch():
    try:
        import torch
        import torch.distributed._symmetric_memory
    except ImportError as error:
        raise Unavailable(f"{sys.executable} has no PyTorch with symmetric memory ({error})") from error
    if torch.cuda.device_count() < 2:
        raise Unavailable("it needs 2 GPUs")
    return torch


class Rank:
    """One of the two processes: joins the other through a file, then replays when told."""

    def __init__(self, rank, file):
        torch = import_torch()
        self.torch = torch
        torch.cuda.set_device(rank)
        store = torch.distributed.FileStore(file, 2)
        torch.distributed.init_process_group("nccl", store=store, rank=rank, world_size=2)
        memory = torch.distributed._symmetric_memory
        group = torch.distributed.group.WORLD.group_name
        self.buffer = memory.empty(1024, dtype=torch.float32, device=f"cuda:{rank}")
        self.handle = memory.rendezvous(self.buffer, group)
        self.stream = torch.cuda.Stream()
        with torch.cuda.stream(self.stream):
            self.handle.barrier(channel=0)
        self.stream.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream, capture_error_mode="thread_local"):
            for _ in range(NODES):
                self.handle.barrier(channel=0)

    def measure(self, calls):
        """Nanoseconds for one barrier, of at least so many calls."""
        replays = max(1, (calls + NODES - 1) // NODES)
        begin = self.torch.cuda.Event(enable_timing=True)
        end = self.torch.cuda.Event(enable_timing=True)
        with self.torch.cuda.stream(self.stream):
            begin.record()
            for _ in range(replays):
                self.graph.replay()
            end.record()
        self.stream.synchronize()
        return 1e6 * begin.elapsed_time(end) / (replays * NODES)


class Pair:
    """Rank 0, here, and rank 1, in a process of its own."""

    def __init__(self):
        self.torch = import_torch()
        self.directory = tempfile.TemporaryDirectory(prefix="muster-peer-pytorch-")
        file = os.path.join(self.directory.name, "store")
        self.other = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--rank-1", file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.mine = Rank(0, file)
        self.expect("joined")

    def expect(self, word):
        said = self.other.stdout.readline().strip()
        if said != word:
            raise RuntimeError(f"the second process says '{said}'" if said else "the second process has ended")

    def measure(self, calls):
        self.other.stdin.write(f"{calls}\n")
        self.other.stdin.flush()
        took = self.mine.measure(calls)
        self.expect("done")
        return took

    def close(self):
        """The second process ends with its stdin."""
        self.other.stdin.close()
        self.other.wait()
        self.directory.cleanup()


class Server:
    def __init__(self):
        self.pair = None
        self.listed = 0

    def reply(self, fields):
        """The lines of the reply."""
        if fields == ["devices"]:
            return [f"devices\t{import_torch().cuda.device_count()} GPUs"]
        if fields[0] == "list" and len(fields) == 4:
            torch = import_torch()
            self.listed = 1 if [fields[1], fields[3]] == TABLE else 0
            name = f"PyTorch {torch.__version__}, symmetric memory barrier"
            return [f"contender\tpeer\tpytorch\t{name}\t"] * self.listed
        if fields[0] == "run" and len(fields) == 5 and int(fields[1]) < self.listed:
            return [self.run(*(int(field) for field in fields[2:]))]
        return [f"failed\tthere is no request '{' '.join(fields)}'"]

    def run(self, warm_up, calls, blocks):
        if self.pair is None:
            self.pair = Pair()
        if warm_up > 0:
            self.pair.measure(warm_up)
        return "\t".join(["ns"] + [f"{self.pair.measure(calls):.3f}" for _ in range(blocks)])

    def answer(self, fields):
        try:
            return self.reply(fields)
        except Unavailable as why:
            return [f"unavailable\t{one_line(why)}"]
        except Exception as error:  # whatever PyTorch raises belongs into the table, not the end of us
            return [f"failed\t{one_line(error) or type(error).__name__}"]


def one_line(value):
    return " ".join(str(value).split())


def replies_apart():
    """A file for replies; what libraries write to stdout goes to stderr."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return replies


def second(file):
    out = replies_apart()
    rank = Rank(1, file)
    print("joined", file=out)
    for line in sys.stdin:
        rank.measure(int(line))
        print("done", file=out)


def main():
    # Through NVLink alone, without its multicast, as everything that is compared here.
    os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    if len(sys.argv) == 3 and sys.argv[1] == "--rank-1":
        second(sys.argv[2])
        return
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    out = replies_apart()
    server = Server()
    for line in sys.stdin:
        for reply in [*server.answer(line.rstrip("\n").split("\t")), "end"]:
            print(reply, file=out)
    if server.pair is not None:
        server.pair.close()
    sys.stderr.flush()
    os._exit(0)  # without the teardown of a process group whose other side has gone


if __name__ == "__main__":
    main()
