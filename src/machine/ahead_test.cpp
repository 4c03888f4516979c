// Kernels are compiled ahead while a launch waits, as long as guesses come true; nothing else is.
#include "machine/ahead.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::machine {
namespace {

using namespace std::chrono_literals;

constexpr Dim3 kBlock{64, 1, 1};

/// Compiles nothing, and tells what it was asked for. The kernel "slow" waits until `enough` kernels were asked for, or
/// a second.
class Recorder final : public Engine {
 public:
  struct Log {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> asked;
    size_t enough = 0;

    std::vector<std::string> all() {
      std::lock_guard lock(mutex);
      return asked;
    }
  };
  explicit Recorder(std::shared_ptr<Log> log) : log_(std::move(log)) {}

  Expected<std::shared_ptr<const Executable>> compile(const ModulePtr&, const ptx::Function& kernel,
                                                      const Specialisation& specialisation) override {
    std::unique_lock lock(log_->mutex);
    EXPECT_EQ(specialisation.block, kBlock);
    log_->asked.push_back(kernel.name);
    log_->changed.notify_all();
    if (kernel.name.starts_with("slow"))
      log_->changed.wait_for(lock, 1s, [this] { return log_->asked.size() >= log_->enough; });
    return std::shared_ptr<const Executable>();
  }

 private:
  const std::shared_ptr<Log> log_;
};

ptx::Function kernel(const std::string& name) {
  ptx::Function f;
  f.name = name;
  f.isEntry = f.hasBody = true;
  return f;
}

class AheadTest : public testing::Test {
 protected:
  using Names = std::vector<std::string>;

  /// Launches the kernel of this name; it waits until `enough` were asked for in all.
  void launch(const std::string& name, size_t enough, const Specialisation& specialisation = {kBlock}) {
    {
      std::lock_guard lock(log_->mutex);
      log_->enough = enough;
    }
    (void)engine_->compile(module_, *module_->findFunction(name), specialisation);
  }
  void have(std::vector<ptx::Function> functions) {
    auto module = std::make_shared<ptx::Module>();
    module->functions = std::move(functions);
    module_ = module;
  }
  void haveRules(AheadRules rules) { engine_ = makeAhead(std::make_unique<Recorder>(log_), rules); }

  const std::shared_ptr<Recorder::Log> log_ = std::make_shared<Recorder::Log>();
  ModulePtr module_;
  std::unique_ptr<Engine> engine_ = makeAhead(std::make_unique<Recorder>(log_), {.patience = 100ms});
};

TEST_F(AheadTest, TheNextKernelsOfTheModuleAreCompiledWhileALaunchWaits) {
  have({kernel("before"), kernel("slow"), kernel("next"), kernel("last")});
  launch("slow", 3);
  EXPECT_EQ(log_->all(), (Names{"slow", "next", "last"}));
}

TEST_F(AheadTest, NothingIsCompiledAheadOfCodeThatComesAtOnce) {
  haveRules({.patience = 1h});
  have({kernel("quick"), kernel("next")});
  launch("quick", 0);
  EXPECT_EQ(log_->all(), Names{"quick"});
}

TEST_F(AheadTest, FewGuessesAreMadeUntilOneComesTrue) {
  have({kernel("slow"), kernel("a"), kernel("b"), kernel("c"), kernel("slow 2"), kernel("d"), kernel("e")});
  launch("slow", 4);  // a second: there is no fourth
  EXPECT_EQ(log_->all(), (Names{"slow", "a", "b"}));
  launch("b", 0);
  launch("slow 2", 7);
  EXPECT_EQ(log_->all(), (Names{"slow", "a", "b", "b", "slow 2", "d", "e"}));
}

TEST_F(AheadTest, WhatCannotBeLaunchedLikeThatIsNoGuess) {
  ptx::Function narrow = kernel("narrow"), other = kernel("other shape"), fits = kernel("fits"),
                large = kernel("large");
  narrow.maxntid[0] = 32;
  other.reqntid[0] = 32;
  other.reqntid[1] = 2;
  fits.reqntid[0] = 64;
  large.instructions.resize(1000);
  ptx::Function device = kernel("device"), declared = kernel("declared");
  device.isEntry = false;
  declared.hasBody = false;
  have({kernel("slow"), narrow, other, large, device, declared, fits});
  launch("slow", 2);
  EXPECT_EQ(log_->all(), (Names{"slow", "fits"}));
}

TEST_F(AheadTest, WhatListenersAskForIsNotCompiledAhead) {
  have({kernel("slow"), kernel("next")});
  launch("slow", 1, {.block = kBlock, .accesses = true});
  EXPECT_EQ(log_->all(), Names{"slow"});
}

}  // namespace
}  // namespace ordito::machine
