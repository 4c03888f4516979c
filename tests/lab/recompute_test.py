#!/usr/bin/env python3
"""A value that is computed again is read no second time: half of the requests, and fewer than half of the sectors.

usage: recompute_test.py PATH/TO/ordito
"""
import json
import subprocess
import sys

REQUESTS, SECTORS = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum" for what in ("requests", "sectors"))


def counters(variant):
    text = subprocess.run([sys.argv[1], "lab", "run", "machine", "--size", "1000", "--variant", variant, "--json"],
                          check=True, capture_output=True, text=True).stdout
    row, = (row for row in json.loads(text)["variants"] if row["name"] == variant)
    return {key: row["metrics"][key] if "metrics" in row else row[key] for key in (REQUESTS, SECTORS)}


table, computed = counters("table"), counters("computed")
right = table[REQUESTS] == 2 * computed[REQUESTS] == 4000 and table[SECTORS] > 2 * computed[SECTORS] == 16000
print(f"table {table}, computed {computed}")
sys.exit(0 if right else 1)
