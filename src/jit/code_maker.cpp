// See code_maker.hpp.
#include "jit/code_maker.hpp"

#include <llvm-c/Core.h>

#include <chrono>
#include <thread>

#include "machine/background.hpp"

namespace ordito::jit {

namespace {

// Any function of LLVM's.
const void* const kLlvmCode = reinterpret_cast<const void*>(&LLVMContextCreate);

Effort effortOf(Copy copy) { return copy == Copy::Baseline ? Effort::Baseline : Effort::Optimised; }

const char* nameOf(Copy copy) {
  switch (copy) {
    case Copy::Baseline: return "baseline";
    case Copy::Contender: return "contender";
    case Copy::Optimised: break;
  }
  return "";
}

}  // namespace

std::optional<size_t> Request::heard() const {
  if (!specialisation.accesses || !specialisation.lines.empty()) return std::nullopt;
  return static_cast<size_t>(kernel - module->functions.data());
}

Digest Request::keyFor(Copy copy) const { return copy == Copy::Optimised ? key : Digest(key).add(nameOf(copy)); }

std::string Request::symbolFor(Copy copy) const {
  return copy == Copy::Optimised ? "ordito_" + key.hex() : fmt::format("ordito_{}_{}", nameOf(copy), key.hex());
}

Expected<Analysed> CodeMaker::analyse(const Request& r) const {
  const machine::Haltable guard(kLlvmCode);
  return jit::analyse(*r.module, *r.kernel, r.specialisation, options_.dumpIr);
}

Expected<Emission> CodeMaker::emit(const Request& r, const Analysed& kernel, Copy copy) const {
  const machine::Haltable guard(kLlvmCode);
  const auto byThread = copy == Copy::Contender ? simt::ByThread::Contrary : options_.byThread;
  return jit::emit(kernel, {options_.coarsening, byThread}, target_, r.symbolFor(copy), effortOf(copy));
}

Expected<Linked> CodeMaker::make(const Request& r, Emission kernel, Copy copy) {
  delay();
  auto object = generate(kernel, copy);
  if (!object) return tl::unexpected(object.error());
  CompiledObject code{std::move(*object),
                      kernel.emitted.scratchBytes,
                      kernel.emitted.localBytes,
                      kernel.emitted.nonTemporalBytes,
                      kernel.emitted.counters,
                      kernel.emitted.runsRanges,
                      kernel.isClose ? Choice::Close : Choice::Clear};
  if (r.caches) cache_.add(r.keyFor(copy), code);
  return link(r, std::move(code), copy);
}

Expected<Linked> CodeMaker::make(const Request& r, const Analysed& kernel, Copy copy) {
  auto emission = emit(r, kernel, copy);
  if (!emission) return tl::unexpected(emission.error());
  return make(r, std::move(*emission), copy);
}

Expected<Linked> CodeMaker::makeAnew(const Request& r, Copy copy) {
  auto analysed = analyse(r);
  if (!analysed) return tl::unexpected(analysed.error());
  return make(r, *analysed, copy);
}

std::optional<Expected<Linked>> CodeMaker::find(const Request& r, Copy copy) {
  if (!r.caches) return std::nullopt;
  auto kept = cache_.find(r.keyFor(copy));
  if (!kept) return std::nullopt;
  const bool isContender = kept->choice == Choice::Contender;
  return link(r, std::move(*kept), isContender ? Copy::Contender : copy);
}

void CodeMaker::settle(const Request& r, Copy winner, double nanosecondsPerBlock) const {
  if (!r.caches) return;
  auto kept = cache_.find(r.keyFor(winner));
  if (!kept) return;
  kept->choice = winner == Copy::Contender ? Choice::Contender : Choice::Favourite;
  kept->blockNanoseconds = nanosecondsPerBlock;
  cache_.add(r.keyFor(Copy::Optimised), *kept);
  cache_.remove(r.keyFor(Copy::Contender));
}

Expected<std::string> CodeMaker::generate(Emission& kernel, Copy copy) const {
  const machine::Haltable guard(kLlvmCode);
  return compileToObject(
      kernel, target_,
      {.effort = effortOf(copy), .dump = options_.dumpIr, .times = options_.times, .mostPhis = options_.mostPhis});
}

Expected<Linked> CodeMaker::link(const Request& r, CompiledObject code, Copy copy) {
  const Needs needs(code, r.threads());
  auto address = store_.link(std::move(code.object), r.symbolFor(copy));
  if (!address) return tl::unexpected(address.error());
  return Linked{reinterpret_cast<BlockFunction>(*address), needs, code.choice};
}

void CodeMaker::delay() const {
  const auto end = std::chrono::steady_clock::now() + options_.delay;
  while (std::chrono::steady_clock::now() < end && !machine::processEnds())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace ordito::jit
