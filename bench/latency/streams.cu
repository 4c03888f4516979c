// What a small copy on the legacy default stream and a device's synchronisation cost beside thousands of idle streams
// that the legacy stream is ordered with: nothing, if only streams with something to do are looked at.
#include <chrono>
#include <cstdio>
#include <vector>

template <class Call>
double microseconds(int times, Call call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / times;
}

int main() {
  int* device = nullptr;
  int host = 1;
  cudaMalloc(&device, sizeof host);
  for (int count : {0, 5000}) {
    std::vector<cudaStream_t> streams(count);
    for (auto& stream : streams) cudaStreamCreate(&stream);
    const double copy = microseconds(1000, [&] { cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice); });
    const double synchronize = microseconds(100, [] { cudaDeviceSynchronize(); });
    std::printf("%d streams: a copy %.2f us, a synchronisation %.2f us; ", count, copy, synchronize);
    for (auto& stream : streams) cudaStreamDestroy(stream);
  }
  std::printf("\n");
}
