// Libraries of kernels loaded at run time, and the events of graph nodes: the driver's calls under the runtime's names.
#include "runtime/call.hpp"

using namespace ordito::runtime;

namespace {

CUlibrary driver(cudaLibrary_t library) { return reinterpret_cast<CUlibrary>(library); }
CUkernel driver(cudaKernel_t kernel) { return reinterpret_cast<CUkernel>(kernel); }
CUlibrary* driver(cudaLibrary_t* library) { return reinterpret_cast<CUlibrary*>(library); }
CUkernel* driver(cudaKernel_t* kernel) { return reinterpret_cast<CUkernel*>(kernel); }

}  // namespace

#define FORWARD(name, parameters, ...)        \
  cudaError_t name parameters {               \
    return call([&] { return __VA_ARGS__; }); \
  }

extern "C" {

// What the options ask for (logs, optimisation) a library of PTX does not need.
FORWARD(cudaLibraryLoadData,
        (cudaLibrary_t * library, const void* code, cudaJitOption*, void**, unsigned int, cudaLibraryOption*, void**,
         unsigned int),
        cuLibraryLoadData(driver(library), code, nullptr, nullptr, 0, nullptr, nullptr, 0))
FORWARD(cudaLibraryLoadFromFile,
        (cudaLibrary_t * library, const char* file, cudaJitOption*, void**, unsigned int, cudaLibraryOption*, void**,
         unsigned int),
        cuLibraryLoadFromFile(driver(library), file, nullptr, nullptr, 0, nullptr, nullptr, 0))
FORWARD(cudaLibraryUnload, (cudaLibrary_t library), cuLibraryUnload(driver(library)))
FORWARD(cudaLibraryGetKernel, (cudaKernel_t * kernel, cudaLibrary_t library, const char* name),
        cuLibraryGetKernel(driver(kernel), driver(library), name))
FORWARD(cudaLibraryGetGlobal, (void** pointer, size_t* bytes, cudaLibrary_t library, const char* name),
        cuLibraryGetGlobal(address(pointer), bytes, driver(library), name))
FORWARD(cudaLibraryGetManaged, (void** pointer, size_t* bytes, cudaLibrary_t library, const char* name),
        cuLibraryGetManaged(address(pointer), bytes, driver(library), name))
FORWARD(cudaLibraryGetKernelCount, (unsigned int* count, cudaLibrary_t library),
        cuLibraryGetKernelCount(count, driver(library)))
FORWARD(cudaLibraryEnumerateKernels, (cudaKernel_t * kernels, unsigned int count, cudaLibrary_t library),
        cuLibraryEnumerateKernels(driver(kernels), count, driver(library)))
FORWARD(cudaKernelSetAttributeForDevice, (cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device),
        cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, driver(kernel), device))

FORWARD(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t* event),
        cuGraphEventRecordNodeGetEvent(node, event))
FORWARD(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        cuGraphEventRecordNodeSetEvent(node, event))
FORWARD(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t* event),
        cuGraphEventWaitNodeGetEvent(node, event))
FORWARD(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        cuGraphEventWaitNodeSetEvent(node, event))
FORWARD(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event),
        cuGraphExecEventRecordNodeSetEvent(executable, node, event))
FORWARD(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event),
        cuGraphExecEventWaitNodeSetEvent(executable, node, event))

}  // extern "C"
