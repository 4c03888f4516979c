#!/bin/sh
# Our ptxas as Triton, XLA and clang call it: what it answers, what it writes, what it refuses.
# usage: ptxas_test.sh <folder with ptxas and fatbinary> <scratch folder>
set -u
tools=$1 scratch=$2
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch" || exit 1
failures=0
expect() {
  what=$1; shift
  if ! "$@" > out 2>&1; then echo "FAILED: $what: $*"; sed 's/^/    /' out | head -20; failures=$((failures + 1)); fi
}

cat > sum.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 out, .param .f32 a)
{
  .reg .f32 %f<4>;
  .reg .b64 %p;
  ld.param.u64 %p, [out];
  ld.param.f32 %f0, [a];
  mul.f32 %f1, %f0, %f0;
  add.f32 %f2, %f1, %f0;
  st.global.b32 [%p], { %f2 };
  ret;
}
PTX
sed 's/add.f32/frobnicate.f32/' sum.ptx > wrong.ptx
sed 's/%f0, %f0;/%f0, %p;/' sum.ptx > types.ptx

expect 'the version, as Triton reads it' sh -c "'$tools/ptxas' --version | grep -Eq 'release [0-9]+\.[0-9]+, V[0-9.]+$'"
expect 'as Triton calls it' "$tools/ptxas" -lineinfo -v --gpu-name=sm_86 sum.ptx -o sum.cubin
expect 'resources' sh -c "'$tools/ptxas' -v sum.ptx -o sum.cubin 2>&1 | grep -q 'Used .* registers'"
expect 'as XLA calls it' "$tools/ptxas" sum.ptx -o xla.cubin -arch=sm_86 --warn-on-spills
expect 'a NUL at the end' sh -c "tail -c 1 xla.cubin | od -An -c | grep -q '\\\\0'"
expect 'one NUL' sh -c "cat sum.ptx > whole && printf '\\0' >> whole && cmp whole xla.cubin"
expect 'values in words of their own' "$tools/ptxas" --gpu-name sm_86 --opt-level 3 -maxrregcount 32 sum.ptx --output-file words.cubin
expect 'the same' cmp words.cubin xla.cubin
expect 'nothing contracted' sh -c "'$tools/ptxas' --fmad=false sum.ptx -o apart.cubin && grep -aq mul.rn.f32 apart.cubin && grep -aq add.rn.f32 apart.cubin"
expect 'no NUL in a fat binary of it' sh -c "'$tools/fatbinary' --create f.fatbin --image3=kind=elf,sm=86,file=sum.cubin --image3=kind=ptx,sm=86,file=sum.ptx && test \$(grep -ac '.visible .entry' f.fatbin) = 1"
expect 'status 255 for an unknown instruction' sh -c "'$tools/ptxas' wrong.ptx -o w.cubin 2> text; test \$? = 255 && grep -q 'wrong.ptx:11:.*frobnicate' text"
expect 'status 255 for a wrong operand' sh -c "'$tools/ptxas' types.ptx -o w.cubin 2> text; test \$? = 255 && grep -q 'line 10' text"
expect 'nothing written then' test ! -e w.cubin
expect 'status 255 without a file' sh -c "'$tools/ptxas' none.ptx -o w.cubin 2> text; test \$? = 255 && grep -q 'none.ptx' text"

printf 'abcdefghij' > bytes
expect 'a file as a C array' sh -c "'$tools/bin2c' --name text bytes > text.h && printf '#include <string.h>\n#include \"text.h\"\nint main(void) { return sizeof text != 10 || memcmp(text, \"abcdefghij\", 10); }' > text.c && cc text.c -o text && ./text"
expect 'wide elements, bytes behind' sh -c "'$tools/bin2c' -n=wide -t longlong --padd 0 --const --length bytes | tr -d '\n' | grep -q 'wide_length = 11ULL;const unsigned long long wide\[\] = {0x6867666564636261ULL,0x0000000000006a69ULL}'"
expect 'no such file' sh -c "! '$tools/bin2c' nothere"

[ $failures -eq 0 ] && echo "all as expected"
exit $failures
