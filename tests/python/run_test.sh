#!/bin/sh
# `ordito run` of programs that bring NVIDIA's libraries with them, as Python's wheels do: libraries of the same names
# stand in for those here, so nothing of NVIDIA's is needed.
# usage: run_test.sh <ordito> <python> <C compiler> <toolkit folder> <scratch folder>
set -u
ordito=$1 python=$2 compiler=$3 toolkit=$4 scratch=$5
rm -rf "$scratch" && mkdir -p "$scratch/wheel" && cd "$scratch" || exit 1
unset CUDA_HOME CUDA_PATH NUMBA_CUDA_DRIVER TRITON_PTXAS_PATH XLA_FLAGS LD_AUDIT ORDITO_QUIET
failures=0
# expect <what> <pattern> <command...>: what the command prints on either stream has the pattern
expect() {
  what=$1 pattern=$2; shift 2
  "$@" > out 2>&1
  if ! grep -Eq -- "$pattern" out; then echo "FAILED: $what: $*"; sed 's/^/    /' out | head -20; failures=$((failures + 1)); fi
}

echo 'int of_the_wheel(void) { return 1; }' > fake.c
for name in libcuda.so.1 libcutensor.so.2; do
  "$compiler" -shared -fPIC -Wl,-soname,$name fake.c -o wheel/$name || exit 1
done
echo 'extern int cuInit(unsigned); int extension(void) { return cuInit(0); }' > extension.c
"$compiler" -shared -fPIC extension.c -o extension.so -Wl,--disable-new-dtags,-rpath,"$scratch/wheel" -Wl,--no-as-needed wheel/libcuda.so.1 || exit 1

cat > loads.py <<'PYTHON'
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print(sys.argv[2], getattr(library, sys.argv[2])(*map(int, sys.argv[3:])))
PYTHON
expect 'an absolute name leads to ours' 'cuInit 0' "$ordito" run "$python" loads.py "$scratch/wheel/libcuda.so.1" cuInit 0
expect 'the path of a wheel leads to ours' 'extension 0' "$ordito" run "$python" loads.py "$scratch/extension.so" extension
expect 'a library that Ordito lacks is named' 'libcutensor.so.2 is NVIDIA.s' "$ordito" run "$python" loads.py "$scratch/wheel/libcutensor.so.2" of_the_wheel
expect 'and used, without a word if quiet' '^of_the_wheel 1$' env ORDITO_QUIET=1 "$ordito" run "$python" loads.py "$scratch/wheel/libcutensor.so.2" of_the_wheel

cp wheel/libcutensor.so.2 wheel/libnvvm.so.4.0.0
expect 'a full version is the same library' '^nvvmGetErrorString ' "$ordito" run "$python" loads.py "$scratch/wheel/libnvvm.so.4.0.0" nvvmGetErrorString 0

# Wheels of two versions of CUDA in one process: the second wants a version of a symbol by its own library's name.
echo 'import ctypes, sys; [ctypes.CDLL(path) for path in sys.argv[1:]]; print("both")' > both.py
for symbol in nvrtc:nvrtcVersion nvJitLink:nvJitLinkVersion cupti:cuptiGetVersion; do
  name=lib${symbol%:*}.so call=${symbol#*:}
  echo "int $call(void) { return 0; }" > fake.c
  echo "$name.13 { global: *; };" > fake.map
  "$compiler" -shared -fPIC -Wl,-soname,$name.13 -Wl,--version-script=fake.map fake.c -o wheel/$name.13 || exit 1
  echo "extern int $call(void); int extension(void) { return $call(); }" > extension.c
  "$compiler" -shared -fPIC extension.c -o uses_$name wheel/$name.13 -Wl,--disable-new-dtags,-rpath,"$scratch/wheel" || exit 1
  expect "$name.12 before what needs $name.13" '^both$' "$ordito" run "$python" both.py $name.12 "$scratch/uses_$name"
done

# A program that is no Python and no shell finds a compiler by itself.
cat > compiles.c <<'PROGRAM'
#include <dlfcn.h>
#include <stdio.h>
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int main(int count, char** words) {
  void *context, *module;
  if (count < 2 || !dlopen(words[1], RTLD_NOW)) return 1;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 2;
  return cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n");
}
PROGRAM
"$compiler" compiles.c -o compiles "$toolkit/lib64/libcuda.so" -ldl || exit 1
cp wheel/libcutensor.so.2 wheel/libnvvm.so.4
expect 'a compiler that is not ours is named in any program' 'libnvvm.so.4 is NVIDIA.s, and this program compiles with it' "$ordito" run ./compiles "$scratch/wheel/libnvvm.so.4"

cat > child.py <<'PYTHON'
import subprocess, sys
subprocess.run([sys.executable, "loads.py", sys.argv[1], "cuInit", "0"], check=True)
PYTHON
expect 'children inherit it' 'cuInit 0' "$ordito" run "$python" child.py "$scratch/wheel/libcuda.so.1"
printf '#!%s\nimport ctypes\nprint("script", ctypes.CDLL("%s").cuInit(0))\n' "$python" "$scratch/wheel/libcuda.so.1" > tool
chmod +x tool
expect 'scripts like pytest' 'script 0' "$ordito" run ./tool
expect 'shells' 'script 0' "$ordito" run sh -c ./tool

show='import os; print([os.environ.get(n) for n in ("CUDA_HOME", "TRITON_PTXAS_PATH", "XLA_FLAGS")])'
expect 'variables' "'$toolkit', '$toolkit/bin/ptxas', '.*--xla_disable_hlo_passes=conv-rewriter.*--xla_gpu_cuda_data_dir=$toolkit'" "$ordito" run "$python" -c "$show"
expect 'those of the user stay' "'mine', '[^']*--xla_gpu_cuda_data_dir=x'" env TRITON_PTXAS_PATH=mine XLA_FLAGS=--xla_gpu_cuda_data_dir=x "$ordito" run "$python" -c "$show"
theirs='--xla_gpu_cuda_data_dir=x --xla_disable_hlo_passes=y --xla_gpu_autotune_level=1 --xla_gpu_enable_triton_gemm=true'
expect 'all of them' "'$theirs'\]" env XLA_FLAGS="$theirs" "$ordito" run "$python" -c "$show"
expect 'flags are added' "'.*--xla_gpu_cuda_data_dir=$toolkit --xla_dump_to=x'" env XLA_FLAGS=--xla_dump_to=x "$ordito" run "$python" -c "$show"
expect 'our packages' '^ordito_torch$' "$ordito" run "$python" -c 'import importlib.metadata as m; print(*[e.value.split(":")[0] for e in m.entry_points(group="torch.backends")])'
expect 'and for JAX' '^ordito_jax$' "$ordito" run "$python" -c 'import importlib.metadata as m; print(*[e.value for e in m.entry_points(group="jax_plugins")])'
find='import shutil; print(shutil.which("nvidia-smi"), shutil.which("nvcc"))'
mkdir -p theirs && printf '#!/bin/sh\n' > theirs/nvcc && chmod +x theirs/nvcc
expect 'tools are found by name, before those of another toolkit' "^$toolkit/bin/nvidia-smi $toolkit/bin/nvcc\$" env PATH="$scratch/theirs:/usr/bin:/bin" "$ordito" run "$python" -c "$find"
expect 'and behind them if asked for' "^$toolkit/bin/nvidia-smi $scratch/theirs/nvcc\$" env ORDITO_TOOLKIT=last PATH="$scratch/theirs:/usr/bin:/bin" "$ordito" run "$python" -c "$find"
mkdir -p other/nvvm/lib64
home='import os; print(os.environ["CUDA_HOME"], os.environ["CUDA_PATH"])'
expect 'the folder of another toolkit' "^$toolkit $toolkit\$" env CUDA_HOME="$scratch/other" CUDA_PATH="$scratch/other" "$ordito" run "$python" -c "$home"
expect 'stays if asked for' "^$scratch/other $toolkit\$" env ORDITO_TOOLKIT=last CUDA_HOME="$scratch/other" CUDA_PATH=/usr "$ordito" run "$python" -c "$home"
mkdir -p fake
cat > fake/torch.py <<'PYTHON'
from types import SimpleNamespace
backends = SimpleNamespace(cuda=SimpleNamespace(is_built=lambda: False))
PYTHON
load='import sys; sys.path.insert(0, "fake"); import ordito_torch; ordito_torch.load(); print("loaded")'
expect 'a PyTorch without CUDA is told where there is one' 'built without CUDA.*pip install --no-deps torch' "$ordito" run "$python" -c "$load"
expect 'unless it is to be left alone' '^loaded$' env ORDITO_TORCH=0 "$ordito" run "$python" -c "$load"
expect 'other programs are left alone' '^none$' "$ordito" run awk 'BEGIN { print ("LD_AUDIT" in ENVIRON) ? "set" : "none" }'

[ $failures -eq 0 ] && echo "all as expected"
exit $failures
