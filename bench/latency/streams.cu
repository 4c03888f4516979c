// What a small copy on the legacy default stream, a wait for it, a launch with its wait and a device's synchronisation
// cost beside thousands of idle streams that the legacy stream is ordered with: nothing, if only streams with something
// to do are looked at.
#include <chrono>
#include <cstdio>
#include <vector>

template <class Call>
double microseconds(int times, Call call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / times;
}

__global__ void one(int* out) { *out = 1; }

int main() {
  int* device = nullptr;
  int host = 1;
  cudaMalloc(&device, sizeof host);
  for (int count : {0, 5000}) {
    std::vector<cudaStream_t> streams(count);
    for (auto& stream : streams) cudaStreamCreate(&stream);
    const double copy = microseconds(1000, [&] { cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice); });
    const double synchronize = microseconds(100, [] { cudaDeviceSynchronize(); });
    const double wait = microseconds(100, [] { cudaStreamSynchronize(nullptr); });
    const auto launch = [&] { one<<<1, 1>>>(device), cudaStreamSynchronize(nullptr); };
    launch();  // compiles
    std::printf("%d streams: a copy %.2f us, a synchronisation %.2f us, a wait for the legacy stream %.2f us, ", count,
                copy, synchronize, wait);
    std::printf("a launch and a wait %.2f us; ", microseconds(1000, launch));
    for (auto& stream : streams) cudaStreamDestroy(stream);
  }
  std::printf("\n");
}
