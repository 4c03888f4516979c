"""What the programs share: Numba itself, or a word that it is missing (status 77: skipped)."""
import sys
import warnings

try:
    import numba
    import numpy as np
    from numba import cuda
except ImportError as missing:
    print(f"skipped: {missing}; Debian's package python3-numba has it")
    sys.exit(77)

# That a grid of a few blocks leaves a GPU idle, and that arrays of the host are copied, is meant here.
warnings.filterwarnings("ignore", category=numba.NumbaWarning)
warnings.filterwarnings("ignore", module="numba")  # numba-cuda has a warning of its own
RANDOM = np.random.default_rng(1)


def check(condition, what):
    print(f"{'ok  ' if condition else 'FAILED'} {what}")
    if not condition:
        sys.exit(1)


def check_equal(got, expected, what, tolerance=0.0):
    check(np.allclose(got, expected, rtol=tolerance, atol=tolerance), what)
