#!/bin/sh
# Asks muster-peer-nccl ($1) what it can measure, with a library ($2) that says it is another NCCL.
printf 'list\tbarrier\t0\trelaxed, 32 threads\n' | LD_PRELOAD=$2 "$1"
