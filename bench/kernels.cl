// The kernels of cuda_cases.cu in OpenCL C, line for line where the language allows it. PoCL 3.1 has no sub-group
// shuffles, so two reductions end in a tree in local memory instead of a warp shuffle.

__kernel void saxpy(__global const float* x, __global float* y, float a, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

/// The sum over the work-group, in its first item.
int sumOfGroup(int sum, __local int* partial) {
  uint tid = get_local_id(0);
  partial[tid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = get_local_size(0) / 2; stride > 0; stride /= 2) {
    if (tid < stride) partial[tid] += partial[tid + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return partial[0];
}

__kernel void reduceBest(__global const int* in, __global int* out, uint n) {
  __local int partial[256];
  uint first = get_group_id(0) * get_local_size(0) * 8 + get_local_id(0);
  int sum = 0;
#pragma unroll
  for (uint k = 0; k < 8; ++k)
    if (first + k * get_local_size(0) < n) sum += in[first + k * get_local_size(0)];
  sum = sumOfGroup(sum, partial);
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

__kernel void reduceGridStride(__global const int4* in, __global int* out, uint quads) {
  __local int partial[256];
  int sum = 0;
  for (uint i = get_global_id(0); i < quads; i += get_global_size(0)) {
    int4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = sumOfGroup(sum, partial);
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

__kernel void reduceNeighbored(__global int* in, __global int* out, uint n) {
  uint tid = get_local_id(0);
  __global int* data = in + get_group_id(0) * get_local_size(0);
  for (uint stride = 1; stride < get_local_size(0); stride *= 2) {
    if (get_global_id(0) < n && tid % (2 * stride) == 0) data[tid] += data[tid + stride];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (tid == 0) out[get_group_id(0)] = data[0];
}

__kernel void matmulNaive(__global const float* a, __global const float* b, __global float* c, int n) {
  int row = get_global_id(1);
  int column = get_global_id(0);
  if (row < n && column < n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
}

// TILE is given when the program is built.
__kernel void matmulTiled(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float tileA[TILE][TILE];
  __local float tileB[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int step = 0; step < n / TILE; ++step) {
    tileA[ty][tx] = a[row * n + step * TILE + tx];
    tileB[ty][tx] = b[(step * TILE + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tileA[ty][k] * tileB[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void transpose(__global const float* in, __global float* out, int n) {
  __local float tile[32][33];
  int x = get_group_id(0) * 32 + get_local_id(0);
  int y = get_group_id(1) * 32 + get_local_id(1);
  for (int j = 0; j < 32; j += 8) tile[get_local_id(1) + j][get_local_id(0)] = in[(y + j) * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + get_local_id(0);
  y = get_group_id(0) * 32 + get_local_id(1);
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[get_local_id(0)][get_local_id(1) + j];
}

__kernel void histogram(__global const uchar* text, uint n, __global uint* bins) {
  __local uint mine[256];
  mine[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&mine[text[i]], 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[get_local_id(0)], mine[get_local_id(0)]);
}

__kernel void histogram_global(__global const uchar* text, uint n, __global uint* bins) {
  uint i = get_global_id(0);
  if (i < n) atomic_add(&bins[text[i]], 1u);
}

// LEFT, TOP and LIMIT are given when the program is built.
__kernel void mandelbrot(__global uint* counts, int n, float step) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column >= n) return;
  float cx = fma((float)column, step, LEFT), cy = fma((float)row, step, TOP);
  float x = 0, y = 0;
  uint count = 0;
  while (count < LIMIT && fma(x, x, y * y) <= 4.0f) {
    float next = fma(x, x, fma(-y, y, cx));
    y = fma(x + x, y, cy);
    x = next;
    ++count;
  }
  counts[row * n + column] = count;
}

__kernel void collatz(__global uint* steps, uint n) {
  uint i = get_global_id(0);
  if (i >= n) return;
  uint count = 0;
  for (ulong x = i + 1; x != 1; ++count) x = x % 2 ? 3 * x + 1 : x / 2;
  steps[i] = count;
}

__kernel void xorshift(__global uint* numbers, int steps) {
  uint i = get_global_id(0), x = i + 1;
  for (int step = 0; step < steps; ++step) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  numbers[i] = x;
}

// Steps within the block where cuda_cases.cu shuffles.
__kernel void scanBlocks(__global const uint* in, __global uint* out, __global uint* sums, uint n) {
  __local uint mine[256];
  uint i = get_global_id(0), t = get_local_id(0);
  uint sum = i < n ? in[i] : 0;
  mine[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = 1; offset < get_local_size(0); offset *= 2) {
    if (t >= offset) sum += mine[t - offset];
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = sum;
  if (t == get_local_size(0) - 1) sums[get_group_id(0)] = sum;
}

__kernel void addOffsets(__global uint* out, __global const uint* sums, uint n) {
  uint i = get_global_id(0);
  if (get_group_id(0) > 0 && i < n) out[i] += sums[get_group_id(0) - 1];
}

__kernel void bitonicShared(__global const uint* in, __global uint* keys, uint firstStage, uint lastStage) {
  __local uint mine[1024];
  uint t = get_local_id(0), half_ = get_local_size(0), base = get_group_id(0) * half_ * 2;
  mine[t] = in[base + t];
  mine[t + half_] = in[base + t + half_];
  for (uint stage = firstStage; stage <= lastStage; stage *= 2)
    for (uint distance = min(stage / 2, half_); distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      uint low = 2 * t - (t & (distance - 1));
      uint a = mine[low], b = mine[low + distance];
      if ((a > b) == (((base + low) & stage) == 0)) {
        mine[low] = b;
        mine[low + distance] = a;
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  keys[base + t] = mine[t];
  keys[base + t + half_] = mine[t + half_];
}

__kernel void bitonicGlobal(__global uint* keys, uint stage, uint distance) {
  uint t = get_global_id(0);
  uint low = 2 * t - (t & (distance - 1));
  uint a = keys[low], b = keys[low + distance];
  if ((a > b) == ((low & stage) == 0)) {
    keys[low] = b;
    keys[low + distance] = a;
  }
}

__kernel void spmv(__global const uint* rowStart, __global const uint* columns, __global const float* values,
                   __global const float* x, __global float* y, uint n) {
  uint row = get_global_id(0);
  if (row >= n) return;
  float sum = 0;
  for (uint k = rowStart[row]; k < rowStart[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// A warp's worth of work-items for each row; their sums meet in local memory where cuda_cases.cu shuffles.
__kernel void spmvWarp(__global const uint* rowStart, __global const uint* columns, __global const float* values,
                       __global const float* x, __global float* y, uint n) {
  __local float sums[128];
  uint t = get_local_id(0), lane = t % 32, row = get_global_id(0) / 32;
  float sum = 0;
  if (row < n)
    for (uint k = rowStart[row] + lane; k < rowStart[row + 1]; k += 32) sum += values[k] * x[columns[k]];
  sums[t] = sum;
  for (uint offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) sums[t] += sums[t + offset];
  }
  if (lane == 0 && row < n) y[row] = sums[t];
}

__kernel void searchLevel(__global const uint* rowStart, __global const uint* columns, __global uint* away, uint level,
                          __global uint* goesOn, uint n) {
  uint v = get_global_id(0);
  if (v >= n || away[v] != level) return;
  for (uint k = rowStart[v]; k < rowStart[v + 1]; ++k)
    if (away[columns[k]] == 0xffffffffu) {
      away[columns[k]] = level + 1;
      *goesOn = 1;
    }
}

typedef struct {
  float x, y, z, vx, vy, vz, mass;
  uint wall;
} Particle;

// BOX, SIDE and CELL_SOFTENING are given when the program is built.
uint moveAlong(float* place, float* step) {
  *place += *step;
  if (*place >= 0 && *place <= BOX) return 0;
  *step = -*step;
  return 1;
}

__kernel void moveParticles(__global Particle* particles, uint n) {
  uint i = get_global_id(0);
  if (i >= n) return;
  Particle p = particles[i];
  p.wall += moveAlong(&p.x, &p.vx);
  p.wall += moveAlong(&p.y, &p.vy);
  p.wall += moveAlong(&p.z, &p.vz);
  particles[i] = p;
}

float wrap(int* cell) {
  float shift = *cell < 0 ? -SIDE : *cell >= SIDE ? SIDE : 0;
  *cell -= (int)shift;
  return shift;
}

__kernel void cellForces(__global const float4* particles, __global const uint* cellStart, __global float* out,
                         uint n) {
  uint i = get_global_id(0);
  if (i >= n) return;
  float4 me = particles[i];
  float fx = 0, fy = 0, fz = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        int cx = (int)me.x + dx, cy = (int)me.y + dy, cz = (int)me.z + dz;
        float atX = me.x - wrap(&cx), atY = me.y - wrap(&cy), atZ = me.z - wrap(&cz);
        int cell = (cz * SIDE + cy) * SIDE + cx;
        for (uint k = cellStart[cell]; k < cellStart[cell + 1]; ++k) {
          float4 other = particles[k];
          float x = other.x - atX, y = other.y - atY, z = other.z - atZ;
          float squared = x * x + y * y + z * z;
          if (squared < 1) {
            float inverse = 1 / (squared + CELL_SOFTENING), six = inverse * inverse * inverse;
            float strength = other.w * six * (six - 1) * inverse;
            fx += strength * x;
            fy += strength * y;
            fz += strength * z;
          }
        }
      }
  out[i] = fx;
  out[n + i] = fy;
  out[2 * n + i] = fz;
}

// SOFTENING is given when the program is built.
__kernel void nbody(__global const double4* bodies, __global double* out, uint n) {
  __local double4 tile[256];
  uint i = get_global_id(0), t = get_local_id(0);
  double4 me = bodies[i];
  double ax = 0, ay = 0, az = 0;
  for (uint first = 0; first < n; first += get_local_size(0)) {
    tile[t] = bodies[first + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < get_local_size(0); ++j) {
      double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
      double force = tile[j].w * inverse * inverse * inverse;
      ax += force * dx;
      ay += force * dy;
      az += force * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = ax;
  out[n + i] = ay;
  out[2 * n + i] = az;
}

__kernel void stencil(__global const float* in, __global float* out, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = CENTRE * in[i] + BESIDE * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
