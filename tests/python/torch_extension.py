"""An extension of PyTorch in CUDA C++, given as text (torch.utils.cpp_extension.load_inline): compiled by the nvcc that
`ordito run` puts in PATH, against PyTorch's own headers, and run on PyTorch's tensors and streams."""
import shutil
import sys
import tempfile

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

template <class T>
__global__ void scale(int count, float factor, const T* in, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = static_cast<T>(factor * static_cast<float>(in[i]));
}

template <class T>
__global__ void sums(int columns, const T* in, float* out) {
  extern __shared__ float parts[];
  float total = 0;
  for (int k = threadIdx.x; k < columns; k += blockDim.x) total += static_cast<float>(in[blockIdx.x * columns + k]);
  parts[threadIdx.x] = total;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

torch::Tensor scaled(torch::Tensor in, double factor) {
  TORCH_CHECK(in.is_cuda() && in.is_contiguous(), "wants a contiguous tensor of the device");
  const c10::cuda::CUDAGuard guard(in.device());
  auto out = torch::empty_like(in);
  const int count = in.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "scaled", [&] {
    scale<scalar_t><<<(count + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        count, factor, in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

// The structure is laid out by the CUDA that PyTorch was built for.
int64_t processors() { return at::cuda::getCurrentDeviceProperties()->multiProcessorCount; }

torch::Tensor row_sums(torch::Tensor in) {
  auto out = torch::empty({in.size(0)}, in.options().dtype(torch::kFloat));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(in.scalar_type(), "row_sums", [&] {
    sums<scalar_t><<<in.size(0), 64, 64 * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(
        in.size(1), in.data_ptr<scalar_t>(), out.data_ptr<float>());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""
DECLARATIONS = """
torch::Tensor scaled(torch::Tensor in, double factor);
torch::Tensor row_sums(torch::Tensor in);
int64_t processors();
"""


def check(condition, what):
    print(f"{'ok  ' if condition else 'FAILED'} {what}")
    if not condition:
        sys.exit(1)


def main(folder):
    extension = load_inline("ordito_extension", DECLARATIONS, SOURCE, functions=["scaled", "row_sums", "processors"],
                            build_directory=folder)
    torch.manual_seed(1)
    for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        here = torch.randn(1000).to(kind)
        check(torch.equal(extension.scaled(here.cuda(), 0.5).cpu(), here * 0.5), f"elements of {kind}")
    check(extension.processors() == torch.cuda.get_device_properties(0).multi_processor_count, "the device's properties")
    rows = torch.randn(7, 300)
    check(torch.allclose(extension.row_sums(rows.cuda()).cpu(), rows.sum(1), atol=1e-4), "sums by shared memory")
    with torch.cuda.stream(torch.cuda.Stream()):
        check(torch.allclose(extension.scaled(rows.cuda(), 3).cpu(), 3 * rows), "another stream")
    try:
        extension.scaled(rows, 2)
        check(False, "a tensor of the host is refused")
    except RuntimeError as refused:
        check("wants a contiguous tensor of the device" in str(refused), "a tensor of the host is refused")


if not shutil.which("ninja"):
    print("skipped: torch.utils.cpp_extension wants ninja")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
