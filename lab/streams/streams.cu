// Programs of several streams: what they compute is verified, and what overlaps is shown by programs that end only if
// it does (overlapping.hpp) or recorded as it happened: `ordito lab run streams` draws every operation on a line of
// time, `--plot F.svg` as a picture. --trace prints what a pipeline of chunks can gain at most.
//
//   streams [--size N] [--variant NAME] [--rounds R] [--json] [--trace]
#include "chunked.hpp"
#include "devices.hpp"
#include "overlapping.hpp"

namespace {

using namespace streams;

const std::vector<lab::Variant<Context>> kVariants = {
    {"seq", "sx.sumarrays", "Sum of two vectors, again and again (CPU)", true, runSequential},
    {"sum", "sx.sumarrays", "One kernel", true, runSumWhole},
    {"sum_depth", "sx.sumarrays_streams", "4 streams, chunk by chunk", true, runSumDepth},
    {"sum_breadth", "st.schema2", "4 streams, step by step", true, runSumBreadth},
    {"sum_uneven", "sx.chunk", "10 chunks on 3 streams", true, runSumUneven},
    {"single_stream", "sx.single_stream", "1000 chunks on one stream", false, runSingleStream},
    {"double_stream", "sx.double_stream", "1000 chunks on two streams", false, runDoubleStream},
    {"double_odd", "sx.double_stream", "999 chunks on two streams", false, runDoubleOdd},
    {"table", "sx.tabular", "Table of a function, one stream", true, runTableWhole},
    {"table_streams", "sx.tabular", "The same on 2 to 16 streams", true, runTableSwept},
    {"mandelbrot", "sx.chunk", "Mandelbrot set, 8 bands on 4 streams", true, runMandelbrot},
    {"image", "sx.chunk", "Image to grey, 6 bands on 3 streams", true, runImage},
    {"null_overlap", "sx.null_overlap", "Default stream, host works meanwhile", true, runNullOverlap},
    {"example_sync", "sx.example_sync", "Copies and two kernels, default stream", true, runExampleSync},
    {"example_cpu", "sx.example_cpu", "The same with work of the host", true, runExampleCpu},
    {"example_async", "sx.example_async", "The same on four streams", true, runExampleAsync},
    {"multistream", "sx.multistream", "8 kernels in 8 streams", true, runMulti},
    {"multi_legacy", "sx.multistream", "Dummies of the legacy stream between", true, runMultiLegacy},
    {"multi_own", "sx.multistream", "Dummies of the thread's own stream", true, runMultiOwn},
    {"threads", "sx.pthread", "8 threads, legacy default stream", true, runThreadsLegacy},
    {"threads_own", "sx.pthread", "8 threads, a default stream for each", true, runThreadsOwn},
    {"small", "st.occupancy_small", "Small kernels on 4 streams", true, runSmall},
    {"nine", "sx.gmu_program", "Nine kernels in three streams", true, runNine},
    {"battery", "sx.stream_battery", "32 streams in an array", true, runBattery},
    {"gates", "sx.event_cross", "Events as gates between streams", true, runGates},
    {"both_ways", "st.concurrent_copies", "Copies in and out at the same time", true, runBothWays},
    {"devices", "st.concurrency_kinds", "A part for each device", true, runDevices},
    {"callbacks", "st.host_fn", "A host function behind each chunk", true, runCallbacks},
};

/// When each step of each chunk may begin if a step takes a unit and every engine does one at a time: behind the
/// chunk's step before, and behind what its engine has begun. Steps are issued chunk by chunk.
int unitsOf(int chunks, const std::vector<int>& engineOfStep) {
  std::vector<int> freeAt(engineOfStep.size(), 0);
  std::vector<int> chunkAt(static_cast<std::size_t>(chunks), 0);
  for (std::size_t step = 0; step < engineOfStep.size(); ++step) {  // breadth first: an engine is never held up
    for (int& at : chunkAt) {
      int& engine = freeAt[static_cast<std::size_t>(engineOfStep[step])];
      at = engine = std::max(at, engine) + 1;
    }
  }
  return *std::max_element(chunkAt.begin(), chunkAt.end());
}

/// How much can overlap: steps of which all share one engine, or have one each.
void trace() {
  struct Way {
    const char* name;
    std::vector<int> engines;
  };
  const Way ways[] = {{"kernel and copy back, one engine", {0, 0}},       {"kernel, copy back: 2-way", {0, 1}},
                      {"copy, kernel, copy back, one engine", {0, 0, 0}}, {"copy, kernel, copy back: 3-way", {0, 1, 2}},
                      {"and the host, one engine", {0, 0, 0, 0}},         {"and the host: 4-way", {0, 1, 2, 3}}};
  std::printf("units of time by chunks, when each step takes one\n%-38s", "");
  for (const int chunks : {1, 2, 4, 16, 1000}) std::printf("%7d", chunks);
  std::printf("\n");
  for (const Way& way : ways) {
    std::printf("%-38s", way.name);
    for (const int chunks : {1, 2, 4, 16, 1000}) std::printf("%7d", unitsOf(chunks, way.engines));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 16;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) {
    trace();
    return 0;
  }
  if (options.size > (std::size_t{1} << 28)) lab::usageError("--size: at most 2^28 elements");
  lab::mustFit(options.size, 64, 64);
  lab::Output output("streams", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  cudaDeviceProp device;
  LAB_CHECK(cudaGetDeviceProperties(&device, 0));
  output.note("compute capability " + std::to_string(device.major) + "." + std::to_string(device.minor) + ", " +
              std::to_string(device.multiProcessorCount) + " multiprocessors, " +
              std::to_string(device.asyncEngineCount) + " engines for copies");
  return output.finish("seq");
}
