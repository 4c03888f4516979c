// Which loops of a trial the host can run.
#include "rt/trial_cells.hpp"

namespace ordito::rt {

extern const TrialLoops trialLoops_sse2, trialLoops_avx2, trialLoops_avx512;

const TrialLoops& trialLoops() {
  static const TrialLoops& widest = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")
                                        ? trialLoops_avx512
                                    : __builtin_cpu_supports("avx2") ? trialLoops_avx2
                                                                     : trialLoops_sse2;
  return widest;
}

}  // namespace ordito::rt
