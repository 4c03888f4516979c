"""Where a thread is: threadIdx, blockIdx, blockDim, gridDim, and grid() and gridsize(), which are made of them."""
from common import check, check_equal, cuda, np


@cuda.jit
def one(out, size):
    i = cuda.grid(1)
    out[i] = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x - i
    if i == 0:
        size[0] = cuda.gridsize(1) - cuda.gridDim.x * cuda.blockDim.x


@cuda.jit
def two(out):
    x, y = cuda.grid(2)
    width, height = cuda.gridsize(2)
    out[y, x] = y * width + x + 1000 * (height - out.shape[0])


@cuda.jit
def three(out):
    x, y, z = cuda.grid(3)
    same = (x == cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            and y == cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
            and z == cuda.blockIdx.z * cuda.blockDim.z + cuda.threadIdx.z)
    out[z, y, x] = same


line, size = np.ones(24, np.int32), np.ones(1, np.int32)
one[3, 8](line, size)
check(not line.any(), "grid(1) is blockIdx * blockDim + threadIdx")
check(size[0] == 0, "gridsize(1) is gridDim * blockDim")
plane = np.zeros((6, 20), np.int32)
two[(5, 3), (4, 2)](plane)
check_equal(plane, np.arange(120).reshape(6, 20), "grid(2), gridsize(2): x is the fastest")
space = np.zeros((8, 6, 4), np.int32)
three[(2, 3, 4), (2, 2, 2)](space)
check(space.all(), "grid(3)")
