// Which loops of a trial the host can run.
#include "rt/trial_cells.hpp"

namespace ordito::rt {

extern const TrialLoops kTrialLoopsSse2, kTrialLoopsAvx2, kTrialLoopsAvx512;

const TrialLoops& trialLoops() {
  static const TrialLoops& widest = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")
                                        ? kTrialLoopsAvx512
                                    : __builtin_cpu_supports("avx2") ? kTrialLoopsAvx2
                                                                     : kTrialLoopsSse2;
  return widest;
}

}  // namespace ordito::rt
