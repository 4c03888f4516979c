// The best rungs of the lab against NVIDIA's libraries, on a real GPU: reduction, scan, histogram and sort against CUB,
// transpose against a copy from device to device, matrix product against cuBLAS (fp32, no tensor cores on either side),
// sparse matrix times vector against cuSPARSE.
//
//   nvcc -O3 -std=c++17 -arch=native tests/gpu/best_rungs.cu -lcublas -lcusparse -o best_rungs && ./best_rungs [--json]
//
// Each rung is tried in a few shapes, and the library once; both are timed with events around kRepeats calls that
// follow each other, and the best of kRounds such rows counts. Each line gives the time of one call and the ratio
// library / ours (above 1 we are faster). Results are compared element by element; a wrong one ends with status 1.
#include <cublas_v2.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "../../lab/common/text.hpp"
#include "../../lab/histogram/kernels.cuh"
#include "../../lab/matmul/registers.cuh"
#include "../../lab/reduction/single_pass.cuh"
#include "../../lab/scan/lookback.cuh"
#include "../../lab/transpose/kernels.cuh"
#include "best_rungs.hpp"
#include "best_rungs_sort.cuh"
#include "best_rungs_sparse.cuh"

namespace rungs {

// -------------------------------------------------------------------------------------------------------- reduction

void compareReduction(unsigned n) {
  std::vector<int> host(n);
  for (unsigned i = 0; i < n; ++i) host[i] = static_cast<int>(i * 2654435761U >> 28);
  lab::DeviceArray<int> in(n), out(1);
  in.upload(host.data(), n);
  Cub library([&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, in.get(), out.get(), static_cast<int>(n));
  });
  const double referenceMs = timeOf([&] { library(); });
  const int expected = contents(out, 1)[0];
  lab::DeviceArray<unsigned> finished(1);
  finished.clear();
  for (const unsigned block : {256u, 512u, 1024u}) {
    for (const unsigned waves : {1u, 2u, 4u}) {
      const unsigned grid = processors() * (2048 / block) * waves;
      lab::DeviceArray<int> partials(grid + 1);
      const double ms = timeOf([&] { reduceSinglePass<<<grid, block>>>(in.get(), partials.get(), finished.get(), n); });
      expect(contents(partials, grid + 1)[grid] == expected, "reduction");
      lines.push_back({"reduction", std::to_string(block) + " threads, " + std::to_string(grid) + " blocks", ms,
                       referenceMs, 0.95});
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- scan

struct ScanData {
  lab::DeviceArray<unsigned>& in;
  lab::DeviceArray<unsigned>& out;
  const std::vector<unsigned>& expected;
  unsigned n;
  double referenceMs;
};

template <unsigned Warps, unsigned Quads>
void compareScanShape(const ScanData& data) {
  const unsigned tile = lookbackTile(Warps, Quads);
  lab::DeviceArray<unsigned long long> words(lookbackWords(data.n, tile));
  data.out.fillBytes(0xff);
  const double ms = timeOf([&] {
    LAB_CHECK(cudaMemsetAsync(words.get(), 0, words.length() * sizeof(unsigned long long)));
    scanLookback<Warps, Quads>
        <<<lab::ceilDiv(data.n, tile), 32 * Warps>>>(data.in.get(), data.out.get(), words.get(), data.n);
  });
  expect(contents(data.out, data.n) == data.expected, "scan");
  lines.push_back({"scan", std::to_string(32 * Warps) + " threads, " + std::to_string(4 * Quads) + " elements each", ms,
                   data.referenceMs, 0.95});
}

void compareScan(unsigned n) {
  std::vector<unsigned> host(n);
  for (unsigned i = 0; i < n; ++i) host[i] = i * 2654435761U >> 28;
  lab::DeviceArray<unsigned> in(n), out(n);
  in.upload(host.data(), n);
  Cub library([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, in.get(), out.get(), static_cast<int>(n));
  });
  const double referenceMs = timeOf([&] { library(); });
  const std::vector<unsigned> expected = contents(out, n);
  const ScanData data{in, out, expected, n, referenceMs};
  compareScanShape<4, 4>(data);
  compareScanShape<4, 6>(data);
  compareScanShape<4, 8>(data);
  compareScanShape<4, 10>(data);
  compareScanShape<4, 12>(data);
  compareScanShape<2, 12>(data);
  compareScanShape<6, 8>(data);
  compareScanShape<8, 6>(data);
  compareScanShape<8, 8>(data);
}

// -------------------------------------------------------------------------------------------------------- histogram

void compareHistogram(const std::string& what, const std::vector<unsigned char>& host) {
  const unsigned n = static_cast<unsigned>(host.size());
  lab::DeviceArray<unsigned char> in(n);
  lab::DeviceArray<unsigned> bins(kBins), ours(kBins);
  in.upload(host.data(), n);
  Cub library([&](void* storage, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, in.get(), bins.get(), static_cast<int>(kBins) + 1, 0,
                                               static_cast<int>(kBins), static_cast<int>(n));
  });
  const double referenceMs = timeOf([&] { library(); });
  const std::vector<unsigned> expected = contents(bins, kBins);
  for (const unsigned perProcessor : {2u, 3u, 4u}) {
    const double ms = timeOf([&] {
      LAB_CHECK(cudaMemsetAsync(ours.get(), 0, kBins * sizeof(unsigned)));
      histogramLanes<<<processors() * perProcessor, kLanesBlock>>>(in.get(), n, ours.get());
    });
    expect(contents(ours, kBins) == expected, what);
    lines.push_back({what, std::to_string(perProcessor) + " blocks of 512 on a multiprocessor", ms, referenceMs, 1.0});
  }
}

void compareHistograms(unsigned n) {
  compareHistogram("histogram of a text", lab::makeText(49175956));
  std::vector<unsigned char> bytes(n);
  for (unsigned i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 2654435761U >> 24);
  compareHistogram("histogram of all bytes", bytes);
  compareHistogram("histogram of one byte", std::vector<unsigned char>(n, 'x'));
}

// -------------------------------------------------------------------------------------------------------- transpose

void compareTranspose(int n) {
  const std::size_t elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> host(elements);
  for (std::size_t i = 0; i < elements; ++i) host[i] = static_cast<float>(i * 2654435761U & 0xffffff);
  lab::DeviceArray<float> in(elements), out(elements);
  in.upload(host.data(), elements);
  const double copyMs = timeOf(
      [&] { LAB_CHECK(cudaMemcpyAsync(out.get(), in.get(), elements * sizeof(float), cudaMemcpyDeviceToDevice)); });
  auto check = [&] {
    const std::vector<float> result = contents(out, elements);
    for (std::size_t i = 0; i < elements; i += 977) {
      const std::size_t row = i / static_cast<std::size_t>(n);
      const std::size_t column = i % static_cast<std::size_t>(n);
      if (result[column * static_cast<std::size_t>(n) + row] != host[i]) return expect(false, "transpose");
    }
  };
  const unsigned tiles = lab::ceilDiv(static_cast<std::size_t>(n), 32);
  const unsigned wideTiles = lab::ceilDiv(static_cast<std::size_t>(n), kWideTile);
  const std::string size = ", " + std::to_string(n) + " rows";
  double ms = timeOf([&] { transposeTiled<32, 1><<<dim3(tiles, tiles), dim3(32, 32)>>>(in.get(), out.get(), n); });
  check();
  lines.push_back({"transpose", "padded 32x32" + size, ms, copyMs, 0.9});
  ms = timeOf([&] { transposeFourRows<<<dim3(tiles, tiles), dim3(32, 8)>>>(in.get(), out.get(), n); });
  check();
  lines.push_back({"transpose", "four rows" + size, ms, copyMs, 0.9});
  ms = timeOf([&] { transposeWide<<<dim3(wideTiles, wideTiles), dim3(16, 16)>>>(in.get(), out.get(), n); });
  check();
  lines.push_back({"transpose", "64x64, 16 bytes" + size, ms, copyMs, 0.9});
}

// --------------------------------------------------------------------------------------------------- matrix product

struct ProductData {
  lab::DeviceArray<float>& a;
  lab::DeviceArray<float>& b;
  lab::DeviceArray<float>& c;
  const std::vector<float>& expected;
  int n;
  double referenceMs;
};

template <int Depth, int Stages, int Rows>
void compareProductShape(const ProductData& data) {
  constexpr int kBytes = kRegisterBytes<Depth, Stages>;
  LAB_CHECK(
      cudaFuncSetAttribute(matmulRegisters<Depth, Stages, Rows>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const unsigned tiles = lab::ceilDiv(static_cast<std::size_t>(data.n), kRegisterSide);
  data.c.fillBytes(0xff);
  const double ms = timeOf([&] {
    matmulRegisters<Depth, Stages, Rows><<<dim3(tiles, tiles), RegisterGrid<Rows>::kThreads, kBytes>>>(
        data.a.get(), data.b.get(), data.c.get(), data.n);
  });
  expect(contents(data.c, data.expected.size()) == data.expected, "matrix product");
  lines.push_back(
      {"matrix product",
       std::to_string(Rows) + "x8, depth " + std::to_string(Depth) + ", " + std::to_string(Stages) + " stages", ms,
       data.referenceMs, 0.85});
}

/// Elements are small integers, so that both sides must agree in every bit.
void compareProduct(int n) {
  const std::size_t elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> hostA(elements), hostB(elements);
  for (std::size_t i = 0; i < elements; ++i) hostA[i] = static_cast<float>(i * 2654435761U >> 29 & 7) - 4;
  for (std::size_t i = 0; i < elements; ++i) hostB[i] = static_cast<float>(i * 40503U >> 13 & 7) - 4;
  lab::DeviceArray<float> a(elements), b(elements), c(elements);
  a.upload(hostA.data(), elements);
  b.upload(hostB.data(), elements);
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) lab::usageError("cuBLAS does not start");
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  const float one = 1;
  const float zero = 0;
  // cuBLAS thinks in columns: B^T A^T = (A B)^T is our A B in rows.
  const double referenceMs = timeOf(
      [&] { cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.get(), n, a.get(), n, &zero, c.get(), n); });
  const std::vector<float> expected = contents(c, elements);
  cublasDestroy(handle);
  const ProductData data{a, b, c, expected, n, referenceMs};
  compareProductShape<16, 1, 8>(data);
  compareProductShape<16, 3, 8>(data);
  compareProductShape<16, 4, 8>(data);
  compareProductShape<8, 3, 16>(data);
  compareProductShape<8, 4, 16>(data);
  compareProductShape<16, 1, 16>(data);
  compareProductShape<16, 2, 16>(data);
  compareProductShape<16, 3, 16>(data);
  compareProductShape<16, 4, 16>(data);
  compareProductShape<32, 2, 16>(data);
}

}  // namespace rungs

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !json) lab::usageError("usage: best_rungs [--json]");
  constexpr unsigned kElements = 1u << 26;
  rungs::compareReduction(kElements);
  rungs::compareScan(kElements);
  rungs::compareHistograms(kElements);
  rungs::compareTranspose(8192);
  rungs::compareProduct(4096);
  rungs::compareSort(kElements);
  rungs::compareSparse(1u << 22);
  json ? rungs::printJson() : rungs::printTable();
  return rungs::allRight ? 0 : 1;
}
