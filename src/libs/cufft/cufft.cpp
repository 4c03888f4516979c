// cuFFT's interface: handles, the arguments of plans, and executions as tasks in the handle's stream. A task owns the
// plan that it executes, so the handle may go before it runs.
#include <new>

#include "libs/cufft/handles.hpp"
#include "libs/version_part.hpp"

namespace ordito::cufft {
namespace {

struct Type {
  Form form;
  Precision precision;
};

std::optional<Type> typeOf(cufftType type) {
  switch (type) {
    case CUFFT_C2C: return Type{Form::Complex, Precision::Single};
    case CUFFT_R2C: return Type{Form::RealToComplex, Precision::Single};
    case CUFFT_C2R: return Type{Form::ComplexToReal, Precision::Single};
    case CUFFT_Z2Z: return Type{Form::Complex, Precision::Double};
    case CUFFT_D2Z: return Type{Form::RealToComplex, Precision::Double};
    case CUFFT_Z2D: return Type{Form::ComplexToReal, Precision::Double};
  }
  return std::nullopt;
}

/// What one of CUDA's types of numbers means here, and whether they are complex.
struct Element {
  Precision precision;
  bool isComplex;
};
std::optional<Element> elementOf(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return Element{Precision::Half, false};
    case CUDA_C_16F: return Element{Precision::Half, true};
    case CUDA_R_16BF: return Element{Precision::Bfloat16, false};
    case CUDA_C_16BF: return Element{Precision::Bfloat16, true};
    case CUDA_R_32F: return Element{Precision::Single, false};
    case CUDA_C_32F: return Element{Precision::Single, true};
    case CUDA_R_64F: return Element{Precision::Double, false};
    case CUDA_C_64F: return Element{Precision::Double, true};
    default: return std::nullopt;
  }
}

std::optional<Type> typeOf(cudaDataType input, cudaDataType output, cudaDataType execution) {
  const auto in = elementOf(input), out = elementOf(output), inside = elementOf(execution);
  if (!in || !out || !inside || in->precision != out->precision || in->precision != inside->precision)
    return std::nullopt;
  if (!in->isComplex && !out->isComplex) return std::nullopt;
  return Type{in->isComplex && out->isComplex ? Form::Complex
              : in->isComplex                 ? Form::ComplexToReal
                                              : Form::RealToComplex,
              in->precision};
}

/// One side's layout as the caller says it; none without sizes of the array, when the stride does not count either.
template <class Int>
cufftResult readLayout(int rank, const Int* embed, Int stride, Int distance, Int batch, std::optional<Layout>& layout) {
  if (!embed) return CUFFT_SUCCESS;
  layout.emplace();
  for (int d = 0; d < rank; ++d) {
    if (d > 0 && embed[d] < 0) return CUFFT_INVALID_SIZE;  // the first one steps over nothing
    if (d > 0 && embed[d] == 0) return CUFFT_INVALID_VALUE;
    layout->embed[static_cast<size_t>(d)] = embed[d];
  }
  if (stride <= 0 || distance < 0 || (distance == 0 && batch > 1)) return CUFFT_INVALID_VALUE;
  layout->stride = stride;
  layout->distance = distance;
  return CUFFT_SUCCESS;
}

template <class Int>
struct Request {
  int rank;
  const Int* n;
  const Int* inembed;
  Int istride, idist;
  const Int* onembed;
  Int ostride, odist;
  Int batch;
};

bool isPowerOfTwo(int64_t n) { return (n & (n - 1)) == 0; }

template <class Int>
cufftResult describe(const Request<Int>& request, std::optional<Type> type, Description& what) {
  if (!type) return CUFFT_INVALID_TYPE;
  if (request.rank < 1 || request.rank > 3 || !request.n) return CUFFT_INVALID_VALUE;
  what.rank = request.rank;
  what.form = type->form;
  what.precision = type->precision;
  what.batch = request.batch;
  if (request.batch <= 0) return CUFFT_INVALID_SIZE;
  __int128 elements = request.batch;
  for (int d = 0; d < request.rank; ++d) {
    const int64_t size = request.n[d];
    if (size <= 0) return CUFFT_INVALID_SIZE;
    // As on a GPU; the manual's section on half precision.
    if ((type->precision == Precision::Half || type->precision == Precision::Bfloat16) && !isPowerOfTwo(size))
      return CUFFT_NOT_SUPPORTED;
    what.size[static_cast<size_t>(d)] = size;
    elements *= size;
    if (elements > (int64_t{1} << 40)) return CUFFT_INVALID_SIZE;
  }
  // Without the arrays' sizes the layout is the packed one; with those of one array a GPU refuses.
  if (!request.inembed != !request.onembed) return CUFFT_INVALID_VALUE;
  const cufftResult result =
      readLayout(request.rank, request.inembed, request.istride, request.idist, request.batch, what.input);
  return result != CUFFT_SUCCESS
             ? result
             : readLayout(request.rank, request.onembed, request.ostride, request.odist, request.batch, what.output);
}

/// Only looks at the arguments. No transform here needs a work area of the caller's.
template <class Int>
cufftResult size(const Request<Int>& request, std::optional<Type> type, size_t* work) {
  Description what;
  if (!work) return CUFFT_INVALID_VALUE;
  const cufftResult result = describe(request, type, what);
  if (result == CUFFT_SUCCESS) *work = 0;
  return result;
}

template <class Int>
cufftResult make(cufftHandle number, const Request<Int>& request, std::optional<Type> type, size_t* work) {
  if (!work) return CUFFT_INVALID_VALUE;
  Description what;
  size_t sizes = 1;
  const cufftResult unmade = Handles::all().with(number, [&](const Handle& handle) {
    sizes = std::max<size_t>(1, handle.devices.size());
    // A plan is made once.
    return handle.plan ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
  });
  if (unmade != CUFFT_SUCCESS) return unmade;
  if (const cufftResult result = describe(request, type, what); result != CUFFT_SUCCESS) return result;
  if (!libs::hasContext()) return CUFFT_SETUP_FAILED;
  try {
    std::shared_ptr<const Plan> plan = makePlan(what);
    std::fill_n(work, sizes, 0);
    return Handles::all().with(number, [&](Handle& handle) {
      for (const auto& [kind, callback] : handle.callbacks.all)
        if (!fits(what, kind)) return CUFFT_INVALID_TYPE;
      handle.plan = std::move(plan);
      return CUFFT_SUCCESS;
    });
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  }
}

template <class Make>
cufftResult createAndMake(cufftHandle* handle, const Make& makeIt) {
  if (!handle) return CUFFT_INVALID_VALUE;
  size_t unused = 0;
  const cufftHandle number = Handles::all().add();
  const cufftResult result = makeIt(number, &unused);
  if (result == CUFFT_SUCCESS)
    *handle = number;
  else
    Handles::all().remove(number);
  return result;
}

auto packedRequest(const int* n, int rank, int batch) {
  return Request<int>{rank, n, nullptr, 1, 0, nullptr, 1, 0, batch};
}

/// Real numbers are read in pairs.
bool isAlignedForPairs(const void* numbers, Precision precision) {
  return reinterpret_cast<uintptr_t>(numbers) % (2 * sizeOf(precision)) == 0;
}

/// `type` is what the function's name says; none: whatever the plan is for.
cufftResult execute(const char* name, cufftHandle number, std::optional<Type> type, const void* from, void* to,
                    int direction) {
  Handle handle;
  const cufftResult found = Handles::all().with(number, [&](Handle& it) {
    if (!it.plan || !it.devices.empty()) return CUFFT_INVALID_PLAN;
    Callbacks& callbacks = it.callbacks;
    if (!callbacks.isEmpty() && !callbacks.packed) callbacks.packed = makePlan(asPacked(it.plan->description()));
    handle = it;
    return CUFFT_SUCCESS;
  });
  if (found != CUFFT_SUCCESS) return found;
  const Description& what = handle.plan->description();
  // A GPU tells real transforms in the wrong direction; other wrong plans it runs, which are told here.
  if (type && type->form != what.form && type->form != Form::Complex && what.form != Form::Complex)
    return CUFFT_INVALID_VALUE;
  if (type && (type->form != what.form || type->precision != what.precision)) return CUFFT_INVALID_PLAN;
  if (!from) return CUFFT_INVALID_VALUE;
  if (!to) return CUFFT_EXEC_FAILED;
  if (what.form == Form::RealToComplex && !isAlignedForPairs(from, what.precision)) return CUFFT_INVALID_VALUE;
  if (what.form == Form::Complex && direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)
    return CUFFT_INVALID_VALUE;
  const bool isInverse = direction == CUFFT_INVERSE;
  if (!handle.callbacks.isEmpty())
    return statusOf(executeWithCallbacks(handle.stream, name, handle.callbacks, what, from, to, isInverse));
  const CUresult result = libs::enqueue(
      handle.stream, name, [plan = handle.plan, from, to, isInverse] { plan->transform(from, to, isInverse); },
      {what.operations(), what.bytes()});
  return statusOf(result);
}

}  // namespace
}  // namespace ordito::cufft

using namespace ordito::cufft;

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  if (!handle) return CUFFT_INVALID_VALUE;
  *handle = Handles::all().add();
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) { return Handles::all().remove(plan); }

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return make(plan, packedRequest(&nx, 1, batch), typeOf(type), workSize);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  const int n[] = {nx, ny};
  return make(plan, packedRequest(n, 2, 1), typeOf(type), workSize);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workSize) {
  const int n[] = {nx, ny, nz};
  return make(plan, packedRequest(n, 3, 1), typeOf(type), workSize);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* workSize) {
  return make(plan, Request<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, typeOf(type),
              workSize);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* workSize) {
  return make(plan, Request<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, typeOf(type),
              workSize);
}
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType inputtype, long long* onembed, long long ostride,
                                long long odist, cudaDataType outputtype, long long batch, size_t* workSize,
                                cudaDataType executiontype) {
  return make(plan, Request<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
              typeOf(inputtype, outputtype, executiontype), workSize);
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return createAndMake(
      plan, [&](cufftHandle handle, size_t* size) { return cufftMakePlan1d(handle, nx, type, batch, size); });
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return createAndMake(plan,
                       [&](cufftHandle handle, size_t* size) { return cufftMakePlan2d(handle, nx, ny, type, size); });
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return createAndMake(
      plan, [&](cufftHandle handle, size_t* size) { return cufftMakePlan3d(handle, nx, ny, nz, type, size); });
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  return createAndMake(plan, [&](cufftHandle handle, size_t* size) {
    return cufftMakePlanMany(handle, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, size);
  });
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* workSize) {
  return size(packedRequest(&nx, 1, batch), typeOf(type), workSize);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* workSize) {
  const int n[] = {nx, ny};
  return size(packedRequest(n, 2, 1), typeOf(type), workSize);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* workSize) {
  const int n[] = {nx, ny, nz};
  return size(packedRequest(n, 3, 1), typeOf(type), workSize);
}
cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                              int odist, cufftType type, int batch, size_t* workSize) {
  return size(Request<int>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, typeOf(type), workSize);
}

/// The sizes for a handle are those for none.
#define FOR_HANDLE(estimate)                                                                          \
  const cufftResult known = Handles::all().with(handle, [](const Handle&) { return CUFFT_SUCCESS; }); \
  return known == CUFFT_SUCCESS ? (estimate) : known
cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch, size_t* workSize) {
  FOR_HANDLE(cufftEstimate1d(nx, type, batch, workSize));
}
cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type, size_t* workSize) {
  FOR_HANDLE(cufftEstimate2d(nx, ny, type, workSize));
}
cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type, size_t* workSize) {
  FOR_HANDLE(cufftEstimate3d(nx, ny, nz, type, workSize));
}
cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, cufftType type, int batch, size_t* workArea) {
  FOR_HANDLE(cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workArea));
}
cufftResult cufftGetSizeMany64(cufftHandle handle, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                               long long batch, size_t* workSize) {
  FOR_HANDLE(size(Request<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch}, typeOf(type),
                  workSize));
}
cufftResult cufftXtGetSizeMany(cufftHandle handle, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, cudaDataType inputtype, long long* onembed, long long ostride,
                               long long odist, cudaDataType outputtype, long long batch, size_t* workSize,
                               cudaDataType executiontype) {
  FOR_HANDLE(size(Request<long long>{rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                  typeOf(inputtype, outputtype, executiontype), workSize));
}
cufftResult cufftGetSize(cufftHandle handle, size_t* workSize) {
  if (!workSize) return CUFFT_INVALID_VALUE;
  return Handles::all().with(handle, [&](const Handle& it) {
    *workSize = 0;
    return it.plan ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
  });
}

/// Nothing here needs a work area of the program's.
cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
  return Handles::all().with(plan, [](const Handle&) { return CUFFT_SUCCESS; });
}
cufftResult cufftXtSetWorkArea(cufftHandle plan, void**) { return cufftSetWorkArea(plan, nullptr); }
cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy, size_t* workSize) {
  if (workSize) *workSize = 0;
  return cufftSetWorkArea(plan, nullptr);
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) { return cufftSetWorkArea(plan, nullptr); }

/// How a GPU's plan would be made: kept and told.
cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, const long long value) {
  const bool isKnown =
      property == NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT || property == NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS;
  return Handles::all().with(plan, [&](Handle& handle) {
    if (!isKnown) return CUFFT_NOT_SUPPORTED;
    handle.properties[property] = value;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long* value) {
  if (!value) return CUFFT_INVALID_VALUE;
  return Handles::all().with(plan, [&](const Handle& handle) {
    const auto found = handle.properties.find(property);
    *value = found == handle.properties.end() ? 0 : found->second;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return Handles::all().with(plan, [&](Handle& handle) {
    handle.properties.erase(property);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return Handles::all().with(plan, [&](Handle& handle) {
    handle.stream = stream;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata, int direction) {
  return execute("cufftExecC2C", plan, typeOf(CUFFT_C2C), idata, odata, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
  return execute("cufftExecR2C", plan, typeOf(CUFFT_R2C), idata, odata, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
  return execute("cufftExecC2R", plan, typeOf(CUFFT_C2R), idata, odata, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleComplex* odata, int direction) {
  return execute("cufftExecZ2Z", plan, typeOf(CUFFT_Z2Z), idata, odata, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata, cufftDoubleComplex* odata) {
  return execute("cufftExecD2Z", plan, typeOf(CUFFT_D2Z), idata, odata, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleReal* odata) {
  return execute("cufftExecZ2D", plan, typeOf(CUFFT_Z2D), idata, odata, CUFFT_INVERSE);
}
cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction) {
  return execute("cufftXtExec", plan, std::nullopt, input, output, direction);
}

cufftResult cufftGetVersion(int* version) {
  if (version) *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (!value) return CUFFT_INVALID_VALUE;
  const bool isTold = ordito::libs::tellVersionPart(type, CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH, value);
  return isTold ? CUFFT_SUCCESS : CUFFT_INVALID_TYPE;
}

}  // extern "C"
