// The loops of a trial for hosts with AVX2.
#define TRIAL_LOOPS trialLoops_avx2
#include "rt/trial_loops.hpp"
