#!/usr/bin/env python3
"""What `ordito lab run streams` records of its operations: each stream in its order, and only those at once that may be.

usage: timeline_test.py PATH/TO/ordito
"""
import json
import os
import subprocess
import sys
import tempfile

failures = []


def expect(what, right):
    if not right:
        failures.append(what)


def recorded(ordito, plot):
    command = [ordito, "lab", "run", "streams", "--size", "65536", "--rounds", "1", "--json", "--plot", plot]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {result.returncode}:\n{result.stderr}")
    return {t["variant"]: t for t in json.loads(result.stdout)["timeline"]}


def in_order(timeline):
    """The operations of a stream run one after the other, as they were issued."""
    name, last = timeline["variant"], {}
    for o in timeline["operations"]:
        number, end = last.get(o["stream"], (0, 0))
        expect(f"{name}: operation {o['correlation']} of stream {o['stream']}",
               o["correlation"] > number and end <= o["begin_ns"] <= o["end_ns"])
        last[o["stream"]] = (o["correlation"], o["end_ns"])


def names(timeline):
    """What ran, in the order in which it began."""
    return [o["name"].split("(")[0] for o in sorted(timeline["operations"], key=lambda o: o["begin_ns"])]


def main():
    ordito = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        plot = os.path.join(folder, "timeline.svg")
        all_timelines = recorded(ordito, plot)
        with open(plot, encoding="utf-8") as file:
            bars = file.read().count("</rect>")
    expect("a bar for each operation", bars == sum(len(t["operations"]) for t in all_timelines.values()))
    for timeline in all_timelines.values():
        in_order(timeline)
    chunk = ["copy to device"] * 2 + ["sumArrays", "copy to host"]
    expect("sum: a serial line", names(all_timelines["sum"]) == chunk and all_timelines["sum"]["most_at_once"] == 1)
    expect("example_sync: a serial line", all_timelines["example_sync"]["most_at_once"] == 1)
    expect("example_sync: copies around two kernels", names(all_timelines["example_sync"]) ==
           ["copy to device", "waitForHost", "waitForHost", "copy to host"])
    for name, streams, chunks in (("sum_depth", 4, 4), ("sum_breadth", 4, 4), ("sum_uneven", 3, 10)):
        operations = all_timelines[name]["operations"]
        expect(f"{name}: {streams} streams", {o["stream"] for o in operations} == set(range(1, streams + 1)))
        expect(f"{name}: {chunks} chunks", sorted(names(all_timelines[name])) == sorted(chunk * chunks))
    for name, kernels in (("multistream", 8), ("multi_legacy", 1), ("threads", 1), ("threads_own", 8), ("small", 4)):
        expect(f"{name}: {kernels} kernels at once", all_timelines[name]["most_kernels_at_once"] == kernels)
    expect("multi_own: eight kernels and the thread's own stream", all_timelines["multi_own"]["most_kernels_at_once"] >= 8)
    expect("example_async: a copy beside two kernels", all_timelines["example_async"]["most_at_once"] >= 3)
    expect("nine: three streams of three", names(all_timelines["nine"]).count("append") == 9)
    expect("battery: 32 streams", names(all_timelines["battery"]).count("append") == 32)
    expect("callbacks: a host function behind each chunk", names(all_timelines["callbacks"]).count("host function") == 8)
    gates = [n for n in names(all_timelines["gates"]) if n in ("waitForHost", "copy to device")]
    expect("gates: the kernel behind the other stream's copy", gates == ["copy to device", "waitForHost"])
    # Whether two copies meet depends on the machine: they are let go together, two hundred each, and may try again.
    for _ in range(4):
        if all_timelines["both_ways"]["most_copies_at_once"] == 2:
            break
        all_timelines = recorded(ordito, os.devnull)
    else:
        print("both_ways: no two copies met in five runs on this machine")
    print("\n".join(failures) or "ok")
    sys.exit(bool(failures))


main()
