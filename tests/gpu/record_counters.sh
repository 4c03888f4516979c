#!/bin/bash
# Counts the accesses of access_patterns.cu with NVIDIA's profiler on a real GPU and writes access_counters.json.
# usage: record_counters.sh PROGRAM OUTPUT          PROGRAM is access_patterns.cu as nvcc compiled it
set -euo pipefail
program=$1 output=$2
metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,smsp__inst_executed_op_shared_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics+=,smsp__inst_executed_op_global_red.sum,smsp__inst_executed_op_shared_atom.sum
# --clock-control none: the profiler leaves the card's clocks alone.
ncu --clock-control none --csv --print-units base --metrics "$metrics" "$program" | python3 -c '
import csv, json, sys
rows = list(csv.DictReader(line for line in sys.stdin if line.startswith("\"")))
kernels = {}
for row in rows:
    name = row["Kernel Name"].split("(")[0]
    value = row["Metric Value"].replace(",", "")
    kernels.setdefault(name, {})[row["Metric Name"]] = int(float(value)) if value.replace(".", "").isdigit() else value
with open(sys.argv[1], "w") as out:
    out.write("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v, sort_keys=True)}" for k, v in kernels.items()) + "\n}\n")
print(len(kernels), "kernels")' "$output"
