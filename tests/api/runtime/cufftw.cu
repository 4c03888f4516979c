// FFTW's names, as a program uses them that was written for a CPU: the host's arrays, and device memory that kernels
// fill before and read behind the transforms.
#include <cufftw.h>

#include <cmath>

#include "expect.hpp"

constexpr int kSize = 48, kHalf = kSize / 2 + 1;

__global__ void fill(double* cells) { cells[threadIdx.x] = threadIdx.x == 2 ? 1.0 : 0.0; }
__global__ void scale(double* cells) { cells[threadIdx.x] /= kSize; }

void testHost() {
  auto* in = static_cast<fftwf_complex*>(fftwf_malloc(kSize * sizeof(fftwf_complex)));
  auto* out = static_cast<fftwf_complex*>(fftwf_malloc(kSize * sizeof(fftwf_complex)));
  const fftwf_plan plan = fftwf_plan_dft_1d(kSize, in, out, FFTW_FORWARD, FFTW_MEASURE);
  for (int i = 0; i < kSize; ++i) in[i][0] = std::cos(2 * 3.14159265f * 5 * i / kSize), in[i][1] = 0;
  fftwf_execute(plan);
  for (int k = 0; k < kSize; ++k)
    EXPECT(std::fabs(out[k][0] - (k == 5 || k == kSize - 5 ? kSize / 2 : 0)) < 1e-3f && std::fabs(out[k][1]) < 1e-3f);
  fftwf_destroy_plan(plan);
  fftwf_free(in), fftwf_free(out);
}

void testDevice() {
  double* cells = nullptr;
  fftw_complex* spectrum = nullptr;
  EXPECT_OK(cudaMalloc(&cells, kSize * sizeof(double)));
  EXPECT_OK(cudaMalloc(&spectrum, kHalf * sizeof(fftw_complex)));
  const fftw_plan forward = fftw_plan_dft_r2c_1d(kSize, cells, spectrum, FFTW_ESTIMATE);
  const fftw_plan back = fftw_plan_dft_c2r_1d(kSize, spectrum, cells, FFTW_ESTIMATE);
  fill<<<1, kSize>>>(cells);
  fftw_execute(forward);
  EXPECT_OK(cudaMemset(cells, 0, kSize * sizeof(double)));
  fftw_execute(back);
  scale<<<1, kSize>>>(cells);
  double result[kSize];
  EXPECT_OK(cudaMemcpy(result, cells, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kSize; ++i) EXPECT(std::fabs(result[i] - (i == 2 ? 1 : 0)) < 1e-12);
  fftw_destroy_plan(forward), fftw_destroy_plan(back);
  EXPECT_OK(cudaFree(cells));
  EXPECT_OK(cudaFree(spectrum));
}

int main() {
  testHost();
  testDevice();
  return finish();
}
