// The loops of a trial for hosts with SSE2.
#define TRIAL_LOOPS trialLoops_sse2
#include "rt/trial_loops.hpp"
