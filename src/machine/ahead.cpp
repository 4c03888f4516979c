// See ahead.hpp.
#include "machine/ahead.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "machine/background.hpp"

namespace ordito::machine {
namespace {

using Code = std::shared_ptr<const Executable>;

struct Wanted {
  ModulePtr module;
  const ptx::Function* kernel;
  Specialisation specialisation;
};

/// A kernel for which somebody has asked, or that was guessed.
struct Known {
  std::weak_ptr<const ptx::Module> module;
  const ptx::Function* kernel;
  Specialisation specialisation;
  bool isGuess;
  bool is(const Wanted& w) const { return kernel == w.kernel && specialisation == w.specialisation; }
};

bool mayLaunch(const ptx::Function& kernel, const Dim3& block) {
  const uint32_t shape[3] = {block.x, block.y, block.z};
  const auto threads = [](const uint32_t(&dims)[3]) {
    uint64_t product = 1;
    for (const uint32_t d : dims) product *= std::max(d, 1u);
    return product;
  };
  if (kernel.reqntid[0] && !std::equal(shape, shape + 3, kernel.reqntid,
                                       [](uint32_t have, uint32_t want) { return have == std::max(want, 1u); }))
    return false;
  return !kernel.maxntid[0] || threads(shape) <= threads(kernel.maxntid);
}

/// What was asked for, what waits, and what is guessed next. Safe to use from several threads.
class Guesses {
 public:
  explicit Guesses(AheadRules rules) : rules_(rules), credit_(rules.guesses) {}

  /// A launch waits for this kernel from now on. Should one more thread compile ahead meanwhile? It asks first() and
  /// then next() until there is nothing.
  bool await(const Wanted& wanted) {
    std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const Known& k) { return k.module.expired(); });
    note(wanted);
    awaited_.push_back(wanted);
    if (wanted.specialisation.accesses || threads_ >= rules_.threads || credit_ == 0) return false;
    ++threads_;
    return true;
  }

  /// Its code is there.
  void end(const Wanted& wanted) {
    std::lock_guard lock(mutex_);
    std::erase_if(awaited_, [&](const Wanted& w) {
      return w.kernel == wanted.kernel && w.specialisation == wanted.specialisation;
    });
    ended_.notify_all();
  }

  /// The kernel to compile now, if anybody still waits when code that lies on the disk would be there.
  std::optional<Wanted> first() {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, rules_.patience, [this] { return awaited_.empty(); });
    return guessOrLeave();
  }
  std::optional<Wanted> next() {
    std::lock_guard lock(mutex_);
    return guessOrLeave();
  }

  /// The thread asks no more.
  void leave() {
    std::lock_guard lock(mutex_);
    --threads_;
  }

 private:
  /// None if nobody waits, or too many guesses were wrong: then the thread has left.
  std::optional<Wanted> guessOrLeave() {
    std::optional<Wanted> guess;
    if (!awaited_.empty() && credit_ > 0) guess = neighbourOf(awaited_.back());
    if (!guess) {
      --threads_;
      return std::nullopt;
    }
    --credit_;
    known_.push_back({guess->module, guess->kernel, guess->specialisation, true});
    return guess;
  }

  void note(const Wanted& wanted) {
    const auto known = std::ranges::find_if(known_, [&](const Known& k) { return k.is(wanted); });
    if (known == known_.end()) {
      known_.push_back({wanted.module, wanted.kernel, wanted.specialisation, false});
    } else if (std::exchange(known->isGuess, false)) {
      credit_ = std::min(credit_ + 2, 4 * rules_.guesses);
    }
  }

  /// The next kernel behind it in its module, then from the module's beginning, of which nobody knows yet.
  std::optional<Wanted> neighbourOf(const Wanted& awaited) const {
    const auto& functions = awaited.module->functions;
    const auto from = static_cast<size_t>(awaited.kernel - functions.data());
    for (size_t k = 1; k < functions.size(); ++k) {
      Wanted guess = awaited;
      guess.kernel = &functions[(from + k) % functions.size()];
      if (isGood(guess)) return guess;
    }
    return std::nullopt;
  }

  bool isGood(const Wanted& guess) const {
    const ptx::Function& kernel = *guess.kernel;
    return kernel.isEntry && kernel.hasBody && kernel.instructions.size() <= rules_.largestKernel &&
           mayLaunch(kernel, guess.specialisation.block) &&
           std::ranges::none_of(known_, [&](const Known& k) { return k.is(guess); });
  }

  const AheadRules rules_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Wanted> awaited_;
  std::vector<Known> known_;
  unsigned credit_;  // guesses that may still be made
  unsigned threads_ = 0;
};

class Ahead final : public Engine {
 public:
  Ahead(std::unique_ptr<Engine> compiler, AheadRules rules)
      : parts_(std::make_shared<Parts>(std::move(compiler), rules)) {}

  Expected<Code> compile(const ModulePtr& module, const ptx::Function& kernel,
                         const Specialisation& specialisation) override {
    const Wanted wanted{module, &kernel, specialisation};
    if (parts_->guesses.await(wanted) && !inBackground([parts = parts_] { parts->work(); }, Urgency::Ahead))
      parts_->guesses.leave();
    auto code = parts_->compile(wanted);
    parts_->guesses.end(wanted);
    return code;
  }

  Code replay(const ptx::Module& module, const ptx::Function& kernel, const Specialisation& specialisation) override {
    return parts_->compiler->replay(module, kernel, specialisation);
  }

 private:
  /// Jobs keep it alive.
  struct Parts {
    Parts(std::unique_ptr<Engine> theCompiler, AheadRules rules) : compiler(std::move(theCompiler)), guesses(rules) {}

    Expected<Code> compile(const Wanted& w) { return compiler->compile(w.module, *w.kernel, w.specialisation); }

    /// What a guess is refused for is told when the kernel is launched.
    void work() {
      for (auto guess = guesses.first(); guess; guess = guesses.next()) (void)compile(*guess);
    }

    const std::unique_ptr<Engine> compiler;
    Guesses guesses;
  };

  const std::shared_ptr<Parts> parts_;
};

}  // namespace

std::unique_ptr<Engine> makeAhead(std::unique_ptr<Engine> compiler, AheadRules rules) {
  return std::make_unique<Ahead>(std::move(compiler), rules);
}

}  // namespace ordito::machine
