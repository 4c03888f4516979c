"""GPUVerify's directory of CUDA kernels as programs: these have no host code, so each gets some here.

A kernel is launched as its first lines say, with buffers of zeros for pointers, and with several values for all of its
numbers, since what is proved for all values may be wrong for some. What `__requires` asks for ends a thread that has
it not; what else speaks to the prover alone is left out.
"""
import re

PROVER = ("__ensures __assert __assume __invariant __global_invariant __function_wide_invariant __requires_fresh_array "
          "__axiom __non_temporal __global_assert __function_wide_candidate_invariant __candidate_invariant "
          "__array_snapshot __barrier_invariant __barrier_invariant_1 __barrier_invariant_2").split()
NUMBERS = ("total", 1, 0, 2, 64)
HEADER = """#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>
{macros}
#define __requires(...) do {{ if (!(__VA_ARGS__)) asm volatile("exit;"); }} while (0)
#define __implies(a, b) (!(a) || (b))
#define __return_val_int(...) 0
#include "{source}"

template <class T>
struct Argument {{
  static T make(long number) {{
    if constexpr (std::is_pointer_v<T>) {{
      using E = std::remove_const_t<std::remove_pointer_t<T>>;
      void* buffer = nullptr;
      cudaMalloc(&buffer, 1 << 24);
      cudaMemset(buffer, 0, 1 << 24);
      return static_cast<E*>(buffer);
    }} else if constexpr (std::is_arithmetic_v<T>) {{
      return static_cast<T>(number);
    }} else {{
      T zeros;
      memset(static_cast<void*>(&zeros), 0, sizeof zeros);
      return zeros;
    }}
  }}
}};
template <class... T>
void launch(void (*kernel)(T...), dim3 grid, dim3 block, long number) {{
  kernel<<<grid, block>>>(Argument<T>::make(number)...);
  cudaDeviceSynchronize();
}}
int main() {{
  const dim3 grid({grid}), block({block});
  const long total = long(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
  (void)total;
{launches}
}}
"""


def option(text, name):
    """"[4,2]" or "4"."""
    found = re.search(rf"--{name}=(\[[\d, ]+\]|\d+)", text)
    return found.group(1).strip("[]") if found else "1"


def kernels(text):
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    plain = re.sub(r"__launch_bounds__\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)", "", plain)
    return re.findall(r"__global__\s+(?:static\s+)?void\s+(\w+)\s*\(", plain) + \
        re.findall(r"\bvoid\s+__global__\s+(\w+)\s*\(", plain)


def says(text):
    """What the first lines expect: "race", "divergence", "other" (of the prover, or of no race), or "pass"."""
    head = text.split("#include")[0] + "".join(re.findall(r"^//.*$", text, re.MULTILINE))
    if "xfail" not in text.split("\n")[0]:
        return "pass"
    if re.search(r"race|Write by thread|is racy", head):
        return "race"
    return "divergence" if "diverge" in head else "other"


def program(source):
    """The text of a program, or None."""
    text = source.read_text(errors="replace")
    names = kernels(text)
    if not names:
        return None
    launches = "".join(f"  launch({name}, grid, block, {number});\n" for number in NUMBERS for name in names)
    macros = "\n".join(f"#define {name}(...)" for name in PROVER)
    return HEADER.format(macros=macros, source=source, grid=option(text, "gridDim"), block=option(text, "blockDim"),
                         launches=launches)
