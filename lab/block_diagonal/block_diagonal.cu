// Products of matrices that are zero but for square blocks on the diagonal. The product of two with the same blocks has
// these blocks, too, each the product of theirs: n1^3 + n2^3 + ... multiplications instead of (n1 + n2 + ...)^3. The
// host launches a kernel for each block, in one stream or in several; or one kernel looks at the blocks and launches
// the others, each with as many threads as its block needs (dynamic parallelism).
//
//   block_diagonal [--size N] [--variant NAME] [--rounds R] [--json]        N: rows of the whole matrix
#include <array>

#include "../common/output.hpp"

namespace {

constexpr std::size_t kLargestSize = 8192;
constexpr unsigned kTile = 16;
constexpr unsigned kLargestBlock = 100;
constexpr std::size_t kStreams = 4;

struct Matrices {
  const float* a;
  const float* b;
  float* c;
  unsigned n;
};

struct Block {
  unsigned begin;
  unsigned size;
};

__global__ void diagonalBlock(Matrices m, Block block) {
  const unsigned row = blockIdx.y * kTile + threadIdx.y;
  const unsigned column = blockIdx.x * kTile + threadIdx.x;
  if (row >= block.size || column >= block.size) return;
  const float* a = m.a + std::size_t{block.begin + row} * m.n + block.begin;
  const float* b = m.b + std::size_t{block.begin} * m.n + block.begin + column;
  float sum = 0;
  for (unsigned k = 0; k < block.size; ++k) sum += a[k] * b[std::size_t{k} * m.n];
  m.c[std::size_t{block.begin + row} * m.n + block.begin + column] = sum;
}

__host__ __device__ inline dim3 gridOf(Block block) {
  const unsigned tiles = (block.size + kTile - 1) / kTile;
  return dim3(tiles, tiles);
}

__global__ void diagonalParent(Matrices m, const Block* blocks, unsigned count, unsigned* children) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  diagonalBlock<<<gridOf(blocks[i]), dim3(kTile, kTile)>>>(m, blocks[i]);
  atomicAdd(children, 1u);
}

/// The whole product, zeros and all.
__global__ void diagonalDense(Matrices m) {
  const unsigned row = blockIdx.y * kTile + threadIdx.y;
  const unsigned column = blockIdx.x * kTile + threadIdx.x;
  if (row >= m.n || column >= m.n) return;
  float sum = 0;
  for (unsigned k = 0; k < m.n; ++k) sum += m.a[std::size_t{row} * m.n + k] * m.b[std::size_t{k} * m.n + column];
  m.c[std::size_t{row} * m.n + column] = sum;
}

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<unsigned>(given.size)),
        all(given.size * given.size),
        found(all),
        expected(all),
        a(all),
        b(all),
        c(all) {
    for (unsigned begin = 0, k = 0; begin < n; begin += blocks.back().size, ++k) {
      blocks.push_back({begin, std::min(n - begin, 1 + k * 37 % kLargestBlock)});
    }
    std::vector<float> left(all, 0.0f);
    std::vector<float> right(all, 0.0f);
    forElements([&](std::size_t at) {
      left[at] = static_cast<float>(at % 7) - 3;
      right[at] = static_cast<float>(at % 5) - 2;
    });
    a.upload(left.data(), all);
    b.upload(right.data(), all);
    multiply(left, right);
  }

  template <class Visit>
  void forElements(Visit visit) const {
    for (const Block& block : blocks) {
      for (std::size_t i = 0; i < block.size; ++i) {
        for (std::size_t j = 0; j < block.size; ++j) visit((block.begin + i) * n + block.begin + j);
      }
    }
  }

  /// The reference knows nothing of blocks: every element of every row, those that are zero left out.
  void multiply(const std::vector<float>& left, const std::vector<float>& right) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        const float factor = left[i * n + k];
        for (std::size_t j = 0; factor != 0 && j < n; ++j) expected[i * n + j] += factor * right[k * n + j];
      }
    }
  }

  double work() const {
    double products = 0;
    for (const Block& block : blocks) products += 1.0 * block.size * block.size * block.size;
    return products;
  }

  Matrices onDevice() const { return {a.get(), b.get(), c.get(), n}; }

  const lab::Options& options;
  unsigned n;
  std::size_t all;
  std::vector<Block> blocks;
  std::vector<float> found;
  std::vector<float> expected;
  lab::DeviceArray<float> a;
  lab::DeviceArray<float> b;
  lab::DeviceArray<float> c;
};

template <class Launch>
void run(Context& c, lab::Measurement& row, const char* kernel, Launch launch) {
  row.kernel = kernel;
  row.block = dim3(kTile, kTile);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.c.clear(); },
      [&] {
        if (c.n > 0) launch();
      },
      [&] { c.c.download(c.found.data(), c.all); });
  row.verified = c.found == c.expected ? lab::Verified::yes : lab::Verified::no;
}

void runDense(Context& c, lab::Measurement& row) {
  row.grid = gridOf({0, c.n});
  run(c, row, "diagonalDense", [&] {
    diagonalDense<<<row.grid, row.block>>>(c.onDevice());
    lab::launched("diagonalDense");
  });
  const double products = static_cast<double>(c.n) * c.n * c.n;
  row.flops = 2 * products;
  char note[100];
  std::snprintf(note, sizeof note, "%.0f products, of which %.0f in %zu blocks", products, c.work(), c.blocks.size());
  row.note = note;
}

void launchBlocks(Context& c, const std::array<cudaStream_t, kStreams>& streams) {
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    diagonalBlock<<<gridOf(c.blocks[k]), dim3(kTile, kTile), 0, streams[k % kStreams]>>>(c.onDevice(), c.blocks[k]);
    lab::launched("diagonalBlock");
  }
}

void runBlocks(Context& c, lab::Measurement& row) {
  run(c, row, "diagonalBlock", [&] { launchBlocks(c, {}); });
  row.flops = 2 * c.work();
}

void runStreams(Context& c, lab::Measurement& row) {
  std::array<cudaStream_t, kStreams> streams;
  for (cudaStream_t& stream : streams) LAB_CHECK(cudaStreamCreate(&stream));
  run(c, row, "diagonalBlock", [&] { launchBlocks(c, streams); });
  for (cudaStream_t stream : streams) LAB_CHECK(cudaStreamDestroy(stream));
  row.flops = 2 * c.work();
}

void runNested(Context& c, lab::Measurement& row) {
  const auto count = static_cast<unsigned>(c.blocks.size());
  lab::DeviceArray<Block> blocks(count);
  lab::DeviceArray<unsigned> children(1);
  blocks.upload(c.blocks.data(), count);
  row.grid = dim3(lab::ceilDiv(count, 32));
  unsigned launched = 0;
  run(c, row, "diagonalParent", [&] {
    children.clear();
    diagonalParent<<<row.grid, 32>>>(c.onDevice(), blocks.get(), count, children.get());
    lab::launched("diagonalParent");
  });
  if (c.n > 0) children.download(&launched, 1);
  if (launched != count) row.verified = lab::Verified::no;
  row.block = dim3(32);
  row.flops = 2 * c.work();
  row.note = std::to_string(launched) + " children for " + std::to_string(count) + " blocks";
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"dense", "alg.mqdb", "The whole product", true, runDense},
    {"by_block", "alg.mqdb_kernels", "A kernel for each block", true, runBlocks},
    {"streams", "alg.mqdb_kernels", "The same in four streams", true, runStreams},
    {"nested", "alg.mqdb_cdp", "The same, launched from the device", true, runNested},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 512;
  options.block = kTile;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 8192 rows");
  lab::mustFit(options.size * options.size, 16, 12);
  lab::Output output("block_diagonal", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("dense");
}
