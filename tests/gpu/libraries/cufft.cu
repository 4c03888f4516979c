// cuFFT: statuses of bad arguments (cases.hpp).
#include <cufft.h>
#include <cufftXt.h>

#include "cases.hpp"

namespace {

void plans(Cases& cases) {
  cufftHandle p = 0;
  size_t size = 0;
  int n[4] = {4, 4, 4, 4}, none[1] = {0}, version = 0;
  CASE("1d: null", cufftPlan1d(nullptr, 8, CUFFT_C2C, 1));
  CASE("1d: 0", cufftPlan1d(&p, 0, CUFFT_C2C, 1));
  CASE("1d: -1", cufftPlan1d(&p, -1, CUFFT_C2C, 1));
  CASE("1d: 1", cufftPlan1d(&p, 1, CUFFT_C2C, 1));
  CASE("1d: 1, real", cufftPlan1d(&p, 1, CUFFT_R2C, 1));
  CASE("1d: batch 0", cufftPlan1d(&p, 8, CUFFT_C2C, 0));
  CASE("1d: batch -1", cufftPlan1d(&p, 8, CUFFT_C2C, -1));
  CASE("1d: type 0", cufftPlan1d(&p, 8, cufftType(0), 1));
  CASE("1d: a prime above 2^20", cufftPlan1d(&p, 1048583, CUFFT_C2C, 1));
  CASE("2d: 0", cufftPlan2d(&p, 0, 8, CUFFT_C2C));
  CASE("3d: 0", cufftPlan3d(&p, 8, 8, 0, CUFFT_C2C));
  CASE("many: rank 0", cufftPlanMany(&p, 0, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  CASE("many: rank 4", cufftPlanMany(&p, 4, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  CASE("many: no n", cufftPlanMany(&p, 1, nullptr, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  CASE("many: n 0", cufftPlanMany(&p, 1, none, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  CASE("many: stride 0", cufftPlanMany(&p, 1, n, n, 0, 4, n, 1, 4, CUFFT_C2C, 1));
  CASE("many: stride -1", cufftPlanMany(&p, 1, n, n, -1, 4, n, 1, 4, CUFFT_C2C, 1));
  CASE("many: distance 0, batch 2", cufftPlanMany(&p, 1, n, n, 1, 0, n, 1, 4, CUFFT_C2C, 2));
  CASE("many: distance -4", cufftPlanMany(&p, 1, n, n, 1, -4, n, 1, 4, CUFFT_C2C, 2));
  CASE("many: inembed less than n", cufftPlanMany(&p, 2, n, n + 2, 1, 16, none, 1, 16, CUFFT_C2C, 1));
  CASE("many: inembed alone", cufftPlanMany(&p, 1, n, n, 1, 4, nullptr, 1, 4, CUFFT_C2C, 1));
  CASE("many: onembed alone", cufftPlanMany(&p, 1, n, nullptr, 1, 4, n, 1, 4, CUFFT_C2C, 1));
  CASE("create: null", cufftCreate(nullptr));
  CASE("destroy: a plan that there is not", cufftDestroy(12345));
  CASE("destroy: -1", cufftDestroy(-1));
  cufftHandle twice = 0;
  CASE("destroy: once", cufftCreate(&twice), std::to_string(cufftDestroy(twice)));
  CASE("destroy: twice", cufftDestroy(twice));
  cufftHandle made = 0;
  CASE("make: no size", cufftCreate(&made), std::to_string(cufftMakePlan1d(made, 8, CUFFT_C2C, 1, nullptr)));
  CASE("make: a plan", cufftMakePlan1d(made, 8, CUFFT_C2C, 1, &size));
  CASE("make: again", cufftMakePlan1d(made, 16, CUFFT_C2C, 1, &size));
  CASE("make: a plan that there is not", cufftMakePlan1d(12345, 8, CUFFT_C2C, 1, &size));
  CASE("size: no answer", cufftGetSize(made, nullptr));
  CASE("size: a plan that there is not", cufftGetSize(12345, &size));
  CASE("estimate: 0", cufftEstimate1d(0, CUFFT_C2C, 1, &size));
  CASE("estimate: no answer", cufftEstimate1d(8, CUFFT_C2C, 1, nullptr));
  CASE("version: null", cufftGetVersion(nullptr));
  CASE("property: 9", cufftGetProperty(libraryPropertyType(9), &version));
  CASE("property: null", cufftGetProperty(MAJOR_VERSION, nullptr));
}

void executions(Cases& cases) {
  cufftHandle c2c = 0, r2c = 0, c2r = 0, empty = 0, own = 0;
  size_t size = 0;
  cufftPlan1d(&c2c, 8, CUFFT_C2C, 1);
  cufftPlan1d(&r2c, 8, CUFFT_R2C, 1);
  cufftPlan1d(&c2r, 8, CUFFT_C2R, 1);
  cufftCreate(&empty);
  auto* data = zeros<cufftComplex>(64);
  auto* wide = zeros<cufftDoubleComplex>(64);
  auto* real = reinterpret_cast<float*>(data);
  CASE("c2c", cufftExecC2C(c2c, data, data, CUFFT_FORWARD));
  CASE("c2c: direction 0", cufftExecC2C(c2c, data, data, 0));
  CASE("c2c: direction 2", cufftExecC2C(c2c, data, data, 2));
  CASE("c2c: no input", cufftExecC2C(c2c, nullptr, data, CUFFT_FORWARD));
  CASE("c2c: no output", cufftExecC2C(c2c, data, nullptr, CUFFT_FORWARD));
  CASE("c2c: a plan that there is not", cufftExecC2C(12345, data, data, CUFFT_FORWARD));
  CASE("c2c: a plan not made", cufftExecC2C(empty, data, data, CUFFT_FORWARD));
  CASE("c2c: by a plan of r2c", cufftExecC2C(r2c, data, data, CUFFT_FORWARD));
  CASE("z2z: by a plan of c2c", cufftExecZ2Z(c2c, wide, wide, CUFFT_FORWARD));
  CASE("r2c: by a plan of c2c", cufftExecR2C(c2c, real, data));
  CASE("r2c: by a plan of c2r", cufftExecR2C(c2r, real, data));
  CASE("c2r: by a plan of r2c", cufftExecC2R(r2c, data, real));
  CASE("r2c: no input", cufftExecR2C(r2c, nullptr, data));
  CASE("r2c: at an odd address", cufftExecR2C(r2c, real + 1, data + 16));
  CASE("stream: a plan that there is not", cufftSetStream(12345, nullptr));
  CASE("stream: a plan not made", cufftSetStream(empty, nullptr));
  CASE("allocation: a plan that there is not", cufftSetAutoAllocation(12345, 0));
  CASE("allocation: a plan already made", cufftSetAutoAllocation(c2c, 0));
  cufftCreate(&own);
  CASE("allocation: 5", cufftSetAutoAllocation(own, 5));
  CASE("allocation: off", cufftSetAutoAllocation(own, 0));
  CASE("work area: before the plan", cufftSetWorkArea(own, data));
  CASE("work area: the plan", cufftMakePlan1d(own, 7919, CUFFT_C2C, 1, &size));
  CASE("work area: none", cufftSetWorkArea(own, nullptr));
  CASE("work area: a plan that there is not", cufftSetWorkArea(12345, data));
  CASE("work area: none was set",
       cufftExecC2C(own, zeros<cufftComplex>(8000), zeros<cufftComplex>(8000), CUFFT_FORWARD));
}

cufftResult half(long long n, cudaDataType in, cudaDataType out, cudaDataType compute) {
  cufftHandle plan = 0;
  size_t size = 0;
  cufftCreate(&plan);
  return cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 1, in, nullptr, 1, 1, out, 1, &size, compute);
}

void extended(Cases& cases) {
  int one[1] = {0};
  cufftHandle plan = 0;
  CASE("half: 8", half(8, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F));
  CASE("half: 12", half(12, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F));
  CASE("half: 8, real", half(8, CUDA_R_16F, CUDA_C_16F, CUDA_C_16F));
  CASE("half: 8 in float", half(8, CUDA_C_16F, CUDA_C_16F, CUDA_C_32F));
  CASE("half: to float", half(8, CUDA_C_16F, CUDA_C_32F, CUDA_C_32F));
  CASE("bfloat16: 8", half(8, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF));
  CASE("float: 8", half(8, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F));
  CASE("float: real to real", half(8, CUDA_R_32F, CUDA_R_32F, CUDA_C_32F));
  CASE("float: 0", half(0, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F));
  CASE("int8: 8", half(8, CUDA_C_8I, CUDA_C_8I, CUDA_C_32F));
  cufftCreate(&plan);
  CASE("gpus: one", cufftXtSetGPUs(plan, 1, one));
  CASE("gpus: 0", cufftXtSetGPUs(plan, 0, one));
  CASE("gpus: no list", cufftXtSetGPUs(plan, 1, nullptr));
  CASE("gpus: a plan that there is not", cufftXtSetGPUs(12345, 1, one));
  CASE("callback: a plan not made", cufftXtSetCallback(plan, nullptr, CUFFT_CB_LD_COMPLEX, nullptr));
  CASE("callback: clear what is not set", cufftXtClearCallback(plan, CUFFT_CB_LD_COMPLEX));
}

void destroyed(Cases& cases) {
  cufftHandle plan = 0;
  cufftPlan1d(&plan, 8, CUFFT_C2C, 1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cufftSetStream(plan, stream);
  cudaStreamDestroy(stream);
  auto* data = zeros<cufftComplex>(8);
  CASE("destroyed stream: c2c", cufftExecC2C(plan, data, data, CUFFT_FORWARD));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cudaFree(nullptr);
  plans(cases);
  executions(cases);
  extended(cases);
  destroyed(cases);
}
