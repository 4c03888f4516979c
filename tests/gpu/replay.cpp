// gpu_replay: runs the recorded instructions on one of our engines and compares with what the GPU answered, bit by bit.
//
//   gpu_replay --engine interp|jit|jit-uniform --answers FOLDER --known FILE [--table] [--show N] [--matrices N]
//   [ROW]...
//
// Differences that known.txt lists are counted, all others fail, and so does an instruction that was never recorded.
// jit-uniform gives all lanes of a warp the same operands, which the JIT compiles to scalar code. Matrix products are
// nearly all of the JIT's time, a second for each form: --matrices N runs every N-th of their forms only.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "answers.hpp"
#include "forms.hpp"
#include "interp/interpreter.hpp"
#include "jit/jit.hpp"
#include "known.hpp"
#include "run_case.hpp"

namespace ordito::gpu {
namespace {

struct Options {
  std::string engine = "interp", answers, known;
  std::vector<std::string> rows;
  unsigned shown = 3, matrixStep = 1;
  bool table = false, listMissing = false;
};

/// How one row fared.
struct Tally {
  size_t items = 0, results = 0, missing = 0, refused = 0, failed = 0;
  size_t nans = 0, inexact = 0;  // results with other NaN bits; off by some ulp
  size_t emulated = 0;           // results that the GPU's compiler has by another definition
  uint64_t worstUlp = 0;
  void add(const Tally& t) {
    items += t.items, results += t.results, missing += t.missing, refused += t.refused, failed += t.failed;
    nans += t.nans, emulated += t.emulated, inexact += t.inexact, worstUlp = std::max(worstUlp, t.worstUlp);
  }
};

struct FloatFormat {
  unsigned bits, mantissa;
};

FloatFormat formatOf(isa::Type t) {
  switch (isa::element(t)) {
    case isa::Type::f16: return {16, 10};
    case isa::Type::bf16: return {16, 7};
    case isa::Type::f64: return {64, 52};
    default: return {32, 23};
  }
}

bool isNan(uint64_t v, FloatFormat f) {
  const uint64_t sign = uint64_t{1} << (f.bits - 1), infinity = (sign - 1) >> f.mantissa << f.mantissa;
  return (v & (sign - 1)) > infinity;
}

/// Numbers of a format in order, so that neighbours differ by 1.
int64_t place(uint64_t v, FloatFormat f) {
  const uint64_t sign = uint64_t{1} << (f.bits - 1);
  return v & sign ? -static_cast<int64_t>(v & (sign - 1)) : static_cast<int64_t>(v);
}

struct Difference {
  bool isNan = false;
  uint64_t ulp = 0;      // of floats
  bool isWrong = false;  // neither
};

Difference compareElements(uint64_t ours, uint64_t theirs, FloatFormat f) {
  if (ours == theirs) return {};
  if (isNan(ours, f) && isNan(theirs, f)) return {true, 0, false};
  if (isNan(ours, f) || isNan(theirs, f)) return {false, 0, true};
  const int64_t a = place(ours, f), b = place(theirs, f);
  const uint64_t distance = a > b ? uint64_t(a) - uint64_t(b) : uint64_t(b) - uint64_t(a);
  return {false, distance, distance == 0};  // zeros of different sign
}

Difference compareValues(uint64_t ours, uint64_t theirs, isa::Type t) {
  if (ours == theirs) return {};
  if (!isa::isFloat(t)) return {false, 0, true};
  const FloatFormat f = formatOf(t);
  if (!isa::isPacked(t)) return compareElements(ours, theirs, f);
  const Difference low = compareElements(ours & 0xFFFF, theirs & 0xFFFF, f),
                   high = compareElements(ours >> 16, theirs >> 16, f);
  return {low.isNan || high.isNan, std::max(low.ulp, high.ulp), low.isWrong || high.isWrong};
}

class Replay {
 public:
  Replay(const Options& options, const std::vector<Known>& known)
      : options_(options),
        known_(known),
        engine_(options.engine == "interp" ? interp::makeInterpreter() : jit::makeJit(jit::optionsFromEnvironment())) {}

  Expected<Tally> row(isa::Op op) {
    Tally tally;
    const Spread spread = options_.engine == "jit-uniform" ? Spread::Uniform : Spread::PerLane;
    const auto experiments = experimentsOf(op, spread);
    auto answers = readAnswers(fmt::format("{}/{}.answers", options_.answers, isa::info(op).name), experiments);
    if (!answers) return tl::unexpected(answers.error());
    for (const Experiment& e : experiments) tally.add(experiment(e, *answers ? **answers : Answers{}));
    return tally;
  }

 private:
  const Options& options_;
  const std::vector<Known>& known_;
  std::unique_ptr<machine::Engine> engine_;
  size_t matrices_ = 0;  // forms of matrix products seen so far

  Tally experiment(const Experiment& e, const Answers& answers) {
    Tally tally;
    std::vector<std::pair<const Item*, const Answer*>> asked;
    test::TextTest test = e.test;  // without what the GPU's compiler refuses or nobody asks for
    const auto leaveOut = [&test](const Item& i) {
      if (const size_t at = test.text.find(i.code); at != std::string::npos) test.text.erase(at, i.code.size());
    };
    for (const Item& i : e.items) {
      const auto a = answers.byKey.find(i.key);
      const bool isThere = a != answers.byKey.end() && a->second.fingerprint == fingerprintOf(e, i);
      const bool isMissing = !isThere && isForH200(i.op);  // which younger instructions cannot be asked
      if (isMissing) ++tally.missing;
      if (isMissing && options_.listMissing) std::printf("not recorded: %s\n", i.key.c_str());
      if (isThere && a->second.bytes.empty()) ++tally.refused, leaveOut(i);
      if (isa::info(i.op).unit == isa::Unit::Tensor && matrices_++ % options_.matrixStep) {
        leaveOut(i);
        continue;
      }
      if (isThere && a->second.bytes.size() == i.bytes()) asked.emplace_back(&i, &a->second);
    }
    if (asked.empty()) return tally;
    const test::Outcome o = test::runCase(*engine_, test, e.launch, test::Wanted::Nothing);
    if (!o.error.empty() || o.fault) {
      std::printf("FAIL %s: %s\n", e.name.c_str(), o.fault ? o.fault->message.c_str() : o.error.c_str());
      tally.failed += asked.size();
      return tally;
    }
    const std::vector<uint8_t> bytes = outputBytes(o.buffers.back());
    for (auto [i, a] : asked) tally.add(item(e, *i, bytes.data() + i->begin(), a->bytes.data()));
    return tally;
  }

  Tally item(const Experiment& e, const Item& i, const uint8_t* ours, const uint8_t* theirs) {
    Tally t;
    t.items = 1;
    uint64_t allowed = 0;
    bool nansMayDiffer = false, anyMayDiffer = false;
    for (const Known& k : known_)
      if ((k.engine == "both" || options_.engine.starts_with(k.engine)) && matches(k.pattern, i.key)) {
        allowed = std::max(allowed, k.ulp);
        nansMayDiffer |= k.isNan;
        anyMayDiffer |= k.isValue;
        k.used = true;
      }
    unsigned shown = 0;
    for (const Results& r : i.results)
      for (size_t n = 0; n < r.count; ++n) {
        const size_t at = r.offset - i.begin() + n * r.width();
        uint64_t a = 0, b = 0;
        std::memcpy(&a, ours + at, r.width());
        std::memcpy(&b, theirs + at, r.width());
        ++t.results;
        if (a == b) continue;
        const Difference d = compareValues(a, b, r.type);
        t.nans += d.isNan, t.inexact += d.ulp > 0;
        if (anyMayDiffer) {
          ++t.emulated;
          continue;
        }
        if (!d.isWrong && d.ulp <= allowed) t.worstUlp = std::max(t.worstUlp, d.ulp);
        if (!d.isWrong && d.ulp <= allowed && (!d.isNan || nansMayDiffer)) continue;
        if (!shown) ++t.failed;
        if (shown++ < options_.shown) show(e, i, r, n, a, b);
      }
    return t;
  }

  void show(const Experiment& e, const Item& i, const Results& r, size_t n, uint64_t ours, uint64_t theirs) const {
    const int width = static_cast<int>(2 * r.width());
    std::string text = fmt::format("FAIL {}: result {} of {}", i.key, &r - i.results.data(), n);
    if (e.inputs.front().size() == r.count)
      for (const auto& values : e.inputs) text += fmt::format(" {:#x}", values[n]);
    std::printf("%s: %s %#0*llx, GPU %#0*llx\n", text.c_str(), options_.engine.c_str(), width + 2,
                static_cast<unsigned long long>(ours), width + 2, static_cast<unsigned long long>(theirs));
  }
};

int run(const Options& options) {
  auto known = readKnown(options.known);
  if (!known) return std::puts(known.error().message.c_str()), 2;
  Replay replay(options, *known);
  Tally all;
  if (options.table)
    std::puts(
        "| row | instructions | results | other last bits | worst, ulp | other NaN bits | refused by the GPU's "
        "compiler |\n|---|---|---|---|---|---|---|");
  for (uint16_t k = 0; k < static_cast<uint16_t>(isa::Op::Count); ++k) {
    const std::string name(isa::kOps[k].name);
    if (!options.rows.empty() && std::find(options.rows.begin(), options.rows.end(), name) == options.rows.end())
      continue;
    auto t = replay.row(static_cast<isa::Op>(k));
    if (!t) return std::puts(t.error().message.c_str()), 2;
    all.add(*t);
    if (options.table && (t->items || t->refused))
      std::printf("| %s | %zu | %zu | %zu | %llu | %zu | %zu |\n", name.c_str(), t->items, t->results, t->inexact,
                  static_cast<unsigned long long>(t->worstUlp), t->nans, t->refused);
    if (t->missing) std::printf("%s: %zu instructions were never recorded\n", name.c_str(), t->missing);
  }
  std::printf(
      "%s: %zu instructions, %zu results; %zu off in the last bits (at most %llu ulp), %zu NaNs with other bits, %zu "
      "emulated "
      "otherwise; %zu refused by the GPU's compiler, %zu not recorded; %zu instructions wrong\n",
      options.engine.c_str(), all.items, all.results, all.inexact, static_cast<unsigned long long>(all.worstUlp),
      all.nans, all.emulated, all.refused, all.missing, all.failed);
  return all.failed || all.missing || all.items == 0 ? 1 : 0;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  ordito::gpu::Options options;
  CLI::App app{"Replays a GPU's answers on our engines"};
  app.add_option("--engine", options.engine, "interp, jit or jit-uniform");
  app.add_option("--answers", options.answers, "the folder of answers")->required();
  app.add_option("--known", options.known, "the list of known differences")->required();
  app.add_option("--show", options.shown, "wrong results shown of each instruction");
  app.add_option("--matrices", options.matrixStep, "run every N-th form of the matrix products")
      ->check(CLI::PositiveNumber);
  app.add_flag("--table", options.table, "print a table of rows");
  app.add_flag("--missing", options.listMissing, "name the instructions that were never recorded");
  app.add_option("rows", options.rows, "names of rows; all without");
  CLI11_PARSE(app, argc, argv);
  return ordito::gpu::run(options);
}
