#!/bin/sh
# Runs all GPU tests, then all GPU benchmarks, each under a time limit, and says at the end how each
# went. For a directory made by pack.sh.
#
#   run_all.sh [OUTPUT_DIRECTORY]      logs and JSON files go there; default: ./gpu-results
#
# ONLY="tests benches sanitizer pytorch" chooses parts, BENCHES="barrier notify put get packet grid"
# what is measured. Exit status: 0 if everything passed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-gpu-results}
parts=${ONLY:-tests benches sanitizer pytorch}
mkdir -p "$out"
libraries=$here/lib
# The peers' libraries, where they came with Python packages.
for package in nvidia.nccl nvidia.nvshmem; do
  found=$(python3 -c "import $package as p; print(list(p.__path__)[0])" 2>/dev/null || true)
  [ -z "$found" ] || libraries=$libraries:$found/lib
done
export LD_LIBRARY_PATH="$libraries:${LD_LIBRARY_PATH:-}"
summary="$out/summary.txt"
: > "$summary"
failed=0

has() { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

run() { # LOG SECONDS COMMAND...: runs it, keeps its output, notes how it ended
  log=$1 limit=$2
  shift 2
  begin=$(date +%s)
  timeout -k 5 "$limit" "$@" > "$out/$log.log" 2>&1
  status=$?
  took=$(($(date +%s) - begin))
  case $status in
    0) word=passed ;;
    124 | 137) word="OUT OF TIME after $limit s" ;;
    *) word="FAILED with status $status" ;;
  esac
  if [ $status -eq 0 ] && grep -q '^SKIPPED: ' "$out/$log.log"; then word="passed, with parts skipped"; fi
  [ $status -eq 0 ] || failed=1
  printf '%-28s %4s s  %s\n' "$log" "$took" "$word" | tee -a "$summary"
}

{ nvidia-smi -L; nvidia-smi topo -m; } > "$out/machine.log" 2>&1

if has tests; then
  for program in probe barriers lanes parts signals atomics messages transfers types reduce sentinels regions failures refusals deadlines async dumps graphs streams attach processes; do
    run "test_$program" 75 "$here/gpu_$program"
  done
  for ranks in 1 2 3 8; do run "test_ring_$ranks" 20 "$here/ring" $ranks; done
fi

# What `muster info` says of the GPUs, where it was packed.
if [ -x "$here/muster" ]; then
  "$here/muster" info > "$out/info.log" 2>&1
  "$here/muster" info --json > "$out/info.json" 2>> "$out/info.log"
fi

if has pytorch && [ -f "$here/pytorch/flip_barrier.py" ]; then
  run pytorch 180 python3 "$here/pytorch/flip_barrier.py" --json "$out/pytorch.json"
fi

if has sanitizer && command -v compute-sanitizer > /dev/null; then
  export CUDA_VISIBLE_DEVICES=0 MUSTER_TEST_DEADLINE=30
  for tool in memcheck synccheck initcheck; do
    run "sanitizer_${tool}_barriers" 40 compute-sanitizer --tool $tool --error-exitcode 9 \
      "$here/gpu_barriers" sanitized
    run "sanitizer_${tool}_transfers" 40 compute-sanitizer --tool $tool --error-exitcode 9 \
      "$here/gpu_transfers" sanitized
  done
  unset CUDA_VISIBLE_DEVICES MUSTER_TEST_DEADLINE
fi

if has benches; then
  for topic in ${BENCHES:-barrier notify put get packet grid}; do
    run "bench_$topic" 150 "$here/muster" bench --fabric gpu "$topic" --json "$out/$topic.json"
  done
fi

echo
echo "==== what failed or was skipped, and the facts"
grep -hE '^(FAILED|SKIPPED|    |=========.*(ERROR|error))' "$out"/test_*.log "$out"/sanitizer_*.log 2>/dev/null | cut -c1-220 | head -n 40
if [ -f "$out/pytorch.log" ]; then echo "==== PyTorch"; tail -n 12 "$out/pytorch.log" | cut -c1-200; fi
if [ -f "$out/info.log" ]; then sed -n '/^gpu /,/^$/p' "$out/info.log" | cut -c1-200; fi
echo "==== benchmarks (full tables: $out/bench_*.log)"
for log in "$out"/bench_*.log; do
  [ ! -f "$log" ] || cut -c1-150 "$log" | head -n 110
done
echo "==== summary"
cat "$summary"
exit $failed
