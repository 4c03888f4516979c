// See engine.hpp.
#include "driver/engine.hpp"

#include <cstdlib>
#include <string_view>

#include "driver/results.hpp"
#include "interp/interpreter.hpp"
#if ORDITO_HAVE_JIT
#include "jit/jit.hpp"
#endif

namespace ordito::driver {

namespace {

#if ORDITO_HAVE_JIT
/// The JIT, and for what it refuses by name (recursion, say) the interpreter, which lacks nothing and is slow: said
/// once for each kernel.
class JitWithFallback final : public machine::Engine {
 public:
  Expected<std::shared_ptr<const machine::Executable>> compile(const ptx::Module& module, const ptx::Function& kernel,
                                                               const machine::Specialisation& specialisation) override {
    auto fast = jit_->compile(module, kernel, specialisation);
    if (fast || fast.error().code != kNotSupported) return fast;
    auto slow = interpreter_->compile(module, kernel, specialisation);
    if (!slow) return fast;
    tell(fmt::format("{}; it runs in the interpreter, slowly", fast.error().message));
    return slow;
  }

 private:
  static constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED
  std::unique_ptr<machine::Engine> jit_ = jit::makeJit(), interpreter_ = interp::makeInterpreter();
};
#endif

std::unique_ptr<machine::Engine> makeEngine() {
  const char* text = std::getenv("ORDITO_ENGINE");
  std::string_view name = text ? text : "";
  if (name == "interp") return interp::makeInterpreter();
  if (!name.empty() && name != "jit")
    tell(fmt::format("ORDITO_ENGINE: no engine is called '{}'; known are jit, interp", name));
#if ORDITO_HAVE_JIT
  if (name != "jit") return std::make_unique<JitWithFallback>();
  return jit::makeJit();
#else
  return interp::makeInterpreter();
#endif
}

}  // namespace

machine::Engine& engine() {
  static auto* chosen = makeEngine().release();  // never destroyed: its code may run while the process exits
  return *chosen;
}

}  // namespace ordito::driver
