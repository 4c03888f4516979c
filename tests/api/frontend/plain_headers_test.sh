#!/bin/sh
# Every header that plain C and C++ programs may include, in several standards, with all warnings as errors.
set -eu
c=$1 cxx=$2 include=$3
for header in cuda_runtime_api.h cuda_device_runtime_api.h driver_types.h vector_types.h cuda.h library_types.h cuda_profiler_api.h cudaTypedefs.h nvml.h cupti.h nvToolsExt.h cuComplex.h nvrtc.h nvJitLink.h; do
  for standard in c99 c11; do
    echo "#include <$header>" | $c -x c -std=$standard -Wall -Wextra -pedantic -Werror -I"$include" -fsyntax-only -
  done
done
for header in cuda_runtime.h cuda_runtime_api.h cuda_device_runtime_api.h vector_functions.h cuda.h cuda_fp16.h cuda_bf16.h cooperative_groups.h math_constants.h \
    device_launch_parameters.h builtin_types.h channel_descriptor.h cuComplex.h nvToolsExt.h texture_fetch_functions.h \
    cuda_fp8.h cuda_fp6.h cuda_fp4.h cuda_pipeline.h cuda_awbarrier.h nvml.h cupti.h cudaTypedefs.h curand_kernel.h nvrtc.h nvJitLink.h; do
  for standard in c++11 c++17 c++20; do
    echo "#include <$header>" | $cxx -x c++ -std=$standard -Wall -Wextra -Werror -isystem "$include" -fsyntax-only -
  done
done
$cxx -std=c++17 -Wall -Wextra -Werror -isystem "$include" -fsyntax-only "$(dirname "$0")/abi.cpp"
# A program of C++ makes room for generators that its kernels use.
for state in XORWOW MRG32k3a Philox4_32_10 Mtgp32 Sobol32 ScrambledSobol64; do
  printf '#include <curand_kernel.h>\nchar room[sizeof(curandState%s_t)];\n' "$state" | $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
done

# What CUDA 12 removed of cuSPARSE may be declared again by programs that do without it.
for info in csrgemm2 csrsm2 csrsv2; do
  printf '#include <cusparse.h>\ntypedef void* %sInfo_t;\n' $info | $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
done

# Programs ask by these names which libraries' headers came before, to know whether a type of status is there.
while read -r header mark; do
  printf '#include <%s>\n#ifndef %s\n#error "%s does not define %s"\n#endif\n' "$header" "$mark" "$header" "$mark" |
    $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
done << 'MARKS'
driver_types.h __DRIVER_TYPES_H__
cublas_v2.h CUBLAS_API_H_
cublas_v2.h CUBLAS_V2_H_
cublas.h CUBLAS_H_
cudnn.h CUDNN_H_
cufft.h _CUFFT_H_
cudalibxt.h _CUDA_LIB_XT_H_
cufftXt.h _CUFFTXT_H_
curand.h CURAND_H_
cusolverDn.h CUSOLVER_COMMON_H_
cusolverDn.h CUSOLVERDN_H_
cusolverRf.h CUSOLVERRF_H_
cusolverSp.h CUSOLVERSP_H_
cusparse.h CUSPARSEAPI
cusparse.h CUSPARSE_H_
npp.h NV_NPPIDEFS_H
nvjpeg.h NVJPEGAPI
MARKS
# The runtime's header brings the element types of the libraries, and NPP's headers the runtime's calls.
printf '#include <cuda_runtime.h>\ncudaDataType type = CUDA_R_16BF;\n' | $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
printf '#include <npp.h>\nint main() { return cudaFree(0); }\n' | $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
# It brings <utility>, and so <initializer_list>.
printf '#include <cuda_runtime.h>\nint main() { for (int i : {0, 0}) return std::exchange(i, 1); }\n' |
  $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
# Calls whose last arguments a program of C++ may leave out without cuda_runtime.h, too.
printf '#include <cuda_runtime_api.h>\nint main() { void* p; return cudaMallocManaged(&p, 4) + cudaMemcpyAsync(p, p, 4, cudaMemcpyDefault); }\n' |
  $cxx -x c++ -std=c++17 -isystem "$include" -fsyntax-only -
