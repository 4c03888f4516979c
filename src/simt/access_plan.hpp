// How each access to memory is done: one decision for each instruction, from what is known of its lanes' addresses.
//
// A segmented address is a base for each segment of lanes and a pattern that is known when the kernel is compiled. The
// pattern decides: a scalar, vectors of neighbouring lanes, lanes one by one at constant distances, few places and a
// permute table. Only where nothing is known are lanes gathered and scattered; there a few comparisons can still find
// that they are neighbours after all. A lane that is off must not touch memory, and not every instruction of the host
// takes a mask: so there are two ways for each access, one for code without a mask and one for code with.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simt/access_pattern.hpp"
#include "simt/code.hpp"
#include "simt/combined_atomics.hpp"
#include "simt/known_bits.hpp"
#include "simt/merged_loads.hpp"
#include "simt/non_temporal.hpp"
#include "simt/private_slots.hpp"
#include "simt/warp_distances.hpp"

namespace ordito::simt {

/// What is known of the addresses of a warp's lanes.
struct AddressForm {
  unsigned segments = 0;     // of lanes that share a base; 0: nothing is known
  ir::Pattern pattern{};     // bytes from the base
  bool warpVarying = true;   // the bases are not the same for all warps
  bool addsPattern = false;  // the bases include the pattern of their segments
  bool isSegmented() const { return segments != 0; }
  bool patternless() const { return pattern == ir::Pattern{}; }
};

/// Of the address that is operand `k` of `i`, also where the operand is no access but a barrier's or a table's place.
AddressForm addressForm(const ir::Function& function, const ir::Shapes& shapes, const Instruction& i, size_t k);

/// Of a load of `bytes` in each lane at the address that is operand `k` of `i`: does the lane's address grow by as much
/// from warp to warp, while its neighbours lie further apart? Sixteen bytes then are the words of so many warps.
bool readsColumns(const AddressForm& address, const Instruction& i, size_t k, const WarpDistances& distances);
inline constexpr unsigned kColumnBytes = 16;

enum class Transfer : uint8_t {
  None,             // no lane's value is moved: nobody reads it
  Slot,             // a private variable that has no memory (private_slots.hpp)
  Merged,           // with the loads of its neighbours (merged_loads.hpp)
  Scalars,          // the lanes of each segment read one place: a scalar
  Runs,             // runs of `width` lanes, each at one place or contiguous: a scalar or a vector
  Strided,          // lanes that are apart by constants, one by one
  Columns,          // likewise, where the next warps of the segment have the words behind: rows, and transpositions
  Structure,        // likewise, with other members of the structure (structures.hpp): vectors, and shuffles
  Interleaved,      // vectors (.v2, .v4) of neighbouring lanes: contiguous, and shuffles
  Permuted,         // each of few places once, and a permute table
  Window,           // the vectors that cover lanes close together, and permutations
  Words,            // loads of vectors: each lane's as a whole, and a transposition
  Vectors,          // stores of vectors: each lane's as a whole
  Tested,           // contiguous where the lanes turn out to be neighbours, else as Lanes
  Lanes,            // a gather or a scatter
  OneByOne,         // a loop over the lanes: atomics, calls of the runtime
  Unrolled,         // atomics on shared memory whose old value nobody reads: lane after lane, straight from registers
  OnePlace,         // atomics of all lanes on one place, which is changed once
  PerhapsOnePlace,  // likewise where the lanes turn out to meet in one place, else as OneByOne
  Rows,             // rows of 8×8 matrices (ldmatrix, stmatrix)
  Fragment,         // elements of a wmma fragment
  Image,            // by the texture unit
};

/// How elements of `bits` are moved, one for each lane.
struct ElementTransfer {
  Transfer transfer = Transfer::Lanes;
  unsigned width = 0;  // of runs
};

/// One access: an instruction, and the operand that is its address.
struct Access {
  AddressForm address;
  unsigned count = 1, bytes = 4;                          // elements of each lane, and their size
  ElementTransfer whole = {}, masked = {};                // where all lanes are on, and under a mask
  ElementTransfer wholeElement = {}, maskedElement = {};  // of those of its elements that are moved by themselves
  bool isTested = true;                                   // of Tested: there is room for the test
  bool isNonTemporal = false;                             // whole contiguous stores may go round the caches
  bool isAligned = false;                                 // no test of the address is needed
  bool isRead = true;                                     // of atomics: somebody reads what was there before
  bool isCombined = false;                                // of atomics: waits in a buffer (combined_atomics.hpp)
  bool isCount = false;  // of atomics: in a region that has them it goes to privatised copies

  const ElementTransfer& transfer(bool isMasked) const { return isMasked ? masked : whole; }
  const ElementTransfer& elementTransfer(bool isMasked) const { return isMasked ? maskedElement : wholeElement; }
};

class AccessPlan {
 public:
  using Key = std::pair<const Instruction*, size_t>;
  /// Of the access at operand `k` of `i`, an instruction of the function.
  const Access& at(const Instruction& i, size_t k) const { return accesses.at({&i, k}); }
  /// Whole warps do these together.
  void becomeStructures(const std::set<const Instruction*>& members);
  std::map<Key, Access> accesses;
};

/// The parts of the plan that accesses depend on.
struct AccessInputs {
  const ir::Function& function;
  const Facts& facts;
  const ir::Shapes& shapes;
  const KnownBits& knownBits;
  const MergedLoads& mergedLoads;
  const NonTemporal& nonTemporal;
  const PrivateSlots& privateSlots;
  const CombinedAtomics& combined;
  const Code& code;
  const ir::Definitions& definitions;
  const WarpDistances& distances;
};

AccessPlan findAccesses(const AccessInputs& inputs);

std::string print(const AccessPlan& plan, const ir::Function& function);

}  // namespace ordito::simt
