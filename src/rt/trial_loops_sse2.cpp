// The loops of a trial for hosts with SSE2.
#define TRIAL_LOOPS kTrialLoopsSse2
#include "rt/trial_loops.hpp"
