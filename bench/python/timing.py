"""What the workers share: the median time of a call, and a line of JSON for each kernel."""
import json
import time

import numpy as np


def median_ms(call, seconds=1.0, most=15):
    """Of as many calls as fit into the seconds, three at least; the first, which compiles, does not count."""
    call()
    times = []
    begin = time.perf_counter()
    while len(times) < 3 or (len(times) < most and time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times))


def tell(kernel, size, ms, numpy_ms, right):
    print(json.dumps({"kernel": kernel, "size": size, "ms": ms, "numpy": numpy_ms, "right": bool(right)}), flush=True)
