#!/usr/bin/env python3
"""Programs with more findings than anybody wants to hear: `ordito check` ends, in bounded memory, and tells what helps.

usage: overload_test.py PATH/TO/ordito SCRATCH_FOLDER
"""
import json
import pathlib
import resource
import subprocess
import sys

# 4096 * 256 threads make 500 times a read and a write of a word that all have: 10^9 accesses.
MANY = """
__global__ void add(int* sum, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    *sum += turn;
    asm volatile("" ::: "memory");
  }
}
int main() {
  int* sum;
  cudaMalloc(&sum, 4);
  cudaMemset(sum, 0, 4);
  add<<<4096, 256>>>(sum, 500);
  cudaDeviceSynchronize();
  cudaFree(sum);
}
"""
# The first block could say all of the others, but has findings. The others have so many that most are not looked at any
# more: what these write is written for the launch behind them.
SILENT = """
__global__ void fill(int* out, int* last) {
  *last = threadIdx.x;
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void use(int* out, const int* in) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x] + 1;
}
int main() {
  int *a, *b, *last;
  cudaMalloc(&a, 1024 * 64 * sizeof(int)), cudaMalloc(&b, 1024 * 64 * sizeof(int)), cudaMalloc(&last, sizeof(int));
  fill<<<1024, 64>>>(a, last);
  use<<<1024, 64>>>(b, a);
  cudaDeviceSynchronize();
  cudaFree(a), cudaFree(b), cudaFree(last);
}
"""
# Each of the lines races with each other one: 10^5 pairs.
LINES = 460
MEMORY = 3 << 30  # bytes


def lines():
    body = "\n".join(f"  if (threadIdx.x == {k}) *out = {k};\n  asm volatile(\"\" ::: \"memory\");" for k in range(LINES))
    return f"""
__global__ void pairs(int* out) {{
{body}
}}
int main() {{
  int* out;
  cudaMalloc(&out, 4);
  pairs<<<1, 512>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}}
"""


def check(ordito, scratch, name, text, *options):
    source, program, report = scratch / f"{name}.cu", scratch / name, scratch / f"{name}.json"
    source.write_text(text)
    subprocess.run([ordito, "nvcc", "-O1", "-lineinfo", source, "-o", program], check=True)
    report.unlink(missing_ok=True)
    run = subprocess.run([ordito, "check", *options, "--json", report, program], capture_output=True, text=True)
    return run, json.loads(report.read_text())


def main():
    ordito, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    wrong = 0

    def expect(isit, what, run):
        nonlocal wrong
        if not isit:
            wrong += 1
            print(f"wrong: {what}\nstatus {run.returncode}\n{run.stderr[:2000]}")

    for options in ((), ("--no-uninitialised",)):
        run, report = check(ordito, scratch, "many", MANY, *options)
        races = [f for f in report["findings"] if f["rule"] in ("race.global", "race.warp")]
        expect(run.returncode == 99 and races, "races", run)
        expect(sum(f["count"] for f in report["findings"]) >= 100_000, "they are counted", run)
        expect(report["blocks"]["unheard"] > 4000 and "blocks were not looked at" in run.stderr, "it says that it stopped", run)
    run, report = check(ordito, scratch, "silent", SILENT)
    rules = {f["rule"] for f in report["findings"]}
    expect(report["blocks"]["unheard"] > 0, "blocks were not heard", run)
    expect("race.global" in rules and "memory.uninitialised" not in rules, f"what they write is written: {rules}", run)
    run, report = check(ordito, scratch, "pairs", lines())
    expect(run.returncode == 99 and len(report["findings"]) == 10_000, "as many as are kept", run)
    expect(report["dropped"]["findings"] > 0 and "were dropped" in run.stderr, "it says that some are not", run)
    expect(run.stderr.count("error[") == 100, "100 are printed", run)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    expect(most < MEMORY, f"memory: {most} bytes", run)
    sys.exit(1 if wrong else 0)


main()
