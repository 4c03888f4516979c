#!/usr/bin/env python3
"""Programs that would never end are ended, by `ordito check` and by `ordito run` with a limit, and say where their
blocks stand; programs that wait for something that comes are left alone. Signals that end a program leave its report.

usage: hangs_test.py PATH/TO/ordito SCRATCH_FOLDER
"""
import pathlib
import signal
import subprocess
import sys
import time

SOURCE = """#include <cstdio>
#include <cstring>
#include <unistd.h>
__global__ void flag(volatile int* word, int* out) {
  if (blockIdx.x == 0) {
    while (*word == 0) {
    }                                                          // FLAG
    *out = 1;
  }
}
__global__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {                        // LOCK
  }
}
__global__ void loop(int n) {
  for (int i = 0; i != n; i += 2) asm volatile("");            // LOOP
}
__global__ void raced(int* out, volatile int* word) {
  *out = threadIdx.x;
  while (*word == 0) {
  }
}
__global__ void queue(int* mutex, int* count, int n) {
  for (bool done = false; !done;) {
    if (atomicCAS(mutex, 0, 1) != 0) continue;
    __threadfence();
    done = *(volatile int*)count >= n;
    if (!done) *(volatile int*)count = *(volatile int*)count + 1;
    __threadfence();
    atomicExch(mutex, 0);
  }
}
int main(int argc, char** argv) {
  puts("begins"), fflush(stdout);
  int *words, *seen;
  cudaMalloc(&words, 64);
  cudaMemset(words, 0, 64);
  cudaHostAlloc(&seen, 64, cudaHostAllocMapped);
  *seen = 0;
  const bool waits = !strcmp(argv[1], "host");
  if (!strcmp(argv[1], "flag")) flag<<<3, 1>>>(words, words + 1);
  if (!strcmp(argv[1], "lock")) lock<<<2, 32>>>(words);
  if (!strcmp(argv[1], "loop")) loop<<<1, 1>>>(7);
  if (!strcmp(argv[1], "race")) raced<<<1, 64>>>(words, words + 1);
  if (!strcmp(argv[1], "queue")) queue<<<2, 1>>>(words, words + 1, atoi(argv[2]));
  if (waits) flag<<<3, 1>>>(seen, words);
  if (waits) usleep(300000), *(volatile int*)seen = 1;
  const cudaError_t error = cudaDeviceSynchronize();
  puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
"""
LINES = {line.split("// ")[1]: number for number, line in enumerate(SOURCE.split("\n"), 1) if "// " in line}
ordito, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
wrong = 0


def run(*command):
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired as late:
        told = [(text or b"").decode() for text in (late.stdout, late.stderr)]
        return subprocess.CompletedProcess(command, "late", *told)


def expect(result, status, *words, without=()):
    global wrong
    told = result.stdout + result.stderr
    missing = [w for w in words if w not in told] + [f"no {w}" for w in without if w in told]
    if result.returncode == status and not missing:
        return
    print(f"wrong: {' '.join(map(str, result.args))}: status {result.returncode}, {missing}\n{told}")
    wrong += 1


def interrupted(number, *command):
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = process.stdout.readline()
    time.sleep(2)
    process.send_signal(number)
    try:
        output, messages = process.communicate(timeout=30)
        return subprocess.CompletedProcess(command, process.returncode, first + output, messages)
    except subprocess.TimeoutExpired:
        process.kill()
        return subprocess.CompletedProcess(command, "late", first, process.communicate()[1])


scratch.mkdir(parents=True, exist_ok=True)
source, program = scratch / "hangs.cu", scratch / "hangs"
source.write_text(SOURCE)
subprocess.run([ordito, "nvcc", "-g", "-lineinfo", "-arch=sm_80", source, "-o", program], check=True)
at = {name: f"/hangs.cu:{line}" for name, line in LINES.items()}
hung = "s its threads have only waited, and nothing has changed"

for engine in ([], ["--no-uninitialised"]):
    check = [ordito, "check", "--hang-timeout", 1, *engine]
    expect(run(*check, program, "flag"), 99, "error[launch.failed]", hung, "block (0,0,0) stood at", "hangs.cu:",
           "the launch timed out and was terminated")
    expect(run(*check, program, "lock"), 99, "error[launch.failed]", hung, "blocks (0,0,0), (1,0,0) stood at")
    # It goes on as soon as the host says so.
    expect(run(ordito, "check", "--hang-timeout", 10, *engine, program, "host"), 0, "no error", without=["hung"])
    expect(run(*check, program, "race"), 99, "error[race.global]", "error[launch.failed]", hung)
    expect(run(*check, "--kernel-timeout", 2, program, "loop"), 99, "was stopped after 2 s", "block (0,0,0) stood at",
           at["LOOP"])
    # A hang is no launch that works for long and only looks as if it waited.
    expect(run(*check, program, "queue", 40), 0, "no error", without=["hung"])
for engine in ("jit", "interp"):
    limited = ["env", f"ORDITO_ENGINE={engine}", ordito, "run", "--kernel-timeout", 1]
    for case in ("flag", "lock", "loop"):
        expect(run(*limited, program, case), 1, "was stopped after 1 s", "the launch timed out and was terminated")
expect(run(ordito, "run", "--hang-timeout", 1, program, "flag"), 1, hung)
for number in (signal.SIGINT, signal.SIGTERM):
    expect(interrupted(number, ordito, "check", "--hang-timeout", 0, program, "race"), 99, "error[race.global]",
           f"was stopped by {number.name}: block (0,0,0) stood at")
    expect(interrupted(number, ordito, "check", "--hang-timeout", 0, program, "loop"), 99,
           f"was stopped by {number.name}: block (0,0,0) stood at", at["LOOP"])
print("all is well" if not wrong else f"{wrong} are wrong")
sys.exit(wrong != 0)
