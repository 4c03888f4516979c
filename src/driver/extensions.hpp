// What libcudart needs from libcuda beyond the public driver API. All of it is exported from libcuda.so.1 with C
// linkage.
//
// Kept small on purpose: everything that the driver API can say is said with the driver API. Facts that the runtime may
// rely on besides these calls:
//   - The stream handles 0 and CU_STREAM_LEGACY (1) are the legacy default stream of the current context,
//   CU_STREAM_PER_THREAD (2) the calling
//     thread's own. Every call that takes a stream takes all three.
//   - A call without a current context answers CUDA_ERROR_INVALID_CONTEXT; the runtime makes the primary context
//   current first.
//   - The image given to cuModuleLoadData/cuModuleLoadFatBinary may be PTX text, a fat binary, or the wrapper structure
//     (magic 0x466243b1) that the compiler emits around one. Images are parsed when the first symbol is asked for, so
//     the error of a bad image may come from cuModuleGetFunction, cuModuleGetGlobal or ordito* calls.
//   - Managed variables (`.attribute(.managed)`) live in host-accessible memory: cuModuleGetGlobal gives the address to
//   store in the host's shadow pointer.
//   - A kernel's fault is sticky: later calls on the context answer the same error until cuDevicePrimaryCtxReset.
#pragma once

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Loads a module whose image stays readable and unchanged until the module is unloaded (a fat binary inside an
/// executable), so it is not copied. `origin` (may be null) names the image in messages, usually the executable's path.
CUresult orditoModuleLoadStatic(CUmodule* module, const void* image, const char* origin);

/// Makes the variable `name` of `module` live at `address` (host memory of at least the variable's size, valid until
/// the module is unloaded) instead of in device memory of its own, and copies its initial value there. Must come before
/// the module's first launch or cuModuleGetGlobal; afterwards CUDA_ERROR_ILLEGAL_STATE. For a variable that is not in
/// the module CUDA_ERROR_NOT_FOUND.
CUresult orditoModuleBindVariable(CUmodule module, const char* name, void* address);

/// The kernel `name` of the module that has the device function at `address`, as a function pointer in device memory
/// says it: a kernel of another module could not call it. CUDA_ERROR_INVALID_HANDLE for an address of no function.
CUresult orditoKernelBeside(CUfunction* kernel, CUdeviceptr address, const char* name);

/// cuLaunchKernel (or cuLaunchCooperativeKernel when `cooperative`), which also says whether CUDA_ERROR_INVALID_VALUE
/// was due to the grid or the block: the runtime API answers cudaErrorInvalidConfiguration then. `bad_configuration`
/// may be null.
CUresult orditoLaunchKernel(CUfunction function, const unsigned int grid[3], const unsigned int block[3],
                            size_t sharedBytes, CUstream stream, void** parameters, int cooperative,
                            int* badConfiguration);

/// Puts a library's call into a stream: run(data) in the stream's order, or at every launch of the graph that the
/// stream is captured into. The profiler and faults name it `name`. destroy(data) comes once, after the last run, also
/// when the call fails; it may be null.
CUresult orditoLaunchTask(CUstream stream, const char* name, void (*run)(void*), void* data, void (*destroy)(void*));
/// The same, with what the profiler says of the call: operations on floating-point numbers, and bytes read and written.
CUresult orditoLaunchWork(CUstream stream, const char* name, double operations, double bytes, void (*run)(void*),
                          void* data, void (*destroy)(void*));

/// The full message of the calling thread's last failed call, or of the fault that broke the current context: kernel,
/// block, address, what to do. Empty when there is none. Valid until the calling thread's next driver call.
const char* orditoLastErrorMessage(void);

/// Whether the host can back `bytes` more without running out of memory.
int orditoHostHasRoom(unsigned long long bytes);

/// Whether `pointer` may be handed to a copy as host memory (anything that is not device-only memory), as device
/// memory, or both. Used for the runtime's check of a copy's direction. Returns a bit set: 1 host-accessible by CUDA's
/// rules, 2 device-accessible by CUDA's rules. Memory unknown to CUDA answers 1.
int orditoPointerSides(const void* pointer);

/// A CUDA array: texels in rows of device memory. `CUarray` and the runtime's `cudaArray_t` are handles of the same.
struct CUarray_st {
  CUdeviceptr memory;
  size_t pitch;                       /* bytes from row to row; slices and layers follow each other */
  CUDA_ARRAY3D_DESCRIPTOR descriptor; /* 0 in a dimension that the array lacks */
  bool isLevel = false;               /* of a mipmapped array */
};

/// Binds the texture or surface reference of PTX whose variable is at `place`; binding waits for kernels that may still
/// read the old one. A null resource unbinds.
CUresult orditoTextureBind(CUdeviceptr place, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* reading);
CUresult orditoSurfaceBind(CUdeviceptr place, const CUDA_RESOURCE_DESC* resource);

/// Prints `text` on stderr after Ordito's name, unless something was said about `subject` before or ORDITO_QUIET is
/// set.
void orditoTellOnce(const char* subject, const char* text);

/// The runtime's call that the calling thread is in answers `error`, whose name is `name`; the calling thread asks for
/// its last error. For `ordito check`.
void orditoNoteFailedCall(int error, const char* name);
void orditoNoteErrorRead(void);

/// Whether ORDITO_EXPLAIN asks for the explanation of every failed call.
int orditoExplainsAll(void);

/// Calls body(data, i) for each i below `count` on the threads that run blocks, the calling one among them, and returns
/// when all are done: for tasks of orditoLaunchTask, so that libraries have no threads of their own. Not to be called
/// elsewhere: a bad address in an iteration is a fault of the task. A loop within an iteration is done by its thread.
void orditoParallelFor(unsigned count, void (*body)(void*, unsigned), void* data);
/// How many threads that are: one within an iteration.
unsigned orditoParallelThreads(void);

/// Writes what profiling has gathered so far (nothing unless ORDITO_PROFILE is set). The driver also does so on a
/// device reset and at exit.
void orditoProfileFlush(void);

#ifdef __cplusplus
}
#endif
