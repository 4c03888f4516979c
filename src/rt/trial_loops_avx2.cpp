// The loops of a trial for hosts with AVX2.
#define TRIAL_LOOPS kTrialLoopsAvx2
#include "rt/trial_loops.hpp"
