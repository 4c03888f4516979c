// Two engines as one: kernels that the first refuses by name (recursion, say) are run by the second, which is slower
// and lacks less.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "machine/kernel.hpp"

namespace ordito::machine {

class FallbackEngine final : public Engine {
 public:
  /// `tell` gets the first engine's refusal for every kernel that goes to the second.
  FallbackEngine(std::unique_ptr<Engine> first, std::unique_ptr<Engine> second, std::function<void(const Error&)> tell)
      : first_(std::move(first)), second_(std::move(second)), tell_(std::move(tell)) {}

  Expected<std::shared_ptr<const Executable>> compile(const ptx::Module& module, const ptx::Function& kernel,
                                                      const Specialisation& specialisation) override {
    constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED
    auto executable = first_->compile(module, kernel, specialisation);
    if (executable || executable.error().code != kNotSupported) return executable;
    auto slow = second_->compile(module, kernel, specialisation);
    if (!slow) return executable;
    tell_(executable.error());
    return slow;
  }

  std::shared_ptr<const Executable> witness(const ptx::Module& module, const ptx::Function& kernel,
                                            const Specialisation& specialisation) override {
    return second_->witness(module, kernel, specialisation);
  }

 private:
  std::unique_ptr<Engine> first_, second_;
  std::function<void(const Error&)> tell_;
};

}  // namespace ordito::machine
