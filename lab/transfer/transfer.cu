// The way between host and device, by kind of the host's memory: pageable, pinned, pinned and write-combined, and
// mapped, where kernels go themselves. Every variant has a kernel add one to the numbers, and the host gets them back;
// the bandwidth is that of all that went over the link, there and back.
//
//   transfer [--size N] [--variant NAME] [--rounds R] [--json]        N: numbers
#include <numeric>

#include "../common/output.hpp"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 28;
constexpr unsigned kBlock = 256;

__global__ void transferAddOne(int* numbers, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] += 1;
}

/// Memory of the host: of C++, or pinned with these flags.
class HostArray {
 public:
  HostArray(std::size_t length, bool isPinned, unsigned flags) : isPinned_(isPinned) {
    const std::size_t bytes = std::max<std::size_t>(length, 1) * sizeof(int);
    if (isPinned) {
      LAB_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&data_), bytes, flags));
    } else {
      data_ = static_cast<int*>(std::malloc(bytes));
      if (data_ == nullptr) lab::usageError("--size: it does not fit in this machine's memory");
    }
  }
  ~HostArray() {
    if (isPinned_) {
      cudaFreeHost(data_);
    } else {
      std::free(data_);
    }
  }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;
  int* get() const { return data_; }

  /// Is it what CUDA says that it is? Pageable memory is the host's alone.
  bool isKnown() const {
    cudaPointerAttributes attributes;
    LAB_CHECK(cudaPointerGetAttributes(&attributes, data_));
    return attributes.type == (isPinned_ ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered);
  }

 private:
  bool isPinned_;
  int* data_ = nullptr;
};

struct Context {
  explicit Context(const lab::Options& given) : options(given), n(given.size) {}
  const lab::Options& options;
  std::size_t n;
};

void addOne(int* numbers, std::size_t n) {
  if (n == 0) return;
  transferAddOne<<<lab::ceilDiv(n, kBlock), kBlock>>>(numbers, static_cast<unsigned>(n));
  lab::launched("transferAddOne");
}

void prepare(Context& c, lab::Measurement& row, int* numbers) {
  row.kernel = "transferAddOne";
  row.grid = dim3(lab::ceilDiv(c.n, kBlock));
  row.block = dim3(kBlock);
  row.bytes = 2.0 * static_cast<double>(c.n * sizeof(int));
  std::iota(numbers, numbers + c.n, 0);
}

void judge(Context& c, lab::Measurement& row, const HostArray& host, int rounds) {
  bool right = host.isKnown();
  for (std::size_t i = 0; i < c.n; ++i) right = right && host.get()[i] == static_cast<int>(i) + rounds;
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

/// There, a kernel, and back. The time is that of all three, so it is taken around the copies.
template <bool IsPinned, unsigned Flags>
void runCopies(Context& c, lab::Measurement& row) {
  const HostArray host(c.n, IsPinned, Flags);
  lab::DeviceArray<int> device(c.n);
  prepare(c, row, host.get());
  const std::size_t bytes = c.n * sizeof(int);
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        LAB_CHECK(cudaMemcpyAsync(device.get(), host.get(), bytes, cudaMemcpyHostToDevice, nullptr));
        addOne(device.get(), c.n);
        LAB_CHECK(cudaMemcpyAsync(host.get(), device.get(), bytes, cudaMemcpyDeviceToHost, nullptr));
      },
      [] {});
  judge(c, row, host, c.options.rounds);
}

/// The kernel reads and writes the host's memory, and nothing is copied.
void runMapped(Context& c, lab::Measurement& row) {
  const HostArray host(c.n, true, cudaHostAllocMapped | cudaHostAllocPortable);
  int* mapped = nullptr;
  LAB_CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&mapped), host.get(), 0));
  prepare(c, row, host.get());
  lab::timeRounds(c.options.rounds, row, [] {}, [&] { addOne(mapped, c.n); }, [] {});
  judge(c, row, host, c.options.rounds);
}

/// The same bytes from one place of the device's memory to another.
void runOnDevice(Context& c, lab::Measurement& row) {
  const HostArray host(c.n, true, 0);
  lab::DeviceArray<int> from(c.n), to(c.n);
  prepare(c, row, host.get());
  from.upload(host.get(), c.n);
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] { LAB_CHECK(cudaMemcpyAsync(to.get(), from.get(), c.n * sizeof(int), cudaMemcpyDeviceToDevice, nullptr)); },
      [] {});
  std::fill(host.get(), host.get() + c.n, -1);
  to.download(host.get(), c.n);
  row.kernel.clear();
  row.grid = row.block = dim3(0, 0, 0);
  judge(c, row, host, 0);
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"pageable", "rt.mk.pageable", "Pageable memory, copied", true, runCopies<false, 0>},
    {"pinned", "rt.mk.pinned", "Pinned memory, copied", true, runCopies<true, cudaHostAllocDefault>},
    {"write_combined", "rt.cudaHostAlloc", "Pinned and write-combined, copied", true,
     runCopies<true, cudaHostAllocWriteCombined>},
    {"mapped", "rt.mk.zero_copy", "Pinned and mapped, not copied", true, runMapped},
    {"on_device", "mem.transfer_bottleneck", "From the device's memory to the device's", true, runOnDevice},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 22;
  options.block = kBlock;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^28 numbers");
  lab::mustFit(options.size, sizeof(int), 2 * sizeof(int));
  lab::Output output("transfer", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("pageable");
}
