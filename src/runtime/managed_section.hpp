// Which variables of a clang-built program are __managed__.
//
// clang-19 has no managed variables for CUDA: our headers make them __device__ variables whose host shadow lies in an
// ELF section of its own, and the shadow becomes the storage that kernels use. Registration does not tell them from
// plain __device__ variables, so the section does.
#pragma once

namespace ordito::runtime {

/// Whether `address` lies in the section of managed variables of the executable or library that contains it.
bool isManagedShadow(const void* address);

}  // namespace ordito::runtime
