// Driver API: stream memory operations, one by one and in batches.
#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/stream_memory.hpp"

using namespace ordito::driver;

namespace {

CUresult submit(CUstream handle, const CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  NodeTask task;
  if (CUresult bad = batchTask(operations, count, flags, task)) return bad;
  if (auto captured = capture(stream, [&] { return task; })) return *captured;
  Operation operation;
  operation.run = std::move(task.work);
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult submitWrite(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr to, cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.writeValue.operation = type;
  operation.writeValue.address = to;
  operation.writeValue.value64 = value;
  operation.writeValue.flags = flags;
  return submit(stream, &operation, 1, 0);
}

CUresult submitWait(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr from, cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue.operation = type;
  operation.waitValue.address = from;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return submit(stream, &operation, 1, 0);
}

CUstream own(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

}  // namespace

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned int flags) {
  return submitWrite(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, to, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr to, cuuint64_t value, unsigned int flags) {
  return submitWrite(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, to, value, flags);
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr from, cuuint32_t value, unsigned int flags) {
  return submitWait(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, from, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr from, cuuint64_t value, unsigned int flags) {
  return submitWait(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, from, value, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                               unsigned int flags) {
  return submit(stream, operations, count, flags);
}

#undef cuStreamBatchMemOp
extern "C" {
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                                    unsigned int flags) {
  return submit(own(stream), operations, count, flags);
}
/// Before CUDA 12, of the same form.
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                            unsigned int flags) {
  return submit(stream, operations, count, flags);
}
CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                                 unsigned int flags) {
  return submit(own(stream), operations, count, flags);
}
}
