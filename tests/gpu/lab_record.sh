#!/bin/bash
# Records the lab on a real GPU, with nvcc's programs: times at the published sizes, counters at small ones, and the best
# rungs against NVIDIA's libraries. Needs nvcc, ncu and python3, no build of Ordito.
#
# usage: lab_record.sh OUTPUT_FOLDER [--build-only]
#   lab_times.json     to become lab/recorded.json, the column beside ours in `ordito lab run`
#   lab_counters.json  to become tests/lab/h200_counters.json, which the test lab.counters compares with
#   best_rungs.json    to become tests/gpu/best_rungs.json
set -euo pipefail
cd "$(dirname "$0")/../.."
output=$(realpath -m "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"

programs=$(python3 -c 'import json
print(*(program["name"] for program in json.load(open("lab/catalogue.json"))["programs"] if program["source"].endswith(".cu")))')
arch=native
[ "${2:-}" = --build-only ] && arch=sm_90 # there may be no GPU to ask
nvcc -O3 -std=c++17 -arch=$arch tests/gpu/best_rungs.cu -lcublas -lcusparse -o "$work/best_rungs" &
. tests/gpu/lab_build.sh
build_all $programs
[ -x "$work/best_rungs" ] || { echo "best_rungs did not compile"; exit 1; }
[ "${2:-}" = --build-only ] && exit

metrics=smsp__inst_executed.sum,smsp__inst_executed_op_branch.sum,smsp__sass_branch_targets.sum
metrics+=,smsp__sass_branch_targets_threads_divergent.sum,smsp__sass_branch_targets_threads_uniform.sum
metrics+=,smsp__sass_average_branch_targets_threads_uniform.pct
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
declare -A small=([reduction]=1048576 [histogram]=1048576 [saxpy]=1048576 [lookup]=1048576 [scan]=262144
  [rgb_histogram]=262144 [convolution]=65536 [matmul]=256 [transpose]=256 [queues]=15 [block_diagonal]=256
  [theory]=1000 [machine]=1000 [sorting]=16384 [graphs]=4096)
# Of these NVIDIA's own kernels would be counted, or nothing but copies.
uncounted=" streams transfer libraries montecarlo dgemm "
# Variants that are timed besides those that run by default: orders of loops and threads of the host, memory of the host.
declare -A more=([matmul]="cpu_ijk cpu_blocked openmp_1 openmp_2 columns rows rows_transposed naive_in_place
  zero_copy_naive zero_copy_shared")

# count PROGRAM: what the profiler counts of all variants at the small size
count() {
  echo "$1: counting"
  # --clock-control none: the profiler leaves the card's clocks alone.
  ncu --clock-control none --csv --print-units base --kernel-name-base function --metrics "$metrics" \
    --log-file "$work/$1.csv" "$work/$1" --json --rounds 1 --variant all \
    --size "${small[$1]:-65536}" > "$work/$1.counted" || echo "$1: no counters"
}

for program in $programs; do
  echo "$program: timing"
  "$work/$program" --json --rounds 5 > "$work/$program.times" || echo "$program: a variant is wrong"
  for variant in ${more[$program]:-}; do
    "$work/$program" --json --rounds 3 --variant "$variant" > "$work/$program.times.$variant" || echo "$variant is wrong"
  done
  [[ $uncounted == *" $program "* ]] || count "$program"
  python3 -B tests/gpu/lab_record.py "$work" "$output" $programs > "$work/recorded" # in case that time runs out
done
echo "best rungs"
"$work/best_rungs" --json > "$output/best_rungs.json" || echo "a best rung is wrong"
cat "$work/recorded"
