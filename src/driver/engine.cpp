// See engine.hpp.
#include "driver/engine.hpp"

#include <algorithm>
#include <thread>

#include "base/environment.hpp"
#include "driver/results.hpp"
#include "interp/interpreter.hpp"
#include "machine/ahead.hpp"
#include "machine/listener.hpp"
#include "machine/tiers.hpp"
#if ORDITO_HAVE_JIT
#include "jit/jit.hpp"
#endif

namespace ordito::driver {

namespace {

#if ORDITO_HAVE_JIT
/// Code that is not kept is not compiled ahead, nor what is printed.
std::unique_ptr<machine::Engine> makeJit() {
  const jit::Options options =
      jit::optionsFromEnvironment({.races = true, .caches = true, .baseline = jit::BaselineCode::First});
  const unsigned processors = std::thread::hardware_concurrency();
  const Environment environment = readEnvironment();
  auto engine = jit::makeJit(options);
  if (processors < 2 || !options.caches || !environment.dump.empty() || environment.ahead == "off") return engine;
  return machine::makeAhead(std::move(engine), {.threads = std::clamp(processors / 2, 1u, 4u)});
}
#endif

#if ORDITO_HAVE_JIT
/// Most kernels take tens of milliseconds to compile, and those never see the interpreter, on a busy machine neither. A
/// launch whose kernel takes longer gives its first results a second later than it could; a block that the interpreter
/// would begin sooner might well end later, since it runs a hundred times as slowly.
constexpr std::chrono::milliseconds kGrace{1000};

/// What ORDITO_BASELINE says: see docs/engine.md.
machine::TierRules tierRules() {
  const std::string name = readEnvironment().baseline;
  machine::TierRules rules;
  rules.grace = name == "interp" ? std::chrono::milliseconds(0) : kGrace;
  rules.waits = name == "never" || name == "only" || machine::areAccessesWanted();
  rules.agreeOn = [](const std::string& function) { return !jit::approximates(function); };
  rules.tell = [](const Error& error) { tell(fmt::format("{}; it runs in the interpreter, slowly", error.message)); };
  return rules;
}
#endif

std::unique_ptr<machine::Engine> makeEngine(const std::string& name) {
  if (name == "interp") return interp::makeInterpreter();
#if ORDITO_HAVE_JIT
  if (name != "jit") return machine::makeTiers(makeJit(), interp::makeInterpreter(), tierRules());
  return makeJit();
#else
  return interp::makeInterpreter();
#endif
}

/// Only the interpreter follows values; kernels that tell nothing, or of some lines alone, need not be followed.
class ValueFollower final : public machine::Engine {
 public:
  explicit ValueFollower(const std::string& name) : silent_(makeEngine(name)) {}
  Expected<std::shared_ptr<const machine::Executable>> compile(const machine::ModulePtr& module,
                                                               const ptx::Function& kernel,
                                                               const machine::Specialisation& what) override {
    return (what.accesses && what.lines.empty() && what.values ? telling_ : silent_)->compile(module, kernel, what);
  }
  std::shared_ptr<const machine::Executable> replay(const ptx::Module& module, const ptx::Function& kernel,
                                                    const machine::Specialisation& what) override {
    return telling_->replay(module, kernel, what);
  }

 private:
  const std::unique_ptr<machine::Engine> telling_ = interp::makeInterpreter(), silent_;
};

}  // namespace

machine::Engine& engine() {
  const std::string name = readEnvironment().engine;
  static machine::Engine* chosen =
      machine::areUndefinedWanted()
          ? new ValueFollower(name)
          : makeEngine(name).release();  // never destroyed: its code may run while the process exits
  return *chosen;
}

}  // namespace ordito::driver
