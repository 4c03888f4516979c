// See tiers.hpp.
#include "machine/tiers.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "machine/background.hpp"
#include "machine/restart.hpp"

namespace ordito::machine {
namespace {

using Code = std::shared_ptr<const Executable>;

/// A block that the interpreter has left: it runs on compiled code, with the scratch and local memory that this wants.
class Restarted {
 public:
  /// Null if the host has too little memory.
  static std::unique_ptr<Restarted> make(const Executable& code, const BlockFrame& frame) {
    std::unique_ptr<Restarted> made(new Restarted(code, frame));
    return made->frame_.scratch && made->frame_.local ? std::move(made) : nullptr;
  }
  ~Restarted() {
    std::free(frame_.scratch);
    std::free(frame_.local);
  }
  Restarted(const Restarted&) = delete;
  Restarted& operator=(const Restarted&) = delete;

  BlockStatus run(const BlockFrame& original) {
    frame_.resumes = original.resumes - resumesBefore_;
    const BlockStatus status = code_.runBlock(frame_);
    original.waitsAt = frame_.waitsAt;
    return status;
  }
  std::optional<Digest> suspendedState() const { return code_.suspendedState(frame_); }
  void abandon() const { code_.abandon(frame_); }

 private:
  Restarted(const Executable& code, const BlockFrame& frame)
      : code_(code), frame_(frame), resumesBefore_(frame.resumes) {
    frame_.scratch = memory(code.scratchBytes());
    frame_.local = memory(code.localBytes());
    frame_.localBytes = code.localBytes();
  }
  static std::byte* memory(size_t bytes) {
    constexpr size_t kLine = 64;
    return static_cast<std::byte*>(std::aligned_alloc(kLine, bytes / kLine * kLine + kLine));
  }

  const Executable& code_;
  BlockFrame frame_;
  const uint32_t resumesBefore_;
};

/// Interprets until there is code; a block that has changed nothing by then is begun again on it.
class TieredKernel final : public Executable {
 public:
  explicit TieredKernel(Code interpretation) : interpretation_(std::move(interpretation)) {}
  /// Once.
  void tierUp(Code code) {
    code_ = std::move(code);
    published_.store(code_.get(), std::memory_order_release);
  }
  const Executable& latest() const override {
    const Executable* code = published_.load(std::memory_order_acquire);
    return code ? code->latest() : *this;
  }

  BlockStatus runBlock(const BlockFrame& frame) const override {
    Restarted*& restarted = restartedAt(frame);
    if (frame.resumes == 0) restarted = nullptr;
    if (restarted == nullptr) {
      // What is counted cannot be taken back.
      betterCode() = {frame.counters ? nullptr : &published_, false};
      const BlockStatus status = interpretation_->runBlock(frame);
      if (!std::exchange(betterCode().isTaken, false)) return status;
      restarted = Restarted::make(latest(), frame).release();
      if (restarted == nullptr) return interpretation_->runBlock(frame);
    }
    // A fault leaves by longjmp: then the next block of this thread frees it.
    static thread_local std::unique_ptr<Restarted> running;
    running.reset(restarted);
    const BlockStatus status = running->run(frame);
    status == BlockStatus::Suspended ? (void)running.release() : running.reset();
    return status;
  }
  std::optional<Digest> suspendedState(const BlockFrame& frame) const override {
    const Restarted* restarted = restartedAt(frame);
    return restarted ? restarted->suspendedState() : interpretation_->suspendedState(frame);
  }
  void abandon(const BlockFrame& frame) const override {
    const std::unique_ptr<Restarted> restarted(restartedAt(frame));
    restarted ? restarted->abandon() : interpretation_->abandon(frame);
  }
  bool canSuspend() const override { return interpretation_->canSuspend(); }
  size_t scratchBytes() const override { return interpretation_->scratchBytes() + sizeof(Restarted*); }
  size_t localBytes() const override { return interpretation_->localBytes(); }
  size_t counterWords() const override { return interpretation_->counterWords(); }
  void addCounters(const uint64_t* words, SiteCounters& sites) const override {
    interpretation_->addCounters(words, sites);
  }

 private:
  Restarted*& restartedAt(const BlockFrame& frame) const {
    return *reinterpret_cast<Restarted**>(frame.scratch + interpretation_->scratchBytes());
  }

  const Code interpretation_;
  Code code_;
  std::atomic<const Executable*> published_{nullptr};
};

/// What the compiler has answered, or will.
class Compilation {
 public:
  void finish(Expected<Code> answer) {
    std::function<void(Expected<Code>)> receiver;
    {
      std::lock_guard lock(mutex_);
      answer_ = std::move(answer);
      receiver = std::move(receiver_);
    }
    there_.notify_all();
    if (receiver) receiver(*answer_);
  }

  Expected<Code> await() {
    std::unique_lock lock(mutex_);
    there_.wait(lock, [this] { return answer_.has_value(); });
    return *answer_;
  }

  /// Nothing if it takes longer.
  std::optional<Expected<Code>> await(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    there_.wait_for(lock, limit, [this] { return answer_.has_value(); });
    return answer_;
  }

  /// Called with the answer as soon as it is there, by whatever thread.
  void whenThere(std::function<void(Expected<Code>)> receiver) {
    std::unique_lock lock(mutex_);
    if (!answer_) {
      receiver_ = std::move(receiver);
      return;
    }
    lock.unlock();
    receiver(*answer_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_;
  std::optional<Expected<Code>> answer_;
  std::function<void(Expected<Code>)> receiver_;
};

/// The functions that `kernel` can reach, itself among them. An indirect call may reach any.
std::vector<const ptx::Function*> reachable(const ptx::Module& module, const ptx::Function& kernel) {
  std::vector<char> seen(module.functions.size(), 0);
  std::vector<const ptx::Function*> found;
  const auto meet = [&](const ptx::Function& f) {
    if (!std::exchange(seen[static_cast<size_t>(&f - module.functions.data())], 1)) found.push_back(&f);
  };
  meet(kernel);
  for (size_t k = 0; k < found.size(); ++k)
    for (const ptx::Instruction& i : found[k]->instructions) {
      for (const ptx::Operand& o : i.operands)
        if (o.symbol.kind == ptx::Symbol::Kind::Function) meet(module.functions[o.symbol.index]);
      if (i.op == isa::Op::Call && i.operands[1].is(ptx::Operand::Kind::Register))
        for (const ptx::Function& f : module.functions) meet(f);
    }
  return found;
}

class Tiers final : public Engine {
 public:
  Tiers(std::unique_ptr<Engine> compiler, std::unique_ptr<Engine> interpreter, TierRules rules)
      : parts_(std::make_shared<Parts>(std::move(compiler), std::move(interpreter), std::move(rules))) {}

  Expected<Code> compile(const ModulePtr& module, const ptx::Function& kernel,
                         const Specialisation& specialisation) override {
    const Request request{module, &kernel, specialisation};
    if (hasHalted()) return parts_->interpret(request);         // the compiler may never answer
    if (specialisation.trial) return parts_->compile(request);  // the interpreter tries nothing
    if (parts_->rules.waits) return parts_->settle(request, parts_->compile(request));
    auto compilation = std::make_shared<Compilation>();
    const bool begins = inBackground(
        [parts = parts_, request, compilation] { compilation->finish(parts->compile(request)); }, Urgency::Awaited);
    if (!begins) return parts_->settle(request, parts_->compile(request));
    if (auto answer = compilation->await(parts_->rules.grace)) return parts_->settle(request, std::move(*answer));
    auto interpretation = parts_->agree(request) ? parts_->interpret(request) : tl::unexpected(Error{});
    if (!interpretation) return parts_->settle(request, compilation->await());
    auto tiered = std::make_shared<TieredKernel>(std::move(*interpretation));
    compilation->whenThere([parts = parts_, tiered](Expected<Code> answer) {
      if (answer)
        tiered->tierUp(std::move(*answer));
      else if (parts->rules.tell)
        parts->rules.tell(answer.error());
    });
    return tiered;
  }

  std::shared_ptr<const Executable> replay(const ptx::Module& module, const ptx::Function& kernel,
                                           const Specialisation& specialisation) override {
    return parts_->interpreter->replay(module, kernel, specialisation);
  }

 private:
  struct Request {
    ModulePtr module;
    const ptx::Function* kernel;
    Specialisation specialisation;
  };

  /// Jobs keep it alive.
  struct Parts {
    Parts(std::unique_ptr<Engine> theCompiler, std::unique_ptr<Engine> theInterpreter, TierRules theRules)
        : compiler(std::move(theCompiler)), interpreter(std::move(theInterpreter)), rules(std::move(theRules)) {}

    Expected<Code> compile(const Request& r) const { return compiler->compile(r.module, *r.kernel, r.specialisation); }
    Expected<Code> interpret(const Request& r) const {
      return interpreter->compile(r.module, *r.kernel, r.specialisation);
    }

    /// The compiler's answer, or the interpreter in its place.
    Expected<Code> settle(const Request& r, Expected<Code> answer) const {
      constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED
      if (answer || answer.error().code != kNotSupported) return answer;
      auto slow = interpret(r);
      if (!slow) return answer;
      if (rules.tell) rules.tell(answer.error());
      return slow;
    }

    bool agree(const Request& r) const {
      for (const ptx::Function* f : reachable(*r.module, *r.kernel))
        if (!f->hasBody && rules.agreeOn && !rules.agreeOn(f->name)) return false;
      return true;
    }

    const std::unique_ptr<Engine> compiler, interpreter;
    const TierRules rules;
  };

  const std::shared_ptr<const Parts> parts_;
};

}  // namespace

BetterCode& betterCode() {
  static thread_local BetterCode code;
  return code;
}

std::unique_ptr<Engine> makeTiers(std::unique_ptr<Engine> compiler, std::unique_ptr<Engine> interpreter,
                                  TierRules rules) {
  return std::make_unique<Tiers>(std::move(compiler), std::move(interpreter), std::move(rules));
}

}  // namespace ordito::machine
