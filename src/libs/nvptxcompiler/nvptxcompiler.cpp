// libnvptxcompiler: ptxas as a library, for programs that make machine code ahead of time (NVIDIA's Warp). CUDA has it
// as a static library only; ours is one for a linker script of that name. frontend/assembler.hpp tells what it makes of
// PTX.
#include "nvPTXCompiler.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "frontend/assembler.hpp"
#include "libs/handle_table.hpp"

namespace {

class Compiler {
 public:
  explicit Compiler(std::string ptx) : ptx_(std::move(ptx)) {}

  nvPTXCompileResult compile(std::span<const char* const> words) {
    const std::scoped_lock lock(mutex_);
    made_ = {};
    auto made = ordito::frontend::assemble(ptx_, "ptx", ordito::frontend::readAssemblerOptions(words));
    errors_ = made ? std::string() : "error: " + made.error().message + "\n";
    if (!made) return NVPTXCOMPILE_ERROR_COMPILATION_FAILURE;
    made_ = std::move(*made);
    return NVPTXCOMPILE_SUCCESS;
  }

  std::string image() const {
    const std::scoped_lock lock(mutex_);
    return made_.image;
  }
  /// Logs with the NUL at their end, for callers who count it and those who do not; an empty one has no bytes at all.
  std::string usage() const { return log(made_.usage); }
  std::string errors() const { return log(errors_); }

 private:
  std::string log(const std::string& text) const {
    const std::scoped_lock lock(mutex_);
    return text.empty() ? text : text + '\0';
  }

  mutable std::mutex mutex_;
  const std::string ptx_;
  ordito::frontend::Assembled made_;
  std::string errors_;
};

auto& compilers() {
  static auto* table = new ordito::libs::HandleTable<nvPTXCompilerHandle, Compiler>;
  return *table;
}

nvPTXCompileResult answerSize(const std::string& what, size_t* bytes) {
  if (!bytes) return NVPTXCOMPILE_ERROR_INVALID_INPUT;
  *bytes = what.size();
  return NVPTXCOMPILE_SUCCESS;
}

nvPTXCompileResult answer(const std::string& what, void* to) {
  if (!to) return NVPTXCOMPILE_ERROR_INVALID_INPUT;
  std::memcpy(to, what.data(), what.size());
  return NVPTXCOMPILE_SUCCESS;
}

}  // namespace

#define COMPILER(compiler, handle)                \
  const auto compiler = compilers().find(handle); \
  if (!compiler) return NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE

nvPTXCompileResult nvPTXCompilerGetVersion(unsigned int* major, unsigned int* minor) {
  if (!major || !minor) return NVPTXCOMPILE_ERROR_INVALID_INPUT;
  *major = 12;
  *minor = 9;
  return NVPTXCOMPILE_SUCCESS;
}

nvPTXCompileResult nvPTXCompilerCreate(nvPTXCompilerHandle* handle, size_t bytes, const char* ptx) {
  if (!handle || !ptx) return NVPTXCOMPILE_ERROR_INVALID_INPUT;
  const std::string text(ptx, bytes);
  *handle = compilers().add(std::make_shared<Compiler>(text.substr(0, text.find('\0'))));
  return NVPTXCOMPILE_SUCCESS;
}

nvPTXCompileResult nvPTXCompilerDestroy(nvPTXCompilerHandle* handle) {
  if (!handle) return NVPTXCOMPILE_ERROR_INVALID_INPUT;
  if (!compilers().remove(*handle)) return NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE;
  *handle = nullptr;
  return NVPTXCOMPILE_SUCCESS;
}

nvPTXCompileResult nvPTXCompilerCompile(nvPTXCompilerHandle handle, int count, const char* const* options) {
  COMPILER(compiler, handle);
  if (count < 0 || (count > 0 && !options)) return NVPTXCOMPILE_ERROR_INVALID_INPUT;
  return compiler->compile({options, static_cast<size_t>(count)});
}

nvPTXCompileResult nvPTXCompilerGetCompiledProgramSize(nvPTXCompilerHandle handle, size_t* bytes) {
  COMPILER(compiler, handle);
  const std::string image = compiler->image();
  return image.empty() ? NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE : answerSize(image, bytes);
}

nvPTXCompileResult nvPTXCompilerGetCompiledProgram(nvPTXCompilerHandle handle, void* to) {
  COMPILER(compiler, handle);
  const std::string image = compiler->image();
  return image.empty() ? NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE : answer(image, to);
}

nvPTXCompileResult nvPTXCompilerGetErrorLogSize(nvPTXCompilerHandle handle, size_t* bytes) {
  COMPILER(compiler, handle);
  return answerSize(compiler->errors(), bytes);
}

nvPTXCompileResult nvPTXCompilerGetErrorLog(nvPTXCompilerHandle handle, char* log) {
  COMPILER(compiler, handle);
  return answer(compiler->errors(), log);
}

nvPTXCompileResult nvPTXCompilerGetInfoLogSize(nvPTXCompilerHandle handle, size_t* bytes) {
  COMPILER(compiler, handle);
  return answerSize(compiler->usage(), bytes);
}

nvPTXCompileResult nvPTXCompilerGetInfoLog(nvPTXCompilerHandle handle, char* log) {
  COMPILER(compiler, handle);
  return answer(compiler->usage(), log);
}
