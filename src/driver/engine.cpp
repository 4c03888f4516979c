// See engine.hpp.
#include "driver/engine.hpp"

#include <cstdlib>
#include <string_view>

#include "driver/results.hpp"
#include "interp/interpreter.hpp"
#include "machine/fallback.hpp"
#if ORDITO_HAVE_JIT
#include "jit/jit.hpp"
#endif

namespace ordito::driver {

namespace {

#if ORDITO_HAVE_JIT
std::unique_ptr<machine::Engine> makeJit() {
  jit::Options options;
  options.caches = true;
  options.quick = jit::QuickCode::First;
  return jit::makeJit(options);
}
#endif

std::unique_ptr<machine::Engine> makeEngine() {
  const char* text = std::getenv("ORDITO_ENGINE");
  std::string_view name = text ? text : "";
  if (name == "interp") return interp::makeInterpreter();
  if (!name.empty() && name != "jit")
    tell(fmt::format("ORDITO_ENGINE: no engine is called '{}'; known are jit, interp", name));
#if ORDITO_HAVE_JIT
  if (name != "jit")
    return std::make_unique<machine::FallbackEngine>(makeJit(), interp::makeInterpreter(), [](const Error& error) {
      tell(fmt::format("{}; it runs in the interpreter, slowly", error.message));
    });
  return makeJit();
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
