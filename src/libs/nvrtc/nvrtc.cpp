// libnvrtc: the compiler at run time, over the front end of `ordito nvcc`. The product is PTX, which is also what
// stands in for machine code (nvrtcGetCUBIN), which the driver loads in the same way, and for intermediate code
// (nvrtcGetLTOIR), which libnvJitLink links in the same way. There is none for OptiX.
#include "nvrtc.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "frontend/compile_options.hpp"
#include "libs/handle_table.hpp"
#include "libs/nvrtc/program.hpp"

namespace {

using ordito::nvrtc::Program;

auto& programs() {
  static auto* table = new ordito::libs::HandleTable<nvrtcProgram, Program>;  // programs compile until the process ends
  return *table;
}

/// Texts are counted and copied with the zero at their end.
nvrtcResult sizeOf(const std::string* text, size_t* bytes) {
  if (!bytes) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = text ? text->size() + 1 : 0;
  return NVRTC_SUCCESS;
}

nvrtcResult copyOf(const std::string* text, char* to) {
  if (!to) return NVRTC_ERROR_INVALID_INPUT;
  if (!text) return NVRTC_ERROR_INVALID_PROGRAM;
  std::memcpy(to, text->c_str(), text->size() + 1);
  return NVRTC_SUCCESS;
}

/// What Ordito never makes, of a program that may have been compiled.
nvrtcResult noneOf(nvrtcProgram handle, size_t* bytes) {
  if (!programs().find(handle)) return NVRTC_ERROR_INVALID_PROGRAM;
  return sizeOf(nullptr, bytes);
}

}  // namespace

#define PROGRAM(program, handle)                \
  const auto program = programs().find(handle); \
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
#define VALUE(name) \
  case name: return #name;
#include "refused/nvrtcResult.def"
  }
  return "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = 12;
  *minor = 3;  // what __CUDACC_VER_MAJOR__ and its like say
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(ordito::frontend::clangArchitectures().size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  if (!architectures) return NVRTC_ERROR_INVALID_INPUT;
  const auto& all = ordito::frontend::clangArchitectures();
  std::copy(all.begin(), all.end(), architectures);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* handle, const char* text, const char* name, int headerCount,
                               const char* const* headers, const char* const* includeNames) {
  if (!handle) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!text || headerCount < 0 || (headerCount > 0 && (!headers || !includeNames))) return NVRTC_ERROR_INVALID_INPUT;
  ordito::frontend::CudaSource source{name && *name ? name : "default_program", text, {}};
  for (int i = 0; i < headerCount; ++i) {
    if (!headers[i] || !includeNames[i]) return NVRTC_ERROR_INVALID_INPUT;
    source.headers.push_back({includeNames[i], headers[i]});
  }
  *handle = programs().add(std::make_shared<Program>(std::move(source)));
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* handle) {
  if (!handle) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!programs().remove(*handle)) return NVRTC_ERROR_INVALID_PROGRAM;
  *handle = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count, const char* const* options) {
  PROGRAM(program, handle);
  if (count < 0 || (count > 0 && !options)) return NVRTC_ERROR_INVALID_INPUT;
  const std::span<const char* const> words(options, static_cast<size_t>(count));
  if (std::find(words.begin(), words.end(), nullptr) != words.end()) return NVRTC_ERROR_INVALID_INPUT;
  return program->compile(words);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram handle, size_t* bytes) {
  PROGRAM(program, handle);
  if (!bytes) return NVRTC_ERROR_INVALID_INPUT;
  const auto ptx = program->ptx();
  return ptx ? sizeOf(ptx.get(), bytes) : NVRTC_ERROR_INVALID_PROGRAM;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram handle, char* ptx) {
  PROGRAM(program, handle);
  return copyOf(program->ptx().get(), ptx);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram handle, size_t* bytes) {
  PROGRAM(program, handle);
  if (!program->ptx() && !program->intermediate()) return NVRTC_ERROR_INVALID_PROGRAM;
  return sizeOf(program->cubin().get(), bytes);  // 0 for a virtual architecture
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram handle, char* cubin) {
  PROGRAM(program, handle);
  return copyOf(program->cubin().get(), cubin);
}

nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram handle, size_t* bytes) {
  PROGRAM(program, handle);
  return sizeOf(program->intermediate().get(), bytes);  // 0 unless --dlink-time-opt asked for it
}

nvrtcResult nvrtcGetLTOIR(nvrtcProgram handle, char* to) {
  PROGRAM(program, handle);
  return copyOf(program->intermediate().get(), to);
}

nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram handle, size_t* bytes) { return noneOf(handle, bytes); }
nvrtcResult nvrtcGetOptiXIR(nvrtcProgram, char*) { return NVRTC_ERROR_INVALID_PROGRAM; }

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram handle, size_t* bytes) {
  PROGRAM(program, handle);
  const std::string log = program->log();
  return sizeOf(&log, bytes);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram handle, char* to) {
  PROGRAM(program, handle);
  const std::string log = program->log();
  return copyOf(&log, to);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle, const char* expression) {
  PROGRAM(program, handle);
  if (!expression || !*expression) return NVRTC_ERROR_INVALID_INPUT;
  return program->addName(expression);
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle, const char* expression, const char** name) {
  PROGRAM(program, handle);
  if (!expression || !name) return NVRTC_ERROR_INVALID_INPUT;
  return program->loweredName(expression, name);
}

// There are no precompiled headers, and so no heap for them.
nvrtcResult nvrtcGetPCHHeapSize(size_t* bytes) { return sizeOf(nullptr, bytes); }
nvrtcResult nvrtcSetPCHHeapSize(size_t) { return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram handle) {
  PROGRAM(program, handle);
  return NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED;
}
nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram handle, size_t* bytes) { return noneOf(handle, bytes); }

/// The function would be asked now and then whether to go on; the compiler is not ours to interrupt.
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram handle, int (*callback)(void*, void*), void*) {
  PROGRAM(program, handle);
  return callback ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT;
}
