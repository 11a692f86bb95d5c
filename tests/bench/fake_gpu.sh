#!/bin/sh
# Stands in for muster-bench-gpu and its peers, as the tests tell it: answers as src/bench/program.hpp
# says, without a GPU. What it does follows from its name and from the environment.
tab=$(printf '\t')
name=$(basename "$0")
case $name in
  muster-bench-gpu)
    contenders="floor::bare|muster::EpochBarrier|peer:cas:compare-and-swap"
    times="100 150 300"
    mode=${FAKE_GPU:-}
    ;;
  *)
    contenders="peer:${name#muster-peer-}:$name barrier"
    times="200"
    mode=${FAKE_PEER:-}
    ;;
esac
[ "$mode" != dies ] || { echo "no luck today" >&2; exit 3; }
while IFS="$tab" read -r verb index warm_up calls blocks; do
  case $verb in
    devices)
      if [ "$mode" = no_gpu ]; then
        printf 'unavailable\tit needs 2 GPUs, and this machine has none\n'
      else
        printf 'devices\t2 x Imagined GPU\n'
      fi
      ;;
    list)
      if [ "$mode" = unavailable ]; then
        printf 'unavailable\tthere is nothing to measure it with\n'
      else
        echo "$contenders" | tr '|' '\n' | sed "s/\(.*\):\(.*\):\(.*\)/contender$tab\1$tab\2$tab\3$tab/"
      fi
      ;;
    run)
      [ "$mode" != dies_later ] || { echo "the kernel fell over" >&2; exit 3; }
      [ "$mode" != sleeps ] || sleep 600
      set -- $times
      shift "$index"
      printf 'ns'
      while [ "$blocks" -gt 0 ]; do
        printf '\t%s' "$1"
        blocks=$((blocks - 1))
      done
      printf '\n'
      ;;
  esac
  echo end
done
