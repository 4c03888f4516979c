#!/bin/bash
# Records on a real GPU what only its profiler can tell, at the published sizes: throughputs, hit rates, stalls, and the
# launches' limits there. Needs nvcc, ncu and python3, no build of Ordito.
#
# usage: lab_profile.sh OUTPUT_FOLDER
#   lab_profiled.json  to become lab/profiled.json, which `ordito lab run` shows beside the published figures
#   profiles.tgz       everything that the profiler said
set -euo pipefail
cd "$(dirname "$0")/../.."
output=$(realpath -m "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output" "$work/profiles"
arch=native
. tests/gpu/lab_build.sh
build_all matmul reduction nested

metrics=gpu__time_duration.sum,smsp__inst_executed.sum
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
# Not every GPU has these.
ncu --query-metrics > "$work/known"
for metric in lts__t_sectors_srcunit_tex_op_read.sum lts__t_sectors_srcunit_tex_op_write.sum \
  smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio smsp__issue_inst0.avg.pct_of_peak_sustained_active; do
  grep -q "^${metric%%.*} " "$work/known" && metrics+=,$metric
done

# profile PROGRAM NAME SECTIONS OPTIONS...
# --clock-control none: the profiler leaves the card's clocks alone.
profile() {
  local sections=()
  for section in $3; do sections+=(--section "$section"); done
  ncu --clock-control none --csv --page raw --print-units base --kernel-name-base function "${sections[@]}" \
    --metrics "$metrics" --log-file "$work/profiles/$1.$2.csv" "$work/$1" --json --rounds 1 "${@:4}" \
    > "$work/profiles/$1.$2.json" || echo "$1 $2: status $?"
}
profile reduction ladder "SchedulerStats WarpStateStats LaunchStats"
profile nested ladder "SchedulerStats WarpStateStats LaunchStats"
for variant in zero_copy_shared_8 zero_copy_shared_16 zero_copy_shared zero_copy_naive zero_copy_naive_16 zero_copy_naive_8; do
  echo "matmul: $variant"
  profile matmul "$variant" "SpeedOfLight MemoryWorkloadAnalysis LaunchStats Occupancy" --variant "$variant"
done
tar -C "$work" -czf "$output/profiles.tgz" profiles
python3 -B tests/gpu/lab_profile.py "$work/profiles" "$output"
