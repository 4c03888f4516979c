// Large kernels of physics in double precision, in the manner of shock codes: the eight corners of hexahedra gathered,
// volumes and gradients by long straight formulas, an equation of state with many cases. Compile with -fmad=false
// -Xcompiler -ffp-contract=off, so that the host computes the same.
#include <cmath>
#include <vector>

#include "first_result.cuh"

struct Corners {
  double x[8], y[8], z[8];
};

__host__ __device__ inline double triple(double ax, double ay, double az, double bx, double by, double bz, double cx,
                                         double cy, double cz) {
  return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}

__host__ __device__ inline double volume(const Corners& c) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    const int a = k == 0 ? 1 : k == 1 ? 2 : k == 2 ? 3 : k == 3 ? 4 : k == 4 ? 5 : 6, b = k == 5 ? 1 : a + 1;
    sum += fabs(triple(c.x[a] - c.x[0], c.y[a] - c.y[0], c.z[a] - c.z[0], c.x[b] - c.x[0], c.y[b] - c.y[0],
                       c.z[b] - c.z[0], c.x[7] - c.x[0], c.y[7] - c.y[0], c.z[7] - c.z[0]));
  }
  return sum / 6;
}

/// The derivative of the volume by each coordinate, by differences of the formula.
__host__ __device__ inline void gradients(const Corners& c, double (&gx)[8], double (&gy)[8], double (&gz)[8]) {
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    Corners moved = c;
    moved.x[k] += 0x1p-20;
    gx[k] = (volume(moved) - volume(c)) * 0x1p20;
    moved = c;
    moved.y[k] += 0x1p-20;
    gy[k] = (volume(moved) - volume(c)) * 0x1p20;
    moved = c;
    moved.z[k] += 0x1p-20;
    gz[k] = (volume(moved) - volume(c)) * 0x1p20;
  }
}

/// Pressure and energy with cut-offs; each step can go several ways.
__host__ __device__ inline void equationOfState(double v, double q, double& e, double& p, double& c) {
#pragma unroll
  for (int step = 0; step < 6; ++step) {
    const double compression = 1 / v - 1;
    double slope = (2.0 / 3) * (compression + 1);
    double next = e - 0.5 * (1 - v) * (p + q);
    if (next < -1e15) next = -1e15;
    double pressure = slope * next;
    if (fabs(pressure) < 1e-7) pressure = 0;
    if (v >= 1e9) pressure = 0;
    if (pressure < 0 && step % 2) pressure = 0;
    double speed = (slope * next + v * v * slope * pressure);
    if (speed <= 1.111e-37)
      speed = 3.333e-19;
    else
      speed = sqrt(speed);
    if (compression > 0) {
      if (q > 0)
        next += 0.5 * (1 - v) * (3 * (p + q) - 4 * (pressure + q * speed));
      else
        next += 0.25 * (1 - v) * pressure;
      if (fabs(next) < 1e-7) next = 0;
    } else if (compression < -0.5) {
      next *= 0.5;
    } else {
      next -= q * v;
    }
    e = next, p = pressure, c = speed;
  }
}

__host__ __device__ inline double element(const double* x, const double* y, const double* z, int i, int edge,
                                          double* f) {
  const int plane = edge + 1, base = i % edge + i / edge % edge * plane + i / (edge * edge) * plane * plane;
  const int at[8] = {base,
                     base + 1,
                     base + plane + 1,
                     base + plane,
                     base + plane * plane,
                     base + plane * plane + 1,
                     base + plane * plane + plane + 1,
                     base + plane * plane + plane};
  Corners c;
#pragma unroll
  for (int k = 0; k < 8; ++k) c.x[k] = x[at[k]], c.y[k] = y[at[k]], c.z[k] = z[at[k]];
  double gx[8], gy[8], gz[8];
  gradients(c, gx, gy, gz);
  const double v = volume(c);
  double e = 1 + v, p = 0.5 + c.x[0], s = 0, q = gx[0] > 0 ? 0.1 : -0.1;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    if (gx[k] > gy[k]) q += 0.01 * gx[k];
    if (gz[k] < 0)
      q -= 0.02 * gz[k];
    else if (gx[k] * gy[k] > 0)
      q += 0.03;
    equationOfState(v + 0.01 * k, q, e, p, s);
    f[k] = gx[k] * p + gy[k] * q + gz[k] * s;
  }
  return e;
}

__global__ void forces(const double* x, const double* y, const double* z, int edge, double* f, double* energy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < edge * edge * edge) energy[i] = element(x, y, z, i, edge, f + 8 * i);
}

int main() {
  sinceStart();
  constexpr int edge = 12, nodes = (edge + 1) * (edge + 1) * (edge + 1), elements = edge * edge * edge;
  std::vector<double> host[3];
  double *place[3], *f, *energy;
  for (int d = 0; d < 3; ++d) {
    for (int k = 0; k < nodes; ++k) {
      const int along[3] = {k % (edge + 1), k / (edge + 1) % (edge + 1), k / (edge + 1) / (edge + 1)};
      host[d].push_back(along[d] + 0.001 * (k * 37 % 101));
    }
    cudaMalloc(&place[d], nodes * 8);
    cudaMemcpy(place[d], host[d].data(), nodes * 8, cudaMemcpyHostToDevice);
  }
  cudaMalloc(&f, elements * 64);
  cudaMalloc(&energy, elements * 8);
  forces<<<(elements + 127) / 128, 128>>>(place[0], place[1], place[2], edge, f, energy);
  if (!launched()) return 1;
  std::vector<double> out(elements);
  cudaMemcpy(out.data(), energy, elements * 8, cudaMemcpyDeviceToHost);
  bool right = true;
  double unused[8];
  for (int k = 0; k < elements; ++k) {
    const double wanted = element(host[0].data(), host[1].data(), host[2].data(), k, edge, unused);
    right &= out[k] == wanted;
  }
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return !right;
}
