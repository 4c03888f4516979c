#!/bin/sh
# The driver as build systems use it: what it makes for which options, and what it refuses.
# usage: driver_test.sh <ordito> <scratch folder>
set -u
ordito=$1 scratch=$2
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
failures=0

# expect <what> <command...>: the command succeeds
expect() {
  what=$1; shift
  if ! "$@" > out 2>&1; then echo "FAILED: $what: $*"; sed 's/^/    /' out | head -20; failures=$((failures + 1)); fi
}
# refuse <message> <command...>: the command ends with status 1 and says so
refuse() {
  message=$1; shift
  "$@" > out 2>&1; status=$?
  if [ $status -ne 1 ] || ! grep -q -- "$message" out; then
    echo "FAILED: status $status, expected 1 and '$message': $*"; sed 's/^/    /' out | head -20; failures=$((failures + 1))
  fi
}
nvcc() { "$ordito" nvcc "$@"; }

mkdir inc
echo '#define FROM_INC 3' > inc/inc.h
cat > a.cu <<'SOURCE'
#include <inc.h>
#ifndef N
#define N 1
#endif
__global__ void k(int* p) { *p = N + FROM_INC; }
int b();
int main() { k<<<1, 1>>>(nullptr); return b(); }
SOURCE
echo '__global__ void none() {}' > none.cu
echo 'int b() { return 0; }' > b.cpp
echo 'int c(void) { return 0; }' > c.c

expect 'version' sh -c "\"$ordito\" nvcc --version | grep -q 'release 12.3, V12.3'"
expect 'help' sh -c "\"$ordito\" nvcc --help | grep -q -- --gpu-architecture"
expect 'compile' nvcc -c a.cu -Iinc -o a.o
expect 'output joined' nvcc -c a.cu -Iinc -oa2.o && expect 'a2.o' test -s a2.o
expect 'default output' nvcc -dc -I inc a.cu
expect 'several sources' nvcc -c b.cpp c.c && expect 'b.o c.o' test -s b.o -a -s c.o
expect 'output directory' nvcc -odir inc -c b.cpp && expect 'inc/b.o' test -s inc/b.o
expect '-x cu' sh -c "cp a.cu a.txt && \"$ordito\" nvcc -x cu -Iinc -c a.txt -o t.o"
expect '-D in PTX' sh -c "\"$ordito\" nvcc -DN=40 -Iinc -ptx a.cu -o - | grep -q '43;'"
expect '-E' sh -c "\"$ordito\" nvcc -E -Iinc a.cu | grep -q 'k(int\* p)'"
expect '-M' sh -c "\"$ordito\" nvcc -M -Iinc a.cu | grep -q 'inc/inc.h'"
expect '-MM leaves system headers out' sh -c "! \"$ordito\" nvcc -MM -Iinc a.cu | grep -q stdlib.h"
expect '-MD' nvcc -MD -MF a.dep -MT target -c -Iinc a.cu -o a.o && expect 'a.dep' grep -q '^target:' a.dep
expect '-MD names the file itself' nvcc -MD -c -Iinc a.cu -o x.o && expect 'x.d' grep -q '^x.o:' x.d
expect '-MD forgets the macro file' sh -c "\"$ordito\" nvcc -DN=4 -MD -c -Iinc a.cu -o x.o && ! grep -q ordito- x.d && grep -q inc.h x.d"
expect '-M forgets the macro file' sh -c "\"$ordito\" nvcc -DN=4 -MM -Iinc a.cu -o x.mm && ! grep -q ordito- x.mm && grep -q inc.h x.mm"
expect 'macros with the names of parameters' nvcc -DT=1 -DN=2 -Dn=3 -Dvalue=4 -Dmask=5 -Dptr=6 -Dx=7 -Dp=8 -Dsize=9 -ptx none.cu
expect 'fat binary' nvcc -fatbin -Iinc a.cu && expect 'a.fatbin' grep -q '.visible .entry' a.fatbin
expect 'library' nvcc -lib -o libb.a b.o c.o && expect 'libb.a' test -s libb.a
expect 'device link' nvcc -dlink a.o b.o -o dlink.o && expect 'dlink.o' test -s dlink.o
expect 'two architectures' nvcc -gencode arch=compute_60,code=sm_60 -gencode arch=compute_75,code=\"sm_75,compute_75\" -Iinc -ptx a.cu -o two.ptx
expect 'the highest' grep -q 'target sm_75' two.ptx
expect 'commands under -v' sh -c "\"$ordito\" nvcc -v -c -Iinc a.cu -o a.o 2>&1 | grep -q '^#\$ .*--cuda-device-only'"
expect 'notes under -v' sh -c "\"$ordito\" nvcc -v -maxrregcount=32 -c b.cpp 2>&1 | grep -q maxrregcount"
expect 'no notes otherwise' sh -c "test -z \"\$(\"$ordito\" nvcc -maxrregcount=32 -Xptxas -O2 -lineinfo -c b.cpp 2>&1)\""
expect 'nothing runs under -dryrun' sh -c "\"$ordito\" nvcc -dryrun -c -Iinc a.cu -o never.o && ! test -e never.o"
expect 'environment' env NVCC_APPEND_FLAGS="-DN=40 -Iinc" "$ordito" nvcc -ptx a.cu -o env.ptx && expect 'env.ptx' grep -q '43;' env.ptx
"$ordito" nvcc -arch=sm_80 -Xptxas -v -Iinc -c a.cu -o a.o > usage 2>&1
for line in "Compiling entry function '_Z1kPi' for 'sm_80'" 'Function properties for _Z1kPi' \
  '0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' 'Used [0-9]* registers, used 0 barriers, 360 bytes cmem\[0\]'; do
  expect 'what kernels take' grep -q "$line" usage
done
expect 'the same by another name' sh -c "\"$ordito\" nvcc -arch=sm_80 --resource-usage -Iinc -c a.cu -o a.o 2>&1 | cmp - usage"
expect 'times of phases' sh -c "\"$ordito\" nvcc -time times.csv -Iinc -c a.cu -o a.o && grep -q 'kernels to PTX.* , sm_80 , nvcc , [0-9.]* , ms' times.csv"
expect 'a head once' sh -c "\"$ordito\" nvcc -time times.csv -c b.cpp -o b.o && test \$(grep -c '^source file name' times.csv) -eq 1 && grep -q '^b.cpp , ' times.csv"
echo '-DN=40 -I inc' > flags
expect 'option file' nvcc --options-file flags -ptx a.cu -o opt.ptx && expect 'opt.ptx' grep -q '43;' opt.ptx
mkdir other && for header in cuda.h cuda_runtime.h cuda_runtime_api.h host_defines.h; do echo '#error another toolkit' > other/$header; done
expect 'our headers first' env CPATH= CPLUS_INCLUDE_PATH="$PWD/other" C_INCLUDE_PATH="$PWD/other" "$ordito" nvcc -c none.cu -o none.o
expect 'our headers before those of CPATH' env CPATH="$PWD/inc:$PWD/other" "$ordito" nvcc -c none.cu -o none.o
expect 'and the rest of CPATH' env CPATH="$PWD/other:$PWD/inc" "$ordito" nvcc -c a.cu -o a.o
printf '#include <cuda.h>\n#include <cuda_runtime.h>\n#if CUDART_VERSION < 12080\nusing cudaJitOption = CUjit_option;\nusing cudaLibraryOption = CUlibraryOption;\n#endif\n' > names.cu
expect "a program's own names for what CUDA 12.3 has not" nvcc -c names.cu -o names.o
expect 'architectures' sh -c "\"$ordito\" nvcc --list-gpu-arch | grep -qx compute_80 && \"$ordito\" nvcc --list-gpu-code | grep -qx sm_80"
expect 'link-time optimisation' nvcc -dlto -dc -Iinc a.cu -o lto.o
expect 'cubin' nvcc -cubin none.cu && expect 'none.cubin' grep -q '.visible .entry' none.cubin
expect 'look for errors only' nvcc -fdevice-syntax-only none.cu
expect 'keep' nvcc --keep --keep-dir kept -c -Iinc a.cu -o a.o && expect 'kept' grep -q '.visible .entry' kept/a.ptx
expect '-MD while linking' nvcc -MD -MP -Iinc -cudart none -shared -Xcompiler -fPIC -odir deps b.cpp -o libb.so && expect 'libb.d' grep -q '^libb.so: *b.cpp' libb.d
expect '-clean' sh -c "echo > none.ptx && \"$ordito\" nvcc -clean -ptx none.cu && ! test -e none.ptx && test -e none.cu"
mkdir -p mylibs && expect "a user's own cublas" sh -c "\"$ordito\" nvcc -lib b.o -o mylibs/libcublas.a && \"$ordito\" nvcc -cudart none -shared c.c -Lmylibs -lcublas -o c.so"
mkdir -p othertoolkit && touch othertoolkit/libcudart.so othertoolkit/libnvblas.so othertoolkit/libcudart_static.a othertoolkit/libcuda.so
expect "another toolkit's folder" nvcc -shared c.c -Lothertoolkit -lcudart -lcuda othertoolkit/libcudart_static.a -o c2.so
refuse "nvblas" nvcc -shared c.c -Lothertoolkit -lnvblas
printf '#include <complex.h>\n#include <cufftw.h>\nint main(void) { fftw_complex x = 1 + 2 * I; return cimag(x) != 2; }\n' > fourier.c
expect "FFTW's numbers are C's own" sh -c "\"$ordito\" nvcc fourier.c -lcufftw -o fourier && ./fourier"
expect 'static names' nvcc -shared c.c -lcublas_static -lcublasLt_static -lcufft_static -lculibos -o c4.so
expect 'NVTX by name' nvcc -shared c.c -lnvToolsExt -o c3.so
echo '__device__ int unit() { return 1; }' > unit.cu
expect 'units of device code' sh -c "\"$ordito\" nvcc -dc unit.cu && \"$ordito\" nvcc -lib unit.o -o libunit.a && \"$ordito\" nvcc -dlink c.o libunit.a -o asks.o && grep -q __ordito_unit_ asks.o"
cat > warnings.cu <<'SOURCE'
#include <cstdio>
struct Counter {
  int hidden = 0;
  virtual void count() {}
};
struct Derived : Counter {
  void count() {}
};
class Private {
  int unused;
};
int size();
int host(int* p, const char* text) {
  int array[4] = {}, x = 3;
  array[0] = 2.5;
  if (p = array) printf("%d", 3l);
  if (p == nullptr | x == 2 && size() || 1) x == 3;
  printf(text + x);
  return (unsigned char)x > 300 ? 2 ^ 8 : array[1];
}
SOURCE
expect "no warnings that g++ would not give" sh -c "test -z \"\$(\"$ordito\" nvcc -c warnings.cu -o w.o 2>&1)\""
expect "-Wall" sh -c "\"$ordito\" nvcc -Xcompiler -Wall -c warnings.cu -o w.o 2>&1 | grep -q Wformat"
expect "-Wall without clang's own" sh -c "! \"$ordito\" nvcc -Xcompiler -Wall,-Wextra -c warnings.cu -o w.o 2>&1 | grep -q Wunused-private-field"
expect "a warning by name" sh -c "\"$ordito\" nvcc -Xcompiler -Wunused-private-field -c warnings.cu -o w.o 2>&1 | grep -q Wunused-private-field"
echo 'int main(int c, char** v) { return c == 3 && v[2][0] == 121 ? 5 : 1; }' > five.cpp
nvcc -cudart none -run five.cpp -o five -run-args x,y; test $? -eq 5 || { echo 'FAILED: -run'; failures=$((failures + 1)); }
nvcc -run ./five --run-args x,y; test $? -eq 5 || { echo 'FAILED: -run of a program'; failures=$((failures + 1)); }
expect 'no temporary files left' sh -c "mkdir tmp && TMPDIR=\$PWD/tmp \"$ordito\" nvcc -c b.cpp && rmdir tmp"

refuse 'no such option' nvcc -Wall a.cu
refuse 'link-time' nvcc -ltoir a.cu
refuse '64-bit' nvcc -m32 a.cu
refuse 'no GPU architecture' nvcc -arch=gfx90a a.cu
refuse 'no such file' nvcc -c missing.cu
refuse 'no such file' nvcc missing.o
refuse 'no source file' nvcc -c
refuse 'no input files' nvcc
refuse 'names one output' nvcc -c b.cpp c.c -o one.o
refuse 'nvblas' nvcc b.cpp -lnvblas -o b
refuse 'inc.h' nvcc -c a.cu
refuse 'clang++-19' env PATH=/nowhere ORDITO_CLANG= "$ordito" nvcc -c a.cu

# A program's own header may have the name of the toolkit's.
mkdir -p own
echo 'inline int answer() { return 42; }' > own/cuda.h
printf '#include "cuda.h"\n__global__ void k(int* p) { *p = threadIdx.x + atomicAdd(p, 1); }\nint main() { return answer(); }\n' > own_header.cu
expect 'cuda.h of the program' nvcc -Iown own_header.cu -o own_header
./own_header; test $? -eq 42 || { echo 'FAILED: own cuda.h'; failures=$((failures + 1)); }

# With OpenMP, or a word about what to install.
if nvcc -Xcompiler -fopenmp -c b.cpp -o omp.o > out 2>&1; then :; elif ! grep -q 'libomp-19-dev' out; then
  echo 'FAILED: -fopenmp'; cat out; failures=$((failures + 1))
fi

# Without kernels and without the runtime a program links already.
echo 'int main() { return 3; }' > main.cpp
expect 'link' nvcc -cudart none main.cpp -o main
./main; test $? -eq 3 || { echo 'FAILED: main'; failures=$((failures + 1)); }

# ordito run ends as the program does.
"$ordito" run ./main; test $? -eq 3 || { echo 'FAILED: exit status through ordito run'; failures=$((failures + 1)); }
"$ordito" run ./missing > out 2>&1; test $? -eq 127 || { echo 'FAILED: status 127'; failures=$((failures + 1)); }
grep -q 'missing' out || { echo 'FAILED: message of ordito run'; failures=$((failures + 1)); }
expect 'arguments' sh -c "test \"\$(\"$ordito\" run --gpu h200 sh -c 'echo \$ORDITO_GPU \$1' x --gpu=y)\" = 'h200 --gpu=y'"

[ $failures -eq 0 ] && echo "all passed"
exit $failures
