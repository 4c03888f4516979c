// The loops of a trial for hosts with AVX512.
#define TRIAL_LOOPS kTrialLoopsAvx512
#include "rt/trial_loops.hpp"
