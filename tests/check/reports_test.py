#!/usr/bin/env python3
"""How `ordito check` tells its findings: in files for other programs, without those that are known, and by
compute-sanitizer's name.

usage: reports_test.py PATH/TO/ordito PATH/TO/compute-sanitizer SCRATCH_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

SOURCE = """#include <cstdio>
__global__ void behind(int* out, int reach) { out[threadIdx.x + reach] = 1; }
__global__ void race(int* out) { *out = threadIdx.x; }
int main(int argc, char** argv) {
  int* a;
  cudaMalloc(&a, 64 * sizeof(int));
  behind<<<1, 64>>>(a, argc > 1);
  if (argc > 2) race<<<1, 64>>>(a);
  cudaDeviceSynchronize();
  if (argc > 3) cudaMemset(a, 0, 1 << 20);
  cudaFree(a);
}
"""
ordito, sanitizer, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
scratch.mkdir(parents=True, exist_ok=True)
source, program = scratch / "program.cu", scratch / "program"
wrong = 0


def build(text):
    source.write_text(text)
    subprocess.run([ordito, "nvcc", "-g", "-lineinfo", "-arch=sm_80", source, "-o", program], check=True)


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def check(*options, arguments=("x",)):
    return run(ordito, "check", *options, program, *arguments)


def expect(holds, what, result=None):
    global wrong
    if not holds:
        print(f"wrong: {what}")
        if result:
            print(f"status {result.returncode}\n{result.stdout}{result.stderr}")
        wrong += 1


build(SOURCE)
plain = check()
expect(plain.returncode == 99, "a finding is status 99", plain)
expect("out[threadIdx.x + reach] = 1" in plain.stderr, "the text of the line", plain)
if run("sh", "-c", "command -v llvm-symbolizer-19").returncode == 0:
    expect("program.cu:7 in main" in plain.stderr, "the launch's place", plain)
    failed = check(arguments="xyz")
    expect("cudaMemset answers cudaErrorInvalidValue" in failed.stderr and "program.cu:10 in main" in failed.stderr,
           "the failed call's place", failed)
expect(check("--exit-code", 7).returncode == 7, "--exit-code")
expect(check(arguments=()).returncode == 0, "nothing found: the program's status")

# Files for other programs
check("--sarif", scratch / "f.sarif", "--junit", scratch / "f.xml", arguments="xy")
sarif = json.loads((scratch / "f.sarif").read_text())
results = sarif["runs"][0]["results"]
expect(sarif["version"] == "2.1.0" and {r["ruleId"] for r in results} >= {"memory.bounds"}, "SARIF")
at = results[0]["locations"][0]["physicalLocation"]
expect(at["region"] == {"startLine": 2, "startColumn": 72} and at["artifactLocation"]["uri"].endswith("program.cu"), "SARIF's place")
suite = ET.parse(scratch / "f.xml").getroot()
expect(int(suite.get("failures")) >= 1 and suite.find("testcase/failure") is not None, "JUnit")
github = check("--github")
expect("::error file=" in github.stdout and ",line=2,col=72,title=memory.bounds::" in github.stdout, "GitHub", github)

# What is known
(scratch / "known").write_text("memory.bounds behind(int*, int) */program.cu:2 # known\n")
quiet = check("--suppress", scratch / "known")
expect(quiet.returncode == 0 and "1 suppressed" in quiet.stderr, "a file of suppressions", quiet)
(scratch / "stars").write_text("*" + "a*" * 40 + "\n")
start = time.monotonic()
expect(check("--suppress", scratch / "stars").returncode == 99 and time.monotonic() - start < 30, "many stars")
check("--write-baseline", scratch / "baseline")
expect(check("--baseline", scratch / "baseline").returncode == 0, "a baseline")
build("// a line above\n" + SOURCE)
expect(check("--baseline", scratch / "baseline").returncode == 0, "a baseline when lines move")
build(SOURCE.replace("reach] = 1", "reach] = 2"))
expect(check("--baseline", scratch / "baseline").returncode == 99, "a finding that the baseline lacks")
build(SOURCE.replace("{ out[threadIdx.x + reach] = 1; }", "{ out[threadIdx.x + reach] = 1; }  // ordito: ok memory.* (known)"))
expect(check().returncode == 0, "a comment in the source")

# Where two threads that race have last met
build("""__shared__ int words[64];
__global__ void turns(int* out) {
  words[threadIdx.x] = 0;
  __syncthreads();
  words[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = words[63 - threadIdx.x];
}
__global__ void lanes(int* out) {
  words[threadIdx.x] = 0;
  __syncwarp();
  words[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = words[31 - threadIdx.x];
}
__global__ void never(int* out) {
  words[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = words[63 - threadIdx.x];
}
int main() {
  int* a;
  cudaMalloc(&a, 64 * sizeof(int));
  turns<<<1, 64>>>(a), lanes<<<1, 32>>>(a), never<<<1, 64>>>(a);
  cudaDeviceSynchronize();
}
""")
raced = check("--json", scratch / "met.json")
met = {f["kernel"]: f["last_meeting"] for f in json.loads((scratch / "met.json").read_text())["findings"]}
expect(met["turns(int*)"]["kind"] == "barrier" and met["turns(int*)"]["source"].endswith("program.cu:4"), "a barrier", raced)
expect(met["lanes(int*)"]["kind"] == "__syncwarp" and "program.cu:10 " in met["lanes(int*)"]["source"] + " ", "lanes", raced)
expect(met["never(int*)"]["kind"] == "start of the block", "threads that never met", raced)
expect("program.cu:4:3: barrier" in raced.stderr and "have not met since their block began" in raced.stderr, "in words", raced)

# A loop that the compiler has unrolled, and an inlined function, are lines of the source: two calls are two places.
build("""__device__ int part(const int* in, int first) {
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += in[first + 64 * k + 1];
  return sum;
}
__global__ void unrolled(int* out) {
  __shared__ int words[9][64];
#pragma unroll
  for (int k = 0; k < 8; ++k) words[k][threadIdx.x] = threadIdx.x;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += words[k][63 - threadIdx.x];
  out[threadIdx.x] = sum;
}
__global__ void inlined(int* out, const int* in) {
  out[threadIdx.x] = part(in, 448 + threadIdx.x);
  out[threadIdx.x] += part(in, 449 + threadIdx.x);
}
int main() {
  int *a, *b;
  cudaMalloc(&a, 64 * sizeof(int)), cudaMalloc(&b, 512 * sizeof(int));
  cudaMemset(b, 0, 512 * sizeof(int));
  unrolled<<<1, 64>>>(a), inlined<<<1, 64>>>(a, b);
  cudaDeviceSynchronize();
}
""")
for options in ((), ("--no-uninitialised",)):
    repeated = check(*options, "--json", scratch / "repeated.json")
    told = json.loads((scratch / "repeated.json").read_text())["findings"]
    counts = {kernel: [f["count"] for f in told if f["kernel"].startswith(kernel) and f["rule"] != "memory.uninitialised"] for kernel in ("unrolled", "inlined")}
    expect(len(counts["unrolled"]) == 1 and counts["unrolled"][0] >= 8, "an unrolled loop is one place", repeated)
    expect(len(counts["inlined"]) == 2 and min(counts["inlined"]) >= 8, "two calls are two places", repeated)

# A member that nobody has written, in what a function is given and answers
build("""#include <cstdio>
struct Pair { int written, other; long more[4]; };
__device__ __noinline__ long sum(Pair pair) { return pair.written + pair.other + pair.more[pair.written & 3]; }
__global__ void call(long* out, int first) {
  Pair pair;
  pair.written = first;
  for (int i = 0; i < 4; ++i) pair.more[i] = first;
  *out = sum(pair);
}
int main() {
  long* out;
  cudaMalloc(&out, sizeof(long));
  call<<<1, 1>>>(out, 1);
  cudaDeviceSynchronize();
  cudaFree(out);
}
""")
given = check()
expect("an argument or a result of a function" in given.stderr, "no allocation is near an argument", given)

# By compute-sanitizer's name
build(SOURCE)
theirs = run(sanitizer, "--error-exitcode", 3, program, "x")
expect(theirs.returncode == 3, "--error-exitcode", theirs)
for line in ("========= Invalid __global__ write of size 4 bytes", "=========     at behind(int*, int) in ",
             "=========     by thread (63,0,0) in block (0,0,0)", "========= ERROR SUMMARY: 1 errors"):
    expect(line in theirs.stderr, line, theirs)
expect(run(sanitizer, program, "x").returncode == 0, "without --error-exitcode the program's status")
racecheck = run(sanitizer, "--tool=racecheck", "--error-exitcode=3", program, "x")
expect(racecheck.returncode == 0, "another tool's rules", racecheck)
log = run(sanitizer, "--log-file", scratch / "log", "--print-limit", 0, "--target-processes", "all", program, "x")
expect(log.stderr == "" and "ERROR SUMMARY: 1" in (scratch / "log").read_text(), "--log-file", log)
expect("Invalid" not in (scratch / "log").read_text(), "--print-limit")
unknown = run(sanitizer, "--frobnicate", program)
expect(unknown.returncode != 0 and "--frobnicate" in unknown.stderr, "an unknown option is named", unknown)
sys.exit(1 if wrong else 0)
