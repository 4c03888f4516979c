// The best known product of a sparse matrix in rows and a vector. The ends of the rows and the elements are merged, as
// it were: a step either takes an element or ends a row. The steps are cut into equal parts along diagonals, so that
// every thread has the same work however long the rows are. A row that is cut is added up from its parts: within a
// block by a scan that begins anew at each row, between blocks by a second kernel, always in the same order.
//
// After D. Merrill and M. Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", SC 2016.
#pragma once

constexpr unsigned kPathBlock = 128;

/// Steps of a block whose threads take `each` of them; an odd number lets threads begin in different banks.
__host__ __device__ constexpr unsigned pathTile(unsigned each) { return kPathBlock * each; }

struct Csr {
  const unsigned* first;  // rows + 1
  const unsigned* column;
  const float* value;
  unsigned rows;
  unsigned elements;
};

/// What a part of the path leaves of its last row, which goes on behind it.
struct PathRest {
  unsigned row;
  float sum;
};

inline unsigned pathTiles(unsigned rows, unsigned elements, unsigned each) {
  return (rows + elements + pathTile(each) - 1) / pathTile(each);
}

/// How many of the first `diagonal` steps end a row: `ends` are the rows' ends, `rows` of them, in elements that begin
/// with number `element` of `elements`.
__device__ inline unsigned rowsBefore(const unsigned* ends, unsigned rows, unsigned element, unsigned elements,
                                      unsigned diagonal) {
  unsigned least = diagonal > elements ? diagonal - elements : 0;
  unsigned most = min(diagonal, rows);
  while (least < most) {
    const unsigned middle = (least + most) / 2;
    if (ends[middle] <= element + diagonal - 1 - middle) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return least;
}

/// The row in which each tile begins, and behind them the row in which the last one ends.
__global__ void sparseCuts(Csr matrix, unsigned* cuts, unsigned tiles, unsigned steps) {
  const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile > tiles) return;
  const unsigned diagonal = min(tile * steps, matrix.rows + matrix.elements);
  cuts[tile] = rowsBefore(matrix.first + 1, matrix.rows, 0, matrix.elements, diagonal);
}

/// Adds to the sum of each thread the sums of those before it whose part ends in the same row. The rows ascend with the
/// threads, so a doubling of distances needs to look at the row only.
__device__ inline float sumOfRow(unsigned row, float sum, unsigned* rowOfWarp, float* sumOfWarp) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, distance);
    const unsigned itsRow = __shfl_up_sync(0xffffffffu, row, distance);
    if (lane >= distance && itsRow == row) sum += other;
  }
  if (lane == 31) {
    rowOfWarp[warp] = row;
    sumOfWarp[warp] = sum;
  }
  __syncthreads();
  float before = 0;
#pragma unroll
  for (unsigned w = 0; w < kPathBlock / 32; ++w) {
    if (w < warp && rowOfWarp[w] == row) before += sumOfWarp[w];
  }
  return before + sum;
}

/// A tile of the path for each block. Rows that end in it are written; what is left of the last is in rests[block].
template <unsigned Each>
__global__ void __launch_bounds__(kPathBlock)
    sparseByPath(Csr matrix, const float* x, float* y, const unsigned* cuts, PathRest* rests) {
  constexpr unsigned kTile = pathTile(Each);
  __shared__ unsigned ends[kTile];
  __shared__ float product[kTile];
  __shared__ unsigned rowOfWarp[kPathBlock / 32];
  __shared__ float sumOfWarp[kPathBlock / 32];
  __shared__ PathRest left[kPathBlock];
  const unsigned begin = blockIdx.x * kTile;
  const unsigned steps = min(kTile, matrix.rows + matrix.elements - begin);
  const unsigned firstRow = cuts[blockIdx.x];
  const unsigned rows = cuts[blockIdx.x + 1] - firstRow;
  const unsigned firstElement = begin - firstRow;
  const unsigned elements = steps - rows;
  for (unsigned i = threadIdx.x; i < rows; i += kPathBlock) ends[i] = matrix.first[firstRow + i + 1];
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned i = threadIdx.x + k * kPathBlock;
    if (i < elements) product[i] = matrix.value[firstElement + i] * x[matrix.column[firstElement + i]];
  }
  __syncthreads();

  const unsigned diagonal = min(threadIdx.x * Each, steps);
  unsigned row = rowsBefore(ends, rows, firstElement, elements, diagonal);
  unsigned element = diagonal - row;
  const unsigned rowAtBegin = row;
  float sum = 0;
  float ofFirst = 0;  // what the row in which the thread begins gets from it
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    if (diagonal + k >= steps) break;
    if (row < rows && ends[row] <= firstElement + element) {
      if (row == rowAtBegin) {
        ofFirst = sum;
      } else {
        y[firstRow + row] = sum;
      }
      sum = 0;
      ++row;
    } else {
      sum += product[element++];
    }
  }
  // The row in which a thread begins also gets what the threads before it left of it.
  left[threadIdx.x].row = row;
  left[threadIdx.x].sum = sumOfRow(row, sum, rowOfWarp, sumOfWarp);
  __syncthreads();
  if (row != rowAtBegin) {
    const PathRest before = threadIdx.x == 0 ? PathRest{rowAtBegin, 0.0f} : left[threadIdx.x - 1];
    y[firstRow + rowAtBegin] = before.sum + ofFirst;  // the thread before ended where this one began
  }
  if (threadIdx.x == kPathBlock - 1) rests[blockIdx.x] = {firstRow + row, left[threadIdx.x].sum};
}

/// Adds what the tiles left to the rows that end behind them. Of neighbouring tiles that left parts of one row the
/// first adds all; where these are many, its whole warp helps.
__global__ void __launch_bounds__(kPathBlock)
    sparseRests(const PathRest* rests, unsigned tiles, float* y, unsigned rows) {
  constexpr unsigned kMany = 4;
  const unsigned tile = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = tile < tiles ? rests[tile].row : rows;
  const bool first = row < rows && (tile == 0 || rests[tile - 1].row != row);
  const bool many = first && tile + kMany < tiles && rests[tile + kMany].row == row;
  if (first && !many) {
    float sum = 0;
    for (unsigned t = tile; t < tiles && rests[t].row == row; ++t) sum += rests[t].sum;
    y[row] += sum;
  }
  for (unsigned left = __ballot_sync(0xffffffffu, many); left != 0; left &= left - 1) {
    const int whose = __ffs(static_cast<int>(left)) - 1;
    const unsigned itsRow = __shfl_sync(0xffffffffu, row, whose);
    float sum = 0;
    for (unsigned t = tile + static_cast<unsigned>(whose); t < tiles && rests[t].row == itsRow; t += 32)
      sum += rests[t].sum;
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == static_cast<unsigned>(whose)) y[itsRow] += sum;
  }
}

/// y = matrix * x. `cuts` has pathTiles + 1 words and `rests` pathTiles elements.
template <unsigned Each>
void launchByPath(const Csr& matrix, const float* x, float* y, unsigned* cuts, PathRest* rests) {
  const unsigned tiles = pathTiles(matrix.rows, matrix.elements, Each);
  sparseCuts<<<tiles / kPathBlock + 1, kPathBlock>>>(matrix, cuts, tiles, pathTile(Each));
  sparseByPath<Each><<<tiles, kPathBlock>>>(matrix, x, y, cuts, rests);
  sparseRests<<<tiles / kPathBlock + 1, kPathBlock>>>(rests, tiles, y, matrix.rows);
}
