// A text in upper case, in place, through a table of 256 entries that lies in global, shared or constant memory. Any
// table will do: v = table[v] is one access and no branch, whatever the translation.
#pragma once

constexpr unsigned kEntries = 256;

/// The condition that the table replaces.
__global__ void lookupBranch(unsigned char* text, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned char c = text[i];
    if (c >= 'a' && c <= 'z') text[i] = static_cast<unsigned char>(c - 'a' + 'A');
  }
}

__global__ void lookupGlobal(unsigned char* text, const unsigned char* table, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) text[i] = table[text[i]];
}

/// The table is copied to shared memory first, an entry to a word. Lanes that want different entries of one bank wait
/// for each other. The copy strides by the block, so any block size is right.
__global__ void lookupShared(unsigned char* text, const unsigned char* table, unsigned n) {
  __shared__ unsigned mine[kEntries];
  for (unsigned entry = threadIdx.x; entry < kEntries; entry += blockDim.x) mine[entry] = table[entry];
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    text[i] = static_cast<unsigned char>(mine[text[i]]);
  }
}

__constant__ unsigned char constantTable[kEntries];

/// Constant memory serves one address at a time: lanes that want different entries take turns.
__global__ void lookupConstant(unsigned char* text, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    text[i] = constantTable[text[i]];
  }
}

__device__ inline unsigned translateWord(unsigned word, const unsigned* table) {
  return table[word & 0xff] | table[word >> 8 & 0xff] << 8 | table[word >> 16 & 0xff] << 16 | table[word >> 24] << 24;
}

/// The best form: 16 characters for each load and store. The text must be aligned to 16 bytes; the rest of n / 16 is
/// done one character at a time. (After J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory
/// Access", NVIDIA developer blog, 2013.)
__global__ void lookupSharedWide(unsigned char* text, const unsigned char* table, unsigned n) {
  __shared__ unsigned mine[kEntries];
  for (unsigned entry = threadIdx.x; entry < kEntries; entry += blockDim.x) mine[entry] = table[entry];
  __syncthreads();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint4* quads = reinterpret_cast<uint4*>(text);
  for (unsigned q = thread; q < n / 16; q += gridDim.x * blockDim.x) {
    uint4 quad = quads[q];
    quad.x = translateWord(quad.x, mine);
    quad.y = translateWord(quad.y, mine);
    quad.z = translateWord(quad.z, mine);
    quad.w = translateWord(quad.w, mine);
    quads[q] = quad;
  }
  const unsigned i = n - n % 16 + thread;
  if (i < n) text[i] = static_cast<unsigned char>(mine[text[i]]);
}
