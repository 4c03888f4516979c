// libnvvm: NVVM IR in, PTX out, over LLVM 19. Numba and other compilers of Python make such IR.
#include "nvvm.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <span>

#include "libs/handle_table.hpp"
#include "libs/nvvm/compile.hpp"

namespace {

using ordito::nvvm::Source;

/// A program's mutex is held while it compiles.
struct Program {
  std::mutex mutex;
  std::vector<Source> sources;
  std::string result, log;
};

auto& programs() {
  static auto* table = new ordito::libs::HandleTable<nvvmProgram, Program>;  // programs compile until the process ends
  return *table;
}

nvvmResult add(nvvmProgram handle, const char* buffer, size_t size, const char* name, bool isLazy) {
  const auto program = programs().find(handle);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  if (!buffer || size == 0) return NVVM_ERROR_INVALID_INPUT;
  const std::scoped_lock lock(program->mutex);
  program->sources.push_back({{buffer, size}, name && *name ? name : "<unnamed>", isLazy});
  return NVVM_SUCCESS;
}

/// Reads the options and hands them on with the modules; what goes wrong is for the log.
template <class Work>
nvvmResult work(nvvmProgram handle, int count, const char** words, nvvmResult failure, Work&& withOptions) {
  const auto program = programs().find(handle);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  if (count < 0 || (count > 0 && !words)) return NVVM_ERROR_INVALID_OPTION;
  const std::scoped_lock lock(program->mutex);
  program->log.clear();
  const auto answer = [&](nvvmResult result, const ordito::Error& error) {
    program->log = error.message;
    return result;
  };
  const auto options = ordito::nvvm::readOptions({words, static_cast<size_t>(count)});
  if (!options) return answer(NVVM_ERROR_INVALID_OPTION, options.error());
  if (program->sources.empty()) return NVVM_ERROR_NO_MODULE_IN_PROGRAM;
  const auto done = withOptions(*program, *options);
  return done ? NVVM_SUCCESS : answer(failure, done.error());
}

/// Texts are counted and copied with the zero at their end.
nvvmResult sizeOf(const std::string& text, size_t* size) {
  if (!size) return NVVM_ERROR_INVALID_INPUT;
  *size = text.size() + 1;
  return NVVM_SUCCESS;
}

nvvmResult copyOf(const std::string& text, char* to) {
  if (!to) return NVVM_ERROR_INVALID_INPUT;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVVM_SUCCESS;
}

template <class Answer>
nvvmResult withProgram(nvvmProgram handle, Answer&& answer) {
  const auto program = programs().find(handle);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  const std::scoped_lock lock(program->mutex);
  return answer(*program);
}

}  // namespace

const char* nvvmGetErrorString(nvvmResult result) {
  constexpr const char* kNames[] = {"NVVM_SUCCESS",
                                    "NVVM_ERROR_OUT_OF_MEMORY",
                                    "NVVM_ERROR_PROGRAM_CREATION_FAILURE",
                                    "NVVM_ERROR_IR_VERSION_MISMATCH",
                                    "NVVM_ERROR_INVALID_INPUT",
                                    "NVVM_ERROR_INVALID_PROGRAM",
                                    "NVVM_ERROR_INVALID_IR",
                                    "NVVM_ERROR_INVALID_OPTION",
                                    "NVVM_ERROR_NO_MODULE_IN_PROGRAM",
                                    "NVVM_ERROR_COMPILATION",
                                    "NVVM_ERROR_CANCELLED"};
  const auto number = static_cast<size_t>(result);
  return number < std::size(kNames) ? kNames[number] : "NVVM_ERROR_UNKNOWN";
}

nvvmResult nvvmVersion(int* major, int* minor) {
  if (!major || !minor) return NVVM_ERROR_INVALID_INPUT;
  *major = 2;
  *minor = 0;
  return NVVM_SUCCESS;
}

nvvmResult nvvmIRVersion(int* majorIR, int* minorIR, int* majorDbg, int* minorDbg) {
  if (!majorIR || !minorIR || !majorDbg || !minorDbg) return NVVM_ERROR_INVALID_INPUT;
  *majorIR = 2;
  *minorIR = 0;
  *majorDbg = 3;
  *minorDbg = 1;
  return NVVM_SUCCESS;
}

nvvmResult nvvmLLVMVersion(const char* arch, int* major) {
  if (!arch || !major) return NVVM_ERROR_INVALID_INPUT;
  *major = 19;
  return NVVM_SUCCESS;
}

nvvmResult nvvmCreateProgram(nvvmProgram* handle) {
  if (!handle) return NVVM_ERROR_INVALID_INPUT;
  *handle = programs().add(std::make_shared<Program>());
  return NVVM_SUCCESS;
}

nvvmResult nvvmDestroyProgram(nvvmProgram* handle) {
  if (!handle) return NVVM_ERROR_INVALID_PROGRAM;
  if (!programs().remove(*handle)) return NVVM_ERROR_INVALID_PROGRAM;
  *handle = nullptr;
  return NVVM_SUCCESS;
}

nvvmResult nvvmAddModuleToProgram(nvvmProgram handle, const char* buffer, size_t size, const char* name) {
  return add(handle, buffer, size, name, false);
}

nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram handle, const char* buffer, size_t size, const char* name) {
  return add(handle, buffer, size, name, true);
}

nvvmResult nvvmCompileProgram(nvvmProgram handle, int count, const char** options) {
  return work(handle, count, options, NVVM_ERROR_COMPILATION,
              [](Program& program, const ordito::nvvm::Options& read) -> ordito::Expected<> {
                auto product = ordito::nvvm::compile(program.sources, read);
                program.result.clear();
                if (!product) return tl::unexpected(product.error());
                program.result = std::move(product->ptx);
                program.log = std::move(product->warnings);
                return {};
              });
}

nvvmResult nvvmVerifyProgram(nvvmProgram handle, int count, const char** options) {
  return work(handle, count, options, NVVM_ERROR_INVALID_IR, [](const Program& program, const ordito::nvvm::Options&) {
    return ordito::nvvm::verify(program.sources);
  });
}

// Before there is a result it is an empty text.
nvvmResult nvvmGetCompiledResultSize(nvvmProgram handle, size_t* size) {
  return withProgram(handle, [&](const Program& program) { return sizeOf(program.result, size); });
}

nvvmResult nvvmGetCompiledResult(nvvmProgram handle, char* buffer) {
  return withProgram(handle, [&](const Program& program) { return copyOf(program.result, buffer); });
}

nvvmResult nvvmGetProgramLogSize(nvvmProgram handle, size_t* size) {
  return withProgram(handle, [&](const Program& program) { return sizeOf(program.log, size); });
}

nvvmResult nvvmGetProgramLog(nvvmProgram handle, char* buffer) {
  return withProgram(handle, [&](const Program& program) { return copyOf(program.log, buffer); });
}
