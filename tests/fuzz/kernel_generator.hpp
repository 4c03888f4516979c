// Random kernels for differential fuzzing: structured control flow over the pure rows of isa/ptx.def, memory, barriers
// and warp operations, such that every result is defined. Two engines must therefore agree on all of memory, bit for
// bit.
//
// What makes results defined: warp operations and barriers stand only where all threads meet (under conditions made
// from values that the whole block shares); threads write their own words or use commutative atomics; f64 NaNs, whose
// bits depend on the order of operands, are never looked at.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "machine/kernel.hpp"

namespace ordito::fuzz {

/// A piece of a kernel. Any one can be dropped and leaves a kernel that assembles.
struct Node {
  enum class Kind : uint8_t { Text, If, Loop, Switch, Case };
  Kind kind = Kind::Text;
  std::string text;  // Text: instructions. If: the guard, "%p1" or "!%p1". Loop: the register that holds the bound.
                     // Switch: the one that chooses; its body is its cases. Case: "" or "falls" into the next one.
  std::string counter, setup = {};  // setup: instructions that make the guard or the bound
  std::vector<Node> body, otherwise;
  bool isDropped = false;
};

struct Kernel {
  machine::Dim3 grid, block;
  std::vector<Node> nodes;
  bool isSmall = false;  // few instructions; what they do not name is not looked at
  bool hasStructures = false;
  bool isScheduled = false;  // has barriers that not all threads reach, or locks between lanes
  std::string text() const;  // a whole PTX module; parameters: in32, in64, inF64, out, sums
};

inline constexpr unsigned kInputs = 4096;   // elements of each input buffer
inline constexpr unsigned kOutWords = 128;  // 32-bit words of output for each thread
inline constexpr unsigned kSums = 64;       // words that atomics add to

class Generator {
 public:
  /// `portable`: nothing of which a GPU with NVIDIA's compiler makes something else, though the manual defines it.
  explicit Generator(uint64_t seed, bool portable = false) : random_(seed), isPortable_(portable) {}
  Kernel run();

  bool diverges = false, isSmall = false, hasStructures = false;

 private:
  struct Template;
  static const std::vector<std::vector<Template>>& templates();
  friend struct TemplateFinder;

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::string reg(char kind, bool shared);
  std::string sharedReg(char kind);
  std::string ownReg(char kind);
  std::string source(unsigned type, bool shared);
  std::string destination(unsigned type, bool shared);
  std::string guard(bool shared);
  std::string partner();
  std::string index();
  Node text(std::string t) { return {Node::Kind::Text, std::move(t), {}, {}, {}, {}, false}; }
  std::vector<Node> block(unsigned depth, bool together, unsigned count);
  Node statement(unsigned depth, bool together);
  Node pure(bool shared);
  Node load(bool shared);
  Node store();
  Node atomic();
  Node local();
  Node structure();
  Node call();
  Node exchange();
  Node warp();
  Node leave();
  std::string place();
  Node branch(unsigned depth, bool together);
  Node loop(unsigned depth, bool together);
  Node choice(unsigned depth, bool together);
  Node partOfWarp();
  Node meet();
  Node lock();

  std::mt19937_64 random_;
  bool isPortable_;
  bool mayExit_ = true, haveExited_ = false, wholeWarps_ = true;
  bool mayLeave_ = false;  // lanes may leave the innermost loop alone
  // Barriers that not all threads reach; locks between lanes. Only where `diverges` asks for them.
  bool hasUnevenBarriers_ = false, hasLocks_ = false;
  unsigned loops_ = 0, inLoops_ = 0, skips_ = 0, locks_ = 0, forms_ = 0;
};

}  // namespace ordito::fuzz
