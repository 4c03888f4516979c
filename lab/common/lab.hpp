// What every lab program shares: command line, CUDA error checks, timing, and the table or JSON document it prints.
//
// The programs are plain CUDA C++17 and stand alone: this header and a CUDA compiler are all they need. A program
// measures a list of *variants* (a CPU loop or one way to write a kernel), verifies each against its sequential
// reference, and ends with status 0 only if every one was right; 1 if one was wrong, 2 if it was called wrongly.
//
// Launches are counted in the order they are made, so that a profiler's list of launches can be laid beside the
// variants without guessing from kernel names: each variant records its first launch and how many it made.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace lab {

/// Ends the program with status 2 and one line: the caller asked for something that cannot be done.
[[noreturn]] inline void usageError(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(2);
}

/// Ends the program with status 1 and the CUDA error's own words if `status` is not success; but a size that does not
/// fit was a wrong call.
inline void check(cudaError_t status, const char* what, const char* file, int line) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation) usageError("--size: it does not fit in the GPU's memory");
  std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, what, cudaGetErrorString(status), cudaGetErrorName(status));
  std::exit(1);
}
#define LAB_CHECK(call) ::lab::check((call), #call, __FILE__, __LINE__)

inline int& launchCounter() {
  static int launches = 0;
  return launches;
}

/// Call right after every <<<>>>: counts the launch and reports a refused one by the kernel's name.
inline void launched(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::fprintf(stderr, "error: launch of %s: %s\n", kernel, cudaGetErrorString(status));
    std::exit(1);
  }
  ++launchCounter();
}

// ---------------------------------------------------------------------------------------------------- command line

struct Options {
  std::size_t size = 0;
  unsigned block = 0;
  int rounds = 3;
  std::string variant;  // empty: the program's default list; "all": everything it has
  std::string file;     // input, of the programs that take one
  std::string write;    // output, likewise
  bool json = false;
  bool progress = false;
  bool trace = false;
};

inline unsigned long long parseNumber(const char* option, const char* text) {
  char* end = nullptr;
  const bool digits = *text >= '0' && *text <= '9';
  unsigned long long value = digits ? std::strtoull(text, &end, 10) : 0;
  if (digits && value == 2 && end[0] == '^' && end[1] >= '0' && end[1] <= '9') {  // 2^26, as the course writes sizes
    const unsigned long long exponent = std::strtoull(end + 1, &end, 10);
    if (exponent > 40) usageError(std::string(option) + ": " + text + " is too large");
    value = 1ULL << exponent;
  }
  if (!digits || *end != '\0') usageError(std::string(option) + ": '" + text + "' is not a number (try 1000 or 2^20)");
  return value;
}

inline void printHelp(const char* program, const Options& defaults, const char* extra) {
  std::printf(
      "usage: %s [--size N] [--block B] [--variant NAME] [--rounds R] [--json] [--progress]%s\n"
      "  --size N        elements (default %zu; 2^26 is understood)\n"
      "  --block B       threads per block where a variant lets one choose (default %u)\n"
      "  --variant NAME  only this variant; 'all' runs also those left out by default\n"
      "  --rounds R      repetitions, the median is reported (default %d)\n"
      "  --json          print one JSON document instead of the table\n"
      "  --progress      one line on stderr as each variant begins\n",
      program, extra, defaults.size, defaults.block, defaults.rounds);
}

/// Reads the options over the program's defaults. --file, --write and --trace are taken by the programs whose `extra`,
/// a part of the help text, names them.
inline Options parse(int argc, char** argv, Options options, const char* extra = "") {
  std::set_new_handler([] { usageError("--size: it does not fit in this machine's memory"); });
  const Options defaults = options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool forSome = arg == "--file" || arg == "--write" || arg == "--trace";
    if (forSome && std::strstr(extra, arg.c_str()) == nullptr) usageError("this program has no option " + arg);
    auto value = [&]() -> const char* {
      if (i + 1 >= argc) usageError(arg + " needs a value");
      return argv[++i];
    };
    if (arg == "--size") {
      options.size = parseNumber("--size", value());
    } else if (arg == "--block") {
      const unsigned long long block = parseNumber("--block", value());
      if (block < 1 || block > 1024) usageError("--block: a block has 1 to 1024 threads");
      options.block = static_cast<unsigned>(block);
    } else if (arg == "--rounds") {
      const unsigned long long rounds = parseNumber("--rounds", value());
      if (rounds < 1 || rounds > 1000) usageError("--rounds: between 1 and 1000");
      options.rounds = static_cast<int>(rounds);
    } else if (arg == "--variant") {
      options.variant = value();
    } else if (arg == "--file") {
      options.file = value();
    } else if (arg == "--write") {
      options.write = value();
    } else if (arg == "--json") {
      options.json = true;
    } else if (arg == "--progress") {
      options.progress = true;
    } else if (arg == "--trace") {
      options.trace = true;
    } else if (arg == "--help" || arg == "-h") {
      printHelp(argv[0], defaults, extra);
      std::exit(0);
    } else {
      usageError("unknown option '" + arg + "' (see --help)");
    }
  }
  return options;
}

// ---------------------------------------------------------------------------------------------------- measurements

enum class Verified { yes, no, notApplicable };

/// One row of a program's table. Times are medians over the rounds, in milliseconds.
struct Measurement {
  std::string name;           // as --variant takes it
  std::string spec;           // the row of the specification that defines it, e.g. red.neighbored
  std::string title;          // for people
  std::string kernel;         // the function launched; empty on the CPU
  dim3 grid = dim3(0, 0, 0);  // zero for the CPU
  dim3 block = dim3(0, 0, 0);
  int launchFirst = 0;
  int launchCount = 0;
  double kernelMs = 0;               // between two CUDA events around the launches
  double totalMs = 0;                // wall clock around launches, copy back and host part
  long long beginNs = 0, endNs = 0;  // of the last round, on the steady clock, for who lays a timeline beside it
  double bytes = 0;                  // moved by the algorithm, for the bandwidth column; 0 if meaningless
  double flops = 0;
  std::string result;
  Verified verified = Verified::no;
  std::string note;  // why it was skipped, or what the reader should know
};

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class WallClock {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  long long startNs() const { return std::chrono::nanoseconds(start_.time_since_epoch()).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Runs a variant on the device `rounds` times: `prepare` (not timed), `deliver` (copies to the device, inside the wall
/// time only), `launch` (between events), `finish` (copy back and host part, inside the wall time only).
template <class Prepare, class Deliver, class Launch, class Finish>
void timeRounds(int rounds, Measurement& row, Prepare prepare, Deliver deliver, Launch launch, Finish finish) {
  cudaEvent_t begin, end;
  LAB_CHECK(cudaEventCreate(&begin));
  LAB_CHECK(cudaEventCreate(&end));
  std::vector<double> kernel, total;
  row.launchFirst = launchCounter();
  for (int round = 0; round < rounds; ++round) {
    prepare();
    LAB_CHECK(cudaDeviceSynchronize());
    const WallClock clock;
    deliver();
    LAB_CHECK(cudaEventRecord(begin, 0));
    launch();
    LAB_CHECK(cudaEventRecord(end, 0));
    LAB_CHECK(cudaEventSynchronize(end));
    finish();
    total.push_back(clock.ms());
    row.beginNs = clock.startNs();
    row.endNs = row.beginNs + static_cast<long long>(total.back() * 1e6);
    float elapsed = 0;
    LAB_CHECK(cudaEventElapsedTime(&elapsed, begin, end));
    kernel.push_back(elapsed);
  }
  row.launchCount = launchCounter() - row.launchFirst;
  row.kernelMs = median(kernel);
  row.totalMs = median(total);
  LAB_CHECK(cudaEventDestroy(begin));
  LAB_CHECK(cudaEventDestroy(end));
}

/// The same without copies to the device.
template <class Prepare, class Launch, class Finish>
void timeRounds(int rounds, Measurement& row, Prepare prepare, Launch launch, Finish finish) {
  timeRounds(rounds, row, prepare, [] {}, launch, finish);
}

/// The same for a CPU variant.
template <class Prepare, class Run>
void timeCpuRounds(int rounds, Measurement& row, Prepare prepare, Run run) {
  std::vector<double> total;
  for (int round = 0; round < rounds; ++round) {
    prepare();
    const WallClock clock;
    run();
    total.push_back(clock.ms());
  }
  row.launchFirst = launchCounter();
  row.kernelMs = row.totalMs = median(total);
}

// ---------------------------------------------------------------------------------------------------- device memory

/// A device array that frees itself. A length of zero still has an address, since cudaMalloc(0) gives none.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t length) : length_(length) {
    LAB_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(length, 1) * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::size_t length() const { return length_; }
  void upload(const T* host, std::size_t count) {
    if (count != 0) LAB_CHECK(cudaMemcpy(data_, host, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  void download(T* host, std::size_t count) const {
    if (count != 0) LAB_CHECK(cudaMemcpy(host, data_, count * sizeof(T), cudaMemcpyDeviceToHost));
  }
  void clear() { fillBytes(0); }
  void fillBytes(int byte) {
    if (length_ != 0) LAB_CHECK(cudaMemset(data_, byte, length_ * sizeof(T)));
  }

 private:
  T* data_ = nullptr;
  std::size_t length_;
};

/// Ends the program at once if `count` elements of so many bytes each do not fit here or on the GPU, rather than after
/// minutes of filling what does. It asks for all of the room and gives it back.
inline void mustFit(std::size_t count, std::size_t hostBytesEach, std::size_t deviceBytesEach) {
  if (count > ~std::size_t{0} / std::max(hostBytesEach, deviceBytesEach)) usageError("--size: it is too large");
  {
    const DeviceArray<char> room(count * deviceBytesEach);
  }
  void* volatile room = std::malloc(count * hostBytesEach);  // volatile: a compiler may leave out what nobody looks at
  if (room == nullptr && count != 0) usageError("--size: it does not fit in this machine's memory");
  std::free(room);
}

/// Blocks (or groups of `per` elements) that cover `n`.
inline unsigned ceilDiv(std::size_t n, std::size_t per) { return static_cast<unsigned>((n + per - 1) / per); }

}  // namespace lab
