// Programs that cut one task into chunks: vector sum under load, a thousand chunks on one and two streams, a table of a
// function, the Mandelbrot set, an image, and a matrix product by panels.
#pragma once

#include <cmath>

#include "context.hpp"

namespace streams {

template <class T, class Kernel, class IsRight>
void runPipeline(Context& c, lab::Measurement& row, const char* name, const Plan& plan, Arrays<T>& arrays,
                 Kernel kernel, IsRight isRight) {
  Pipeline<T> pipeline(plan, arrays);
  row.kernel = name;
  row.grid = dim3(lab::ceilDiv(pipeline.chunkLength(), kBlock));
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { arrays.c.clear(); }, [&] { pipeline.run(kernel); },
      [&] { pipeline.pool().synchronize(); });
  judge(row, c.n, isRight);
}

inline void runSum(Context& c, lab::Measurement& row, const Plan& plan) {
  runPipeline(
      c, row, "sumArrays", plan, c.sum,
      [](const float* a, const float* b, float* sum, int n, cudaStream_t stream) {
        sumArrays<<<lab::ceilDiv(n, kBlock), kBlock, 0, stream>>>(a, b, sum, n, kRepeats);
        lab::launched("sumArrays");
      },
      [&](std::size_t i) { return c.sum.c[i] == c.sum.a[i] + c.sum.b[i]; });
}

/// The sequential loop.
inline void runSequential(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.sum.c.clear(); },
      [&] {
        volatile float* sum = c.sum.c.get();
        for (int k = 0; k < kRepeats; ++k) {
          for (std::size_t i = 0; i < c.n; ++i) sum[i] = c.sum.a[i] + c.sum.b[i];
        }
      });
  judge(row, c.n, [&](std::size_t i) { return c.sum.c[i] == c.sum.a[i] + c.sum.b[i]; });
}

inline void runSumWhole(Context& c, lab::Measurement& row) { runSum(c, row, {1, 1, Order::depthFirst}); }
inline void runSumDepth(Context& c, lab::Measurement& row) { runSum(c, row, {4, 4, Order::depthFirst}); }
inline void runSumBreadth(Context& c, lab::Measurement& row) { runSum(c, row, {4, 4, Order::breadthFirst}); }
inline void runSumUneven(Context& c, lab::Measurement& row) { runSum(c, row, {3, 10, Order::breadthFirst}); }

// -------------------------------------------------------------------------------------------------- a thousand chunks

inline void runThousand(Context& c, lab::Measurement& row, const Plan& plan) {
  runPipeline(
      c, row, "mix", plan, c.numbers,
      [](const int* a, const int* b, int* out, int n, cudaStream_t stream) {
        mix<<<lab::ceilDiv(n, kBlock), kBlock, 0, stream>>>(a, b, out, n);
        lab::launched("mix");
      },
      [&](std::size_t i) { return c.numbers.c[i] == mixed(c.numbers.a[i], c.numbers.b[i]); });
}
inline void runSingleStream(Context& c, lab::Measurement& row) { runThousand(c, row, {1, 1000, Order::depthFirst}); }
inline void runDoubleStream(Context& c, lab::Measurement& row) { runThousand(c, row, {2, 1000, Order::breadthFirst}); }
/// An odd number of chunks: the last step has one chunk only.
inline void runDoubleOdd(Context& c, lab::Measurement& row) { runThousand(c, row, {2, 999, Order::breadthFirst}); }

// ------------------------------------------------------------------------------------------- chunks without an input
// What only comes back: a table and a picture.

template <class T, class Launch>
void runOutputs(Context& c, lab::Measurement& row, const char* name, Pinned<T>& out, std::size_t streamCount,
                Launch launch) {
  const Chunks chunks(c.n, streamCount == 1 ? 1 : 2 * streamCount);
  const StreamPool pool(streamCount);
  const lab::DeviceArray<T> device(streamCount * chunks.length());
  row.kernel = name;
  row.grid = dim3(lab::ceilDiv(chunks.length(), kBlock));
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { out.clear(); },
      [&] {
        issue(
            {streamCount, chunks.count(), Order::depthFirst}, chunks.count(),
            [&](std::size_t chunk, std::size_t slot) {
              const int n = static_cast<int>(chunks.lengthOf(chunk));
              launch(device.get() + slot * chunks.length(), static_cast<int>(chunks.first(chunk)), n, pool[slot]);
              lab::launched(name);
            },
            [&](std::size_t chunk, std::size_t slot) {
              LAB_CHECK(cudaMemcpyAsync(out.get() + chunks.first(chunk), device.get() + slot * chunks.length(),
                                        chunks.lengthOf(chunk) * sizeof(T), cudaMemcpyDeviceToHost, pool[slot]));
            });
      },
      [&] { pool.synchronize(); });
}

/// Within 1e-5 of the function in doubles, and within 1e-3 near its zeros, where the difference of two nearly equal
/// squares loses its digits and the root makes what is left of them large.
inline void runTable(Context& c, lab::Measurement& row, std::size_t streamCount) {
  Pinned<float> out(c.n);
  const float step = c.n > 1 ? 3.14159265f / static_cast<float>(c.n - 1) : 0;
  runOutputs(c, row, "tabulate", out, streamCount, [&](float* values, int first, int n, cudaStream_t stream) {
    tabulate<<<lab::ceilDiv(n, kBlock), kBlock, 0, stream>>>(values, first, n, step);
  });
  judge(row, c.n, [&](std::size_t i) {
    const double x = static_cast<float>(i) * step;
    const double exact = std::sqrt(std::fabs(std::cos(2 * x)));
    return std::fabs(out[i] - exact) < (exact < 0.05 ? 1e-3 : 1e-5);
  });
}
inline void runTableWhole(Context& c, lab::Measurement& row) { runTable(c, row, 1); }

/// With 2, 4, 8 and 16 streams; the row is that of the fastest.
inline void runTableSwept(Context& c, lab::Measurement& row) {
  lab::Measurement whole;
  runTable(c, whole, 1);
  lab::Measurement best;
  std::size_t streamsOfBest = 0;
  bool right = whole.verified == lab::Verified::yes;
  const int first = lab::launchCounter();
  for (const std::size_t count : {2, 4, 8, 16}) {
    lab::Measurement measured;
    runTable(c, measured, count);
    right = right && measured.verified == lab::Verified::yes;
    if (streamsOfBest == 0 || measured.totalMs < best.totalMs) best = measured, streamsOfBest = count;
  }
  best.name = row.name, best.spec = row.spec, best.title = row.title;
  best.launchFirst = first;
  best.launchCount = lab::launchCounter() - first;
  best.verified = right ? lab::Verified::yes : lab::Verified::no;
  char note[100];
  std::snprintf(note, sizeof note, "best of 2, 4, 8, 16: %zu streams, %+.3f ms against one", streamsOfBest,
                best.totalMs - whole.totalMs);
  best.note = note;
  row = best;
}

inline void runMandelbrot(Context& c, lab::Measurement& row) {
  Pinned<unsigned char> pixels(c.n);
  const int side = std::max(1, static_cast<int>(std::sqrt(static_cast<double>(c.n))));
  runOutputs(c, row, "mandelbrot", pixels, 4, [&](unsigned char* out, int first, int n, cudaStream_t stream) {
    mandelbrot<<<lab::ceilDiv(n, kBlock), kBlock, 0, stream>>>(out, first, n, side);
  });
  judge(row, c.n, [&](std::size_t i) {
    return pixels[i] == escapeSteps(static_cast<int>(i) % side, static_cast<int>(i) / side, side);
  });
}

/// An image of n pixels to grey, in 6 bands on 3 streams. An element has three bytes in and one out.
inline void runImage(Context& c, lab::Measurement& row) {
  Pinned<unsigned char> rgb(3 * c.n), out(c.n);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<unsigned char>(i * 2654435761u >> 7);
  const Plan plan{3, 6, Order::depthFirst};
  const Chunks bands(c.n, plan.chunks);
  const StreamPool pool(plan.streams);
  const lab::DeviceArray<unsigned char> in(3 * plan.streams * bands.length()), result(plan.streams * bands.length());
  row.kernel = "grey";
  row.grid = dim3(lab::ceilDiv(bands.length(), kBlock));
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { out.clear(); },
      [&] {
        issue(plan, bands.count(), [&](std::size_t band, std::size_t slot) {
          const std::size_t first = bands.first(band), count = bands.lengthOf(band);
          unsigned char* from = in.get() + 3 * slot * bands.length();
          unsigned char* to = result.get() + slot * bands.length();
          LAB_CHECK(cudaMemcpyAsync(from, rgb.get() + 3 * first, 3 * count, cudaMemcpyHostToDevice, pool[slot]));
          grey<<<lab::ceilDiv(count, kBlock), kBlock, 0, pool[slot]>>>(from, to, static_cast<int>(count));
          lab::launched("grey");
          LAB_CHECK(cudaMemcpyAsync(out.get() + first, to, count, cudaMemcpyDeviceToHost, pool[slot]));
        });
      },
      [&] { pool.synchronize(); });
  judge(row, c.n, [&](std::size_t i) { return out[i] == luma(rgb.get() + 3 * i); });
}

}  // namespace streams
