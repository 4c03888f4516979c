// Programs whose point is what runs at the same time as what. Kernels that may overlap wait for one another, and those
// that may not have some patience in which another could come; "at once" is how many were there at most. What the host
// has to wait for, it lets go itself.
#pragma once

#include <cmath>
#include <thread>

#include "context.hpp"

namespace streams {

// ---------------------------------------------------------------------------------- the default stream and the host

/// Input, output and what is shared, of the programs with two kernels.
struct TwoKernels {
  explicit TwoKernels(std::size_t n) : in(n), out(n), meeting(1), go(1), first(n), second(n), next(n), previous(n) {
    for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<int>(i % 1000);
  }
  void prepare() {
    out.clear();
    meeting.clear();
    go[0] = 0;
    first.clear();
    second.clear();
    next.clear();
    previous.upload(in.get(), in.size());
    LAB_CHECK(cudaDeviceSynchronize());
  }
  int* flag() const { return go.get(); }
  /// How many kernels are inside, as the host sees it; waits until there are `expected`, some seconds at most.
  int inside(int expected) const {
    const volatile int* now = &meeting.get()->inside;
    const lab::WallClock clock;
    while (*now < expected && clock.ms() < 10000) std::this_thread::yield();
    return *now;
  }
  std::size_t bytes() const { return in.size() * sizeof(int); }

  Pinned<int> in, out;
  Pinned<Meeting> meeting;
  Pinned<int> go;
  lab::DeviceArray<int> first, second, next, previous;
};

inline void launchWaiting(const TwoKernels& t, const lab::DeviceArray<int>& values, cudaStream_t stream) {
  waitForHost<<<1, 64, 0, stream>>>(t.meeting.get(), t.flag(), values.get(), static_cast<int>(values.length()));
  lab::launched("waitForHost");
}

inline void describeTwo(lab::Measurement& row) {
  row.kernel = "waitForHost";
  row.grid = dim3(1);
  row.block = dim3(64);
}

/// Blocking copy, kernel, the host's own work, blocking copy back: the host works while the kernel runs, which ends
/// only when it has.
inline void runNullOverlap(Context& c, lab::Measurement& row) {
  describeTwo(row);
  TwoKernels t(c.n);
  int inside = 0;
  lab::timeRounds(
      c.options.rounds, row, [&] { t.prepare(); },
      [&] {
        t.first.upload(t.in.get(), c.n);
        launchWaiting(t, t.first, nullptr);
        inside = t.inside(1);  // the kernel runs, and so does this
        *static_cast<volatile int*>(t.flag()) = 1;
        t.first.download(t.out.get(), c.n);
      },
      [] {});
  judge(row, c.n, [&](std::size_t i) { return t.out[i] == t.in[i] + 1; });
  judgeAtOnce(row, inside + 1, 2);
}

/// The same without work of the host: kernel2, kernel3 and the copies one after the other in the default stream.
inline void runExampleSync(Context& c, lab::Measurement& row) {
  describeTwo(row);
  TwoKernels t(c.n);
  lab::timeRounds(
      c.options.rounds, row,
      [&] {
        t.prepare();
        t.go[0] = 1;
      },
      [&] {
        t.first.upload(t.in.get(), c.n);
        launchWaiting(t, t.first, nullptr);
        launchWaiting(t, t.first, nullptr);
        t.first.download(t.out.get(), c.n);
      },
      [] {});
  judge(row, c.n, [&](std::size_t i) { return t.out[i] == t.in[i] + 2; });
  judgeAtOnce(row, 1, 1);
}

/// Work of the host between the two launches: beside the first kernel, which has the second one behind it.
inline void runExampleCpu(Context& c, lab::Measurement& row) {
  describeTwo(row);
  TwoKernels t(c.n);
  int inside = 0;
  lab::timeRounds(
      c.options.rounds, row, [&] { t.prepare(); },
      [&] {
        t.first.upload(t.in.get(), c.n);
        launchWaiting(t, t.first, nullptr);
        inside = t.inside(1);
        *static_cast<volatile int*>(t.flag()) = 1;
        launchWaiting(t, t.first, nullptr);
        t.first.download(t.out.get(), c.n);
      },
      [] {});
  judge(row, c.n, [&](std::size_t i) { return t.out[i] == t.in[i] + 2; });
  judgeAtOnce(row, inside + 1, 2);
}

/// A copy between two events that take the time.
class TimedCopy {
 public:
  void issue(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    begin_.record(stream);
    LAB_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
    end_.record(stream);
  }
  /// Was one of them under way before the other was done, and the other way round?
  bool met(const TimedCopy& other) const { return isBefore(begin_, other.end_) && isBefore(other.begin_, end_); }

 private:
  static bool isBefore(const Event& first, const Event& second) {
    float milliseconds = 0;
    LAB_CHECK(cudaEventElapsedTime(&milliseconds, first.get(), second.get()));
    return milliseconds > 0;
  }
  Event begin_{cudaEventDefault}, end_{cudaEventDefault};
};

/// Copies both ways until two of them meet: when each is issued is up to the machine, so it may take a few tries.
class CopiesBothWays {
 public:
  CopiesBothWays() { origin_.clear(); }
  bool meet(cudaStream_t in, cudaStream_t out) {
    constexpr int kTries = 2000;
    for (int k = 0; k < kTries; ++k) {
      TimedCopy there, back;
      there.issue(target_.get(), source_.get(), source_.size(), cudaMemcpyHostToDevice, in);
      back.issue(result_.get(), origin_.get(), result_.size(), cudaMemcpyDeviceToHost, out);
      LAB_CHECK(cudaStreamSynchronize(in));
      LAB_CHECK(cudaStreamSynchronize(out));
      if (there.met(back)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 22;
  Pinned<char> source_{kBytes}, result_{kBytes};
  lab::DeviceArray<char> target_{kBytes}, origin_{kBytes};
};

/// Copies both ways, two kernels and the host, each in a stream of its own and with data of its own. Both kernels are
/// inside before the copies and still there when these are done, two copies meet, and the host lets the kernels go.
inline void runExampleAsync(Context& c, lab::Measurement& row) {
  describeTwo(row);
  TwoKernels t(c.n);
  CopiesBothWays others;
  const StreamPool pool(4);
  int atOnce = 0;
  timeIssue(
      c, row, [&] { t.prepare(); },
      [&] {
        launchWaiting(t, t.first, pool[1]);
        launchWaiting(t, t.second, pool[2]);
        atOnce = t.inside(2) + 1;  // and this thread
        LAB_CHECK(cudaMemcpyAsync(t.next.get(), t.in.get(), t.bytes(), cudaMemcpyHostToDevice, pool[0]));
        LAB_CHECK(cudaMemcpyAsync(t.out.get(), t.previous.get(), t.bytes(), cudaMemcpyDeviceToHost, pool[3]));
        atOnce += others.meet(pool[0], pool[3]) ? 2 : 1;
        *static_cast<volatile int*>(t.flag()) = 1;
      });
  judge(row, c.n, [&](std::size_t i) { return t.out[i] == t.in[i]; });
  judgeAtOnce(row, atOnce, 5);
}

// ---------------------------------------------------------------------------------------- kernels in several streams

constexpr int kKernels = 8;

struct Roots {
  explicit Roots(std::size_t length) : n(length), values(kKernels * length), meeting(1) {}
  void launch(int k, cudaStream_t stream, int expected) {
    roots<<<1, 64, 0, stream>>>(values.get() + static_cast<std::size_t>(k) * n, static_cast<int>(n), meeting.get(),
                                expected, expected > kKernels / 2 ? kLong : kShort);
    lab::launched("roots");
  }
  void judgeAll(lab::Measurement& row, int atOnce) {
    row.kernel = "roots";
    row.grid = dim3(1);
    row.block = dim3(64);
    std::vector<float> got(values.length());
    values.download(got.data(), got.size());
    judge(row, got.size(), [&](std::size_t at) {
      const std::size_t i = at % n;
      if (i >= 256) return std::isinf(got[at]);
      const double exact = std::sqrt(std::pow(2.0, static_cast<double>(i)));
      return std::fabs(got[at] - exact) <= 1e-6 * exact;
    });
    judgeAtOnce(row, meeting[0].most, atOnce);
  }
  std::size_t n;
  lab::DeviceArray<float> values;
  Pinned<Meeting> meeting;
};

/// As many values as show where they become infinite; eight arrays of them.
inline std::size_t rootsOf(const Context& c) { return std::min<std::size_t>(c.n, 1 << 14); }

enum class Between { nothing, legacy, perThread };

/// Eight kernels in eight streams; behind each, maybe, a dummy of a default stream. The legacy one keeps them all
/// apart. The thread's own is a ninth stream like the others.
inline void runMultistream(Context& c, lab::Measurement& row, Between between) {
  Roots r(rootsOf(c));
  const StreamPool pool(kKernels);
  const bool isSerial = between == Between::legacy;
  timeIssue(
      c, row, [&] { r.meeting.clear(); },
      [&] {
        for (int k = 0; k < kKernels; ++k) {
          r.launch(k, pool[static_cast<std::size_t>(k)], isSerial ? 2 : kKernels);
          if (between == Between::nothing) continue;
          dummy<<<1, 1, 0, isSerial ? cudaStreamLegacy : cudaStreamPerThread>>>();
          lab::launched("dummy");
        }
      });
  r.judgeAll(row, isSerial ? 1 : kKernels);
}
inline void runMulti(Context& c, lab::Measurement& row) { runMultistream(c, row, Between::nothing); }
inline void runMultiLegacy(Context& c, lab::Measurement& row) { runMultistream(c, row, Between::legacy); }
inline void runMultiOwn(Context& c, lab::Measurement& row) { runMultistream(c, row, Between::perThread); }

/// Eight threads of the host, each with a kernel in "the" default stream: one stream for all, or one for each.
inline void runThreads(Context& c, lab::Measurement& row, bool perThread) {
  Roots r(rootsOf(c));
  timeIssue(
      c, row, [&] { r.meeting.clear(); },
      [&] {
        std::vector<std::thread> threads;
        for (int k = 0; k < kKernels; ++k) {
          threads.emplace_back([&r, k, perThread] {
            const cudaStream_t stream = perThread ? cudaStreamPerThread : cudaStreamLegacy;
            const int expected = perThread ? kKernels : 2;
            roots<<<1, 64, 0, stream>>>(r.values.get() + static_cast<std::size_t>(k) * r.n, static_cast<int>(r.n),
                                        r.meeting.get(), expected, perThread ? kLong : kShort);
            LAB_CHECK(cudaGetLastError());
            LAB_CHECK(cudaStreamSynchronize(stream));
          });
        }
        for (std::thread& thread : threads) thread.join();
        lab::launchCounter() += kKernels;
      });
  r.judgeAll(row, perThread ? kKernels : 1);
}
inline void runThreadsLegacy(Context& c, lab::Measurement& row) { runThreads(c, row, false); }
inline void runThreadsOwn(Context& c, lab::Measurement& row) { runThreads(c, row, true); }

/// One small kernel leaves the device idle; as many as there are streams work at once.
inline void runSmall(Context& c, lab::Measurement& row) {
  Roots r(rootsOf(c));
  const StreamPool pool(4);
  timeIssue(
      c, row, [&] { r.meeting.clear(); },
      [&] {
        for (int k = 0; k < 4; ++k) {
          roots<<<1, 64, 0, pool[static_cast<std::size_t>(k)]>>>(r.values.get(), 0, r.meeting.get(), 4, kLong);
          lab::launched("roots");
        }
      });
  int multiprocessors = 0;
  LAB_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  row.kernel = "roots";
  row.grid = dim3(1);
  row.block = dim3(64);
  row.verified = lab::Verified::yes;
  judgeAtOnce(row, r.meeting[0].most, 4);
  row.note = "blocks at once: 1 in one stream, " + row.result +
             " in four; multiprocessors: " + std::to_string(multiprocessors);
}

// ----------------------------------------------------------------------------------------- the order of what is issued

/// Kernels A B C, P Q R and X Y Z in three streams. Each stream writes the order in which it did them.
inline void runNine(Context& c, lab::Measurement& row) {
  const StreamPool pool(3);
  lab::DeviceArray<long long> order(3);
  long long seen[3] = {};
  row.kernel = "append";
  row.grid = row.block = dim3(1);
  lab::timeRounds(
      c.options.rounds, row, [&] { order.clear(); },
      [&] {
        for (std::size_t s = 0; s < 3; ++s) {
          for (int k = 1; k <= 3; ++k) {
            append<<<1, 1, 0, pool[s]>>>(order.get() + s, static_cast<int>(3 * s) + k);
            lab::launched("append");
          }
        }
      },
      [&] { order.download(seen, 3); });
  judge(row, 3, [&](std::size_t s) { return seen[s] == (s == 0 ? 123 : s == 1 ? 456 : 789); });
  row.result = std::to_string(seen[0]) + " " + std::to_string(seen[1]) + " " + std::to_string(seen[2]);
}

/// An array of streams of which each does a little and is destroyed. A driver may keep what the first ones needed;
/// those that follow must take no more.
inline void runBattery(Context& c, lab::Measurement& row) {
  constexpr std::size_t kStreams = 32;
  lab::DeviceArray<long long> numbers(kStreams);
  std::vector<long long> seen(kStreams);
  std::size_t before = 0, after = 0, total = 0;
  const auto battery = [&] {
    const StreamPool pool(kStreams);
    for (std::size_t s = 0; s < kStreams; ++s) {
      append<<<1, 1, 0, pool[s]>>>(numbers.get() + s, static_cast<int>(s));
      lab::launched("append");
    }
  };
  numbers.clear();
  battery();
  row.kernel = "append";
  row.grid = row.block = dim3(1);
  LAB_CHECK(cudaMemGetInfo(&before, &total));
  lab::timeRounds(
      c.options.rounds, row, [&] { numbers.clear(); }, battery, [&] { numbers.download(seen.data(), kStreams); });
  LAB_CHECK(cudaMemGetInfo(&after, &total));
  judge(row, kStreams, [&](std::size_t s) { return seen[s] == static_cast<long long>(s); });
  expect(row, after >= before, "memory was not given back");
}

/// A kernel that needs a copy of another stream, and one that needs a copy of its own: events are the gates between.
inline void runGates(Context& c, lab::Measurement& row) {
  describeTwo(row);
  TwoKernels t(c.n);
  const StreamPool pool(2);
  Event inputThere;
  bool waited = false;
  timeIssue(
      c, row,
      [&] {
        t.prepare();
        t.go[0] = 1;
      },
      [&] {
        Gate gate(pool[0]);
        LAB_CHECK(cudaMemcpyAsync(t.first.get(), t.in.get(), t.bytes(), cudaMemcpyHostToDevice, pool[0]));
        inputThere.record(pool[0]);
        LAB_CHECK(cudaMemcpyAsync(t.out.get(), t.second.get(), t.bytes(), cudaMemcpyDeviceToHost, pool[1]));
        LAB_CHECK(cudaStreamWaitEvent(pool[1], inputThere.get(), 0));
        launchWaiting(t, t.first, pool[1]);
        LAB_CHECK(cudaMemcpyAsync(t.out.get(), t.first.get(), t.bytes(), cudaMemcpyDeviceToHost, pool[1]));
        waited = cudaStreamQuery(pool[1]) == cudaErrorNotReady && t.meeting[0].inside == 0;
        gate.open();
        pool.synchronize();
      });
  judge(row, c.n, [&](std::size_t i) { return t.out[i] == t.in[i] + 1; });
  expect(row, waited, "the kernel did not wait for the event");
}

/// Copies in and out at the same time, in two streams that one event lets go.
inline void runBothWays(Context& c, lab::Measurement& row) {
  constexpr int kCopies = 200;
  TwoKernels t(c.n);
  const StreamPool pool(3);
  Event start;
  timeIssue(
      c, row, [&] { t.prepare(); },
      [&] {
        Gate gate(pool[2]);
        start.record(pool[2]);
        for (const std::size_t s : {0, 1}) LAB_CHECK(cudaStreamWaitEvent(pool[s], start.get(), 0));
        for (int k = 0; k < kCopies; ++k) {
          LAB_CHECK(cudaMemcpyAsync(t.next.get(), t.in.get(), t.bytes(), cudaMemcpyHostToDevice, pool[0]));
          LAB_CHECK(cudaMemcpyAsync(t.out.get(), t.previous.get(), t.bytes(), cudaMemcpyDeviceToHost, pool[1]));
        }
        gate.open();
        pool.synchronize();
      });
  std::vector<int> copied(c.n);
  t.next.download(copied.data(), c.n);
  judge(row, c.n, [&](std::size_t i) { return copied[i] == t.in[i] && t.out[i] == t.in[i]; });
}

/// A host function behind each chunk adds up what has come back; the last one finds the sum of all.
struct Arrived {
  const float* chunk;
  std::size_t length;
  double* sum;
};

inline void CUDART_CB addChunk(void* data) {
  const Arrived& arrived = *static_cast<Arrived*>(data);
  for (std::size_t i = 0; i < arrived.length; ++i) *arrived.sum += static_cast<double>(arrived.chunk[i]);
}

inline void runCallbacks(Context& c, lab::Measurement& row) {
  const Chunks chunks(c.n, 8);
  const StreamPool pool(1);  // one stream: its host functions run one after the other
  const lab::DeviceArray<float> device(3 * chunks.length());
  std::vector<Arrived> arrived(chunks.count());
  double sum = 0, expected = 0;
  for (std::size_t i = 0; i < c.n; ++i) expected += static_cast<double>(c.sum.a[i] + c.sum.b[i]);
  row.kernel = "sumArrays";
  row.grid = dim3(lab::ceilDiv(chunks.length(), kBlock));
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { sum = 0; },
      [&] {
        for (std::size_t k = 0; k < chunks.count(); ++k) {
          const std::size_t first = chunks.first(k), n = chunks.lengthOf(k);
          float* a = device.get();
          float* b = a + chunks.length();
          float* out = b + chunks.length();
          const std::size_t bytes = n * sizeof(float);
          LAB_CHECK(cudaMemcpyAsync(a, c.sum.a.get() + first, bytes, cudaMemcpyHostToDevice, pool[0]));
          LAB_CHECK(cudaMemcpyAsync(b, c.sum.b.get() + first, bytes, cudaMemcpyHostToDevice, pool[0]));
          sumArrays<<<lab::ceilDiv(n, kBlock), kBlock, 0, pool[0]>>>(a, b, out, static_cast<int>(n), 1);
          lab::launched("sumArrays");
          LAB_CHECK(cudaMemcpyAsync(c.sum.c.get() + first, out, bytes, cudaMemcpyDeviceToHost, pool[0]));
          arrived[k] = {c.sum.c.get() + first, n, &sum};
          LAB_CHECK(cudaLaunchHostFunc(pool[0], addChunk, &arrived[k]));
        }
      },
      [&] { pool.synchronize(); });
  row.verified = lab::Verified::yes;
  expect(row, sum == expected, "the host functions found another sum");
}

}  // namespace streams
