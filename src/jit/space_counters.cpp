// See space_counters.hpp.
#include "jit/space_counters.hpp"

namespace ordito::jit {

using machine::AccessKind;
using machine::Counter;

SpaceCounters countersOf(AccessKind kind, ptx::Space space) {
  using ptx::Space;
  const bool isLoad = kind == AccessKind::Load;
  if (kind == AccessKind::Atomic || kind == AccessKind::Reduction) {
    if (space == Space::Shared) return {Counter::SharedAtomics};
    if (space != Space::Global) return {Counter::Count};
    return {kind == AccessKind::Atomic ? Counter::GlobalAtomics : Counter::GlobalReductions};
  }
  if (space == Space::Local) return {isLoad ? Counter::LocalLoadRequests : Counter::LocalStoreRequests};
  if (space == Space::Global && isLoad) return {Counter::GlobalLoadRequests, Counter::GlobalLoadSectors};
  if (space == Space::Global) return {Counter::GlobalStoreRequests, Counter::GlobalStoreSectors};
  if (isLoad || kind == AccessKind::MatrixLoad)
    return {isLoad ? Counter::SharedLoadRequests : Counter::MatrixLoads, Counter::SharedLoadWavefronts,
            Counter::SharedLoadConflicts};
  return {kind == AccessKind::MatrixStore ? Counter::MatrixStores : Counter::SharedStoreRequests,
          Counter::SharedStoreWavefronts, Counter::SharedStoreConflicts};
}

}  // namespace ordito::jit
