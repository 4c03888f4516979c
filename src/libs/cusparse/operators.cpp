// Products with operators of the program's own, which it hands over as code (LTO-IR or PTX): SpMMOp, whose products and
// sums are calls of its functions, and SpMVOp, over whose result a function of its own goes. A kernel of ours that is
// linked with the functions does it; around it tasks bring operands into one form, and results into the program's.
#include <memory>

#include "libs/cusparse/operator_kernels.hpp"
#include "libs/cusparse/rows.hpp"

namespace ordito::cusparse {
/// What the tasks of a product get. They have no part in its module, which ends with the program's plan and waits then
/// for all that runs.
struct OperatorProduct {
  cusparseSpMatDescr a;
  cusparseDnMatDescr b, c;
  cusparseOperation_t opA, opB;
  cudaDataType compute;
};
}  // namespace ordito::cusparse

struct cusparseSpMMOpPlan {
  cusparseHandle_t handle;
  ordito::cusparse::OperatorProduct product;
  std::unique_ptr<const ordito::libs::LinkedModule> module;
};

struct cusparseSpMVOpDescr {
  cusparseSpMatDescr a;
  cusparseOperation_t op;
  cudaDataType compute;
};
struct cusparseSpMVOpPlan {
  cusparseSpMVOpDescr product;
  std::unique_ptr<const ordito::libs::LinkedModule> module;  // null: no function goes over the result
};

namespace ordito::cusparse {
namespace {

/// The program's operator of two elements.
std::optional<libs::PtxFunction> operatorOf(const libs::DeviceCode& code, const char* name, cudaDataType type) {
  const auto found = code.find(libs::namesOf(name, {mangledParameters(type, 2)}));
  if (!found || found->parameters.size() != 2) return std::nullopt;
  const libs::PtxElement element = *elementOf(type);
  return libs::PtxFunction{found->name, {element, element}, element};
}

/// Where the operands of a product lie in the program's buffer: rows of A with indices of 64 bits, B and C by rows.
struct Operands {
  size_t columns, a, b, c, bytes;

  explicit Operands(const OperatorProduct& product) {
    const size_t size = sizeOf(product.compute);
    const auto behind = [](size_t at, int64_t count, size_t each) {
      return (at + static_cast<size_t>(count) * each + 15) / 16 * 16;
    };
    columns = behind(0, product.c.rows + 1, 8);
    a = behind(columns, storedCount(product.a), 8);
    b = behind(a, storedCount(product.a), size);
    c = behind(b, product.b.rows * product.b.columns, size);
    bytes = behind(c, product.c.rows * product.c.columns, size);
  }
};

void gather(const OperatorProduct& product, char* buffer) {
  const Operands at(product);
  withCompute(product.compute, [&](auto zero) {
    using T = decltype(zero);
    const Rows<T> rows = rowsOf<T>(product.a, product.opA);
    std::copy(rows.offsets.begin(), rows.offsets.end(), reinterpret_cast<int64_t*>(buffer));
    std::copy(rows.indices.begin(), rows.indices.end(), reinterpret_cast<int64_t*>(buffer + at.columns));
    for (size_t k = 0; k < rows.values.size(); ++k)
      store(buffer + at.a, product.compute, static_cast<int64_t>(k), rows.values[k]);
    const auto dense = [&](const cusparseDnMatDescr& from, cusparseOperation_t op, size_t to) {
      const Dense<T> matrix(from, op);
      const Layout layout(from, op);
      for (int64_t i = 0; i < layout.rows; ++i)
        for (int64_t j = 0; j < layout.columns; ++j)
          store(buffer + to, product.compute, i * layout.columns + j, matrix.at(i, j));
    };
    dense(product.b, product.opB, at.b);
    dense(product.c, CUSPARSE_OPERATION_NON_TRANSPOSE, at.c);
  });
}

void scatter(const OperatorProduct& product, const char* buffer) {
  const char* const from = buffer + Operands(product).c;
  const Layout to(product.c);
  withCompute(product.compute, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < product.c.rows; ++i)
      for (int64_t j = 0; j < product.c.columns; ++j)
        store(product.c.values, product.c.type, to.at(i, j), load<T>(from, product.compute, i * product.c.columns + j));
  });
}

cusparseStatus_t launch(const libs::LinkedModule& module, const char* kernel, int64_t count, void** arguments,
                        cudaStream_t stream) {
  constexpr int64_t kThreads = 256;
  return statusOf(cuLaunchKernel(module.function(kernel), static_cast<unsigned>((count + kThreads - 1) / kThreads), 1,
                                 1, kThreads, 1, 1, 0, stream, arguments, nullptr));
}

/// SpMVOp's three vectors.
bool fit(const cusparseSpMatDescr& a, cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
         cusparseConstDnVecDescr_t z, cusparseOperation_t op) {
  const int64_t rows = isTurned(op) ? a.columns : a.rows;
  return x->size == (isTurned(op) ? a.rows : a.columns) && y->size == rows && z->size == rows;
}

cusparseStatus_t check(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                       cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y, cusparseConstDnVecDescr_t z,
                       cudaDataType compute) {
  ORDITO_CHECK(handle && a && x && y && z && isOperation(op) && fit(*a, x, y, z, op));
  ORDITO_SUPPORTED(compute != CUDA_R_32I && elementOf(compute));
  for (const cudaDataType type : {a->type, x->type, y->type, z->type}) ORDITO_SUPPORTED(type == compute);
  return CUSPARSE_STATUS_SUCCESS;
}

/// The program's function of a row's number, of 32 or 64 bits, and an element.
std::optional<libs::PtxFunction> epilogueOf(const libs::DeviceCode& code, cudaDataType type) {
  std::vector<std::string> parameters;
  for (const char* row : {"i", "l", "x", "j", "m", "y"}) parameters.push_back(row + mangledParameters(type, 1));
  const auto found = code.find(libs::namesOf("spmvop_epilogue", parameters));
  if (!found || found->parameters.size() != 2) return std::nullopt;
  const libs::PtxElement row{.bytes = static_cast<int>(found->parameters[0].size), .letter = 'b'};
  return libs::PtxFunction{found->name, {row, *elementOf(type)}, *elementOf(type)};
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpMMOp_createPlan(cusparseHandle_t handle, cusparseSpMMOpPlan_t* plan, cusparseOperation_t opA,
                                           cusparseOperation_t opB, cusparseConstSpMatDescr_t a,
                                           cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType compute,
                                           cusparseSpMMOpAlg_t algorithm, const void* addCode, size_t addBytes,
                                           const void* multiplyCode, size_t multiplyBytes, const void* epilogueCode,
                                           size_t epilogueBytes, size_t* size) {
  ORDITO_CHECK(handle && plan && size && a && b && c && addCode && multiplyCode && epilogueCode);
  ORDITO_CHECK(isOperation(opA) && isOperation(opB) && algorithm == CUSPARSE_SPMM_OP_ALG_DEFAULT);
  ORDITO_CHECK(fitsProduct(*a, opA, *b, opB, *c));
  ORDITO_SUPPORTED(elementOf(compute) && a->batches == 1 && b->batches == 1 && c->batches == 1);
  if (!libs::hasContext()) return CUSPARSE_STATUS_NOT_INITIALIZED;
  libs::DeviceCode code;
  ORDITO_CHECK(code.add(addCode, addBytes) && code.add(multiplyCode, multiplyBytes) &&
               code.add(epilogueCode, epilogueBytes));
  const auto add = operatorOf(code, "add_op", compute), multiply = operatorOf(code, "mul_op", compute),
             epilogue = operatorOf(code, "epilogue", compute);
  ORDITO_CHECK(add && multiply && epilogue);
  code.add(productKernel({*add, *multiply, *epilogue}));
  auto module = std::make_unique<const libs::LinkedModule>(code);
  ORDITO_CHECK(module->function(kProductKernel));
  *plan = new cusparseSpMMOpPlan{handle, {*a, *b, *c, opA, opB, compute}, std::move(module)};
  *size = Operands((*plan)->product).bytes;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMMOp(cusparseSpMMOpPlan_t plan, void* buffer) {
  ORDITO_CHECK(plan && buffer);
  const OperatorProduct& product = plan->product;
  int64_t width = product.c.columns, count = product.c.rows * width;
  if (count == 0) return CUSPARSE_STATUS_SUCCESS;
  char* const place = static_cast<char*>(buffer);
  const auto gathered = submit(plan->handle, "cusparseSpMMOp operands", [product, place] { gather(product, place); });
  if (gathered != CUSPARSE_STATUS_SUCCESS) return gathered;
  const Operands at(product);
  char *columns = place + at.columns, *a = place + at.a, *b = place + at.b, *c = place + at.c;
  void* arguments[] = {&buffer, &columns, &a, &b, &c, &count, &width};
  const auto launched = launch(*plan->module, kProductKernel, count, arguments, plan->handle->stream);
  if (launched != CUSPARSE_STATUS_SUCCESS) return launched;
  return submit(plan->handle, "cusparseSpMMOp result", [product, place] { scatter(product, place); });
}
cusparseStatus_t cusparseSpMMOp_destroyPlan(cusparseSpMMOpPlan_t plan) { return destroyDescriptor(plan); }

cusparseStatus_t cusparseSpMVOp_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                                           cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
                                           cusparseDnVecDescr_t z, cudaDataType compute, cusparseSpMVOpAlg_t,
                                           size_t* size) {
  if (const auto refusal = check(handle, op, a, x, y, z, compute)) return refusal;
  return tellBufferSize(size);
}
cusparseStatus_t cusparseSpMVOp_createDescr(cusparseHandle_t handle, cusparseSpMVOpDescr_t* descriptor,
                                            cusparseOperation_t op, cusparseConstSpMatDescr_t a,
                                            cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
                                            cusparseDnVecDescr_t z, cudaDataType compute, cusparseSpMVOpAlg_t, void*) {
  if (const auto refusal = check(handle, op, a, x, y, z, compute)) return refusal;
  ORDITO_CHECK(descriptor);
  *descriptor = new cusparseSpMVOpDescr{*a, op, compute};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMVOp_destroyDescr(cusparseSpMVOpDescr_t descriptor) { return destroyDescriptor(descriptor); }

/// Without code nothing goes over the result.
cusparseStatus_t cusparseSpMVOp_createPlan(cusparseHandle_t handle, cusparseSpMVOpDescr_t descriptor,
                                           cusparseSpMVOpPlan_t* plan, const void* image, size_t bytes) {
  ORDITO_CHECK(handle && descriptor && plan);
  std::unique_ptr<const libs::LinkedModule> module;
  if (image) {
    if (!libs::hasContext()) return CUSPARSE_STATUS_NOT_INITIALIZED;
    libs::DeviceCode code;
    ORDITO_CHECK(code.add(image, bytes));
    const auto epilogue = epilogueOf(code, descriptor->compute);
    ORDITO_CHECK(epilogue);
    code.add(rowKernel(*epilogue));
    module = std::make_unique<const libs::LinkedModule>(code);
    ORDITO_CHECK(module->function(kRowKernel));
  }
  *plan = new cusparseSpMVOpPlan{*descriptor, std::move(module)};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMVOp_destroyPlan(cusparseSpMVOpPlan_t plan) { return destroyDescriptor(plan); }

/// Writes a variable of the program's code.
cusparseStatus_t cusparseSpMVOp_setGlobalUserData(cusparseHandle_t handle, cusparseSpMVOpPlan_t plan, const char* name,
                                                  void* data, size_t bytes) {
  ORDITO_CHECK(handle && plan && plan->module && name && data);
  CUdeviceptr place = 0;
  size_t room = 0;
  ORDITO_CHECK(cuModuleGetGlobal(&place, &room, plan->module->get(), name) == CUDA_SUCCESS && bytes <= room);
  return statusOf(cuMemcpyAsync(place, reinterpret_cast<CUdeviceptr>(data), bytes, handle->stream));
}
/// Z may be Y.
cusparseStatus_t cusparseSpMVOp(cusparseHandle_t handle, cusparseSpMVOpPlan_t plan, const void* alpha, const void* beta,
                                cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y, cusparseDnVecDescr_t z) {
  ORDITO_CHECK(handle && plan && alpha && beta);
  const auto& [a, op, compute] = plan->product;
  if (const auto refusal = check(handle, op, &a, x, y, z, compute)) return refusal;
  const size_t bytes = static_cast<size_t>(z->size) * sizeOf(compute);
  if (y->values != z->values) {
    const auto copied = submit(handle, "cusparseSpMVOp operands",
                               [from = y->values, to = z->values, bytes] { std::memcpy(to, from, bytes); });
    if (copied != CUSPARSE_STATUS_SUCCESS) return copied;
  }
  const auto multiplied = cusparseSpMV(handle, op, alpha, &a, x, beta, z, compute, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  if (multiplied != CUSPARSE_STATUS_SUCCESS || !plan->module || z->size == 0) return multiplied;
  int64_t count = z->size;
  void* values = z->values;
  void* arguments[] = {&values, &count};
  return launch(*plan->module, kRowKernel, count, arguments, handle->stream);
}

}  // extern "C"
}  // namespace ordito::cusparse
