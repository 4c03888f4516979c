"""Correct kernels with marked places, and what can go wrong at each: read by mutations_fuzz.py.

A mark is [[KIND:text]] or [[KIND:text=>text that is wrong]]. The kinds: B, a barrier or fence, which is removed; I, an
index, which is shifted; S, a scope, which is narrowed, or an atomic, which becomes plain; Z, an initialisation, which
is dropped. No mark is where a mutation would have a thread wait for ever.
"""
import re

KINDS = {"B": "barrier or fence removed", "I": "index shifted", "S": "scope narrowed or atomic made plain",
         "Z": "initialisation dropped"}
MARK = re.compile(r"\[\[([BISZ]):((?:(?!\[\[[BISZ]:|=>).)*?)(?:=>((?:(?!\[\[[BISZ]:).)*?))?\]\]", re.S)
SHIFTS = ["+ 1", "- 1", "+ 2", "+ 32", "- 32", "^ 1", "/ 2", "* 2"]

# Each has in, out and words of {n} integers, {n} = grid * block, and 32 words of zeros (tickets, flags, totals).
KERNELS = {
    "copy": """
  const unsigned i = blockIdx.x * {block} + threadIdx.x;
  out[[[I:i]]] = in[[[I:i]]] + {value};""",
    "stride": """
  for (unsigned i = threadIdx.x; i < {block}; i += {block} / 2) {{
    const unsigned at = blockIdx.x * {block} + i;
    if (threadIdx.x < {block} / 2) out[[[I:at]]] = in[[[I:at]]] * {value};
  }}""",
    "rows": """
  const unsigned i = blockIdx.x * {block} + threadIdx.x;
  const unsigned first = static_cast<unsigned>(in[[[I:i]]]) % ({n} - 7), end = first + static_cast<unsigned>(in[first]) % 8;
  int sum = 0;
  for (unsigned k = first; k < end; ++k) sum += in[[[I:k]]];
  out[[[I:i]]] = sum;""",
    "reverse": """
  __shared__ int part[{block}];
  const unsigned i = blockIdx.x * {block} + threadIdx.x;
  [[Z:part[threadIdx.x] = in[[[I:i]]];]]
  [[B:__syncthreads();]]
  out[[[I:i]]] = part[[[I:{block} - 1 - threadIdx.x]]];""",
    "rounds": """
  __shared__ int part[{block}];
  int sum = 0;
  for (int turn = 0; turn < 3; ++turn) {{
    part[threadIdx.x] = sum + turn;
    [[B:__syncthreads();]]
    sum += part[[[I:({block} - 1 - threadIdx.x)]]];
    [[B:__syncthreads();]]
  }}
  out[blockIdx.x * {block} + [[I:threadIdx.x]]] = sum;""",
    "tree": """
  __shared__ int part[{block}];
  [[Z:part[threadIdx.x] = in[blockIdx.x * {block} + [[I:threadIdx.x]]];]]
  [[B:__syncthreads();]]
  for (unsigned s = {block} / 2; s > 0; s /= 2) {{
    if (threadIdx.x < s) part[threadIdx.x] += part[[[I:threadIdx.x + s]]];
    [[B:__syncthreads();]]
  }}
  if (threadIdx.x == 0) out[[[I:blockIdx.x]]] = part[0];""",
    "warp_tree": """
  __shared__ int part[{block}];
  const unsigned lane = threadIdx.x % 32;
  [[Z:part[threadIdx.x] = in[threadIdx.x];]]
  [[B:__syncwarp();]]
  for (unsigned s = 16; s > 0; s /= 2) {{
    const int other = lane < s ? part[[[I:threadIdx.x + s]]] : 0;
    [[B:__syncwarp();]]
    if (lane < s) part[[[I:threadIdx.x]]] += other;
    [[B:__syncwarp();]]
  }}
  if (lane == 0) out[blockIdx.x * {block} + threadIdx.x] = part[threadIdx.x];""",
    "scan": """
  __shared__ int part[2][{block}];
  int from = 0;
  [[Z:part[0][threadIdx.x] = in[threadIdx.x];]]
  [[B:__syncthreads();]]
  for (unsigned s = 1; s < {block}; s *= 2) {{
    int sum = part[from][threadIdx.x];
    if (threadIdx.x >= s) sum += part[from][[[I:threadIdx.x - s]]];
    part[1 - from][[[I:threadIdx.x]]] = sum;
    from = 1 - from;
    [[B:__syncthreads();]]
  }}
  out[blockIdx.x * {block} + threadIdx.x] = part[from][threadIdx.x];""",
    "halo": """
  __shared__ int part[{block} + 2];
  const unsigned i = blockIdx.x * {block} + threadIdx.x;
  part[threadIdx.x + 1] = in[i];
  [[Z:if (threadIdx.x == 0) part[0] = i > 0 ? in[i - 1] : 0;]]
  [[Z:if (threadIdx.x == {block} - 1) part[{block} + 1] = i + 1 < {n} ? in[i + 1] : 0;]]
  [[B:__syncthreads();]]
  out[[[I:i]]] = part[threadIdx.x] + part[threadIdx.x + 1] + part[[[I:threadIdx.x + 2]]];""",
    "bins": """
  __shared__ int bins[32];
  [[Z:if (threadIdx.x < 32) bins[threadIdx.x] = 0;]]
  [[B:__syncthreads();]]
  [[S:atomicAdd(&bins[in[blockIdx.x * {block} + threadIdx.x] & 31], 1);=>++bins[in[threadIdx.x] & 31];]]
  [[B:__syncthreads();]]
  if (threadIdx.x < 32) [[S:atomicAdd=>atomicAdd_block]](&zeros[[[I:threadIdx.x]]], bins[threadIdx.x]);""",
    "total": """
  [[S:atomicAdd=>atomicAdd_block]](&zeros[[[I:0]]], in[blockIdx.x * {block} + threadIdx.x]);
  [[S:atomicMax=>atomicMax_block]](&zeros[1], in[[[I:threadIdx.x]]]);""",
    "last_block": """
  __shared__ bool isLast;
  if (threadIdx.x == 0) {{
    words[blockIdx.x] = in[blockIdx.x];
    [[B:[[S:__threadfence();=>__threadfence_block();]]]]
    isLast = [[S:atomicAdd=>atomicAdd_block]](&zeros[0], 1) == {grid} - 1;
    [[B:[[S:__threadfence();=>__threadfence_block();]]]]
  }}
  [[B:__syncthreads();]]
  if (isLast && threadIdx.x < {grid}) out[threadIdx.x] = words[[[I:threadIdx.x]]];""",
    "message": """
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {{
    words[0] = in[0];
    [[B:[[S:__threadfence();=>__threadfence_block();]]]]
    [[S:atomicExch=>atomicExch_block]](&zeros[0], 1);
  }} else {{
    while ([[S:atomicAdd=>atomicAdd_block]](&zeros[0], 0) == 0) {{
    }}
    [[B:[[S:__threadfence();=>__threadfence_block();]]]]
    out[[[I:blockIdx.x]]] = words[0];
  }}""",
    "release": """
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {{
    words[0] = in[0];
    asm volatile("[[S:st.release.gpu=>st.release.cta]].global.u32 [%0], 1;" ::"l"(zeros) : "memory");
  }} else {{
    int isThere = 0;
    while (!isThere)
      asm volatile("[[S:ld.acquire.gpu=>ld.acquire.cta]].global.u32 %0, [%1];" : "=r"(isThere) : "l"(zeros) : "memory");
    out[[[I:blockIdx.x]]] = words[0];
  }}""",
    "lock": """
  if (threadIdx.x != 0) return;
  while ([[S:atomicCAS=>atomicCAS_block]](&zeros[0], 0, 1) != 0) {{
  }}
  [[B:[[S:__threadfence();=>__threadfence_block();]]]]
  zeros[1] += {value};
  [[B:[[S:__threadfence();=>__threadfence_block();]]]]
  [[S:atomicExch=>atomicExch_block]](&zeros[0], 0);""",
}
HOST = "[[Z:cudaMemset(in, {fill}, {n} * 4);]]"


class Marked:
    """A text and its marks, of which one may come out wrong."""

    def __init__(self, text):
        self.marks = []  # (kind, text, wrong text or None); marks inside of others are tokens in those
        while (mark := MARK.search(text)):
            text = text[:mark.start()] + f"\1{len(self.marks)}\2" + text[mark.end():]
            self.marks.append(mark.groups())
        self.text = text

    def places(self, kind):
        return [k for k, mark in enumerate(self.marks) if mark[0] == kind]

    def wrong(self, mark, shift):
        kind, text, other = self.marks[mark]
        return f"({text}) {shift}" if kind == "I" else other if kind == "S" else ";"

    def plain(self, mutated=None, shift=""):
        text = self.text
        while (token := re.search("\1(\\d+)\2", text)):
            mark = int(token.group(1))
            body = self.wrong(mark, shift) if mark == mutated else self.marks[mark][1]
            text = text[:token.start()] + body + text[token.end():]
        return text
