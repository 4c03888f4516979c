// Textures and surfaces: what is written to them and read from them, in one launch and in several, and memory that is
// not there, or that nobody has written. A case that begins with "ok" is right.
#include "cases.cuh"

constexpr int kN = 64, kWidth = 16, kHeight = 4;

// Over plain memory.

template <class T>
cudaTextureObject_t textureOver(T* memory, size_t count) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<T>();
  resource.res.linear.sizeInBytes = count * sizeof(T);
  cudaTextureDesc how{};
  cudaTextureObject_t made;
  cudaCreateTextureObject(&made, &resource, &how, nullptr);
  return made;
}

__global__ void ownWrite(cudaTextureObject_t t, int* memory, int* out) {
  memory[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}
__global__ void behindBarrier(cudaTextureObject_t t, int* memory, int* out) {
  memory[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tex1Dfetch<int>(t, kN - 1 - threadIdx.x);
}
__global__ void countAndFetch(cudaTextureObject_t t, int* memory, int* out) {
  atomicAdd(&memory[threadIdx.x % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}
/// `steps` times each thread takes the mean of its neighbours, in place.
__global__ void smooth(cudaTextureObject_t t, int* memory, int steps) {
  for (int k = 0; k < steps; ++k) {
    const int mean = (tex1Dfetch<int>(t, threadIdx.x) + tex1Dfetch<int>(t, threadIdx.x + 1)) / 2;
    __syncthreads();
    memory[threadIdx.x] = mean;
    __syncthreads();
  }
}
__global__ void pointerBehindBarrier(int* memory, int* out) {
  memory[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = memory[kN - 1 - threadIdx.x];
}
__global__ void write(int* memory) { memory[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void fetch(cudaTextureObject_t t, int* out, int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tex1Dfetch<int>(t, i + shift);
}
/// Each block reads its part, and the first element of the next.
__global__ void inPlace(cudaTextureObject_t t, int* memory, int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  memory[i] = tex1Dfetch<int>(t, i + shift) + 1;
}

void linear(void (*launch)(cudaTextureObject_t, int*, int*)) {
  int *memory = zeros(kN + 1), *out = zeros(kN);
  cudaTextureObject_t t = textureOver(memory, kN + 1);
  launch(t, memory, out);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(t);
  cudaFree(memory), cudaFree(out);
}

// Over arrays.

struct Image {
  cudaArray_t array;
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface;
  explicit Image(cudaTextureFilterMode filter = cudaFilterModePoint, bool isWritten = true) {
    const auto format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore);
    const float host[kN] = {};
    if (isWritten)
      cudaMemcpy2DToArray(array, 0, 0, host, kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                          cudaMemcpyHostToDevice);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    how.filterMode = filter;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
  }
  ~Image() {
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
};

/// A thread for each texel.
__device__ int x() { return threadIdx.x % kWidth; }
__device__ int y() { return threadIdx.x / kWidth; }

__global__ void surfaceAgain(cudaSurfaceObject_t s, float* out) {
  surf2Dwrite(1.0f, s, x() * 4, y());
  out[threadIdx.x] = surf2Dread<float>(s, x() * 4, y());
}
__global__ void surfaceThenTexture(cudaSurfaceObject_t s, cudaTextureObject_t t, float* out) {
  surf2Dwrite(1.0f, s, x() * 4, y());
  __syncthreads();
  out[threadIdx.x] = tex2D<float>(t, x() + 0.5f, y() + 0.5f);
}
/// Row 0 is written, row 1 is read: a filter between the two reads both.
__global__ void nextRow(cudaSurfaceObject_t s, cudaTextureObject_t t, float* out, float row) {
  if (y() == 0) surf2Dwrite(1.0f, s, x() * 4, 0);
  __syncthreads();
  out[threadIdx.x] = tex2D<float>(t, x() + 0.5f, row);
}
__global__ void addOne(cudaSurfaceObject_t s) { surf2Dwrite(surf2Dread<float>(s, x() * 4, y()) + 1, s, x() * 4, y()); }
__global__ void copyImage(cudaTextureObject_t from, cudaSurfaceObject_t to) {
  surf2Dwrite(tex2D<float>(from, x() + 0.5f, y() + 0.5f), to, x() * 4, y());
}
__global__ void flip(cudaSurfaceObject_t s) {
  const float mine = surf2Dread<float>(s, x() * 4, y());
  surf2Dwrite(mine, s, (kWidth - 1 - x()) * 4, y());
}
__global__ void flipInTurn(cudaSurfaceObject_t s) {
  const float mine = surf2Dread<float>(s, x() * 4, y());
  __syncthreads();
  surf2Dwrite(mine, s, (kWidth - 1 - x()) * 4, y());
}
/// All blocks write the same texels; or one of them does.
__global__ void paint(cudaSurfaceObject_t s, int blocks) {
  if (blockIdx.x < blocks) surf2Dwrite(float(blockIdx.x), s, x() * 4, y());
}
__global__ void paintRows(cudaSurfaceObject_t s, int rows) {
  if (y() < rows) surf2Dwrite(1.0f, s, x() * 4, y());
}
__global__ void sum(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = 2 * tex2D<float>(t, x() + 0.5f, y() + 0.5f);
}
__global__ void sumOfSurface(cudaSurfaceObject_t s, float* out) {
  out[threadIdx.x] = 2 * surf2Dread<float>(s, x() * 4, y());
}
__global__ void outside(cudaSurfaceObject_t s, float* out) {
  out[threadIdx.x] = surf2Dread<float>(s, x() * 4, y() + 2, cudaBoundaryModeZero);
}

__global__ void below(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, x() * 4, y() + 1); }
__global__ void left(cudaSurfaceObject_t s, float* out) { out[threadIdx.x] = surf2Dread<float>(s, (x() - 1) * 4, y()); }
/// x counts bytes.
__global__ void texelsForBytes(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, x(), y()); }
__global__ void clamped(cudaSurfaceObject_t s, float* out) {
  out[threadIdx.x] = surf2Dread<float>(s, (x() - 1) * 4, y() + 1, cudaBoundaryModeClamp);
}
__global__ void whole(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, x() * 4, y()); }

template <class Launch>
void image(Launch launch, cudaTextureFilterMode filter = cudaFilterModePoint, bool isWritten = true) {
  Image i(filter, isWritten);
  float* out = zeros<float>(kN);
  launch(i, out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

void inStreams(bool waits) {
  Image i;
  float* out = zeros<float>(kN);
  float* pinned;
  cudaMallocHost(&pinned, kN * sizeof(float));
  std::memset(pinned, 0, kN * sizeof(float));
  cudaDeviceSynchronize();
  cudaStream_t one, two;
  cudaStreamCreate(&one), cudaStreamCreate(&two);
  cudaEvent_t done;
  cudaEventCreate(&done);
  sum<<<1, kN, 0, one>>>(i.texture, out);
  cudaEventRecord(done, one);
  if (waits) cudaStreamWaitEvent(two, done);
  cudaMemcpy2DToArrayAsync(i.array, 0, 0, pinned, kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice, two);
  cudaDeviceSynchronize();
  cudaEventDestroy(done);
  cudaStreamDestroy(one), cudaStreamDestroy(two);
  cudaFreeHost(pinned), cudaFree(out);
}

const Case kCases[] = {
    {"own_write", [] { linear([](auto t, int* m, int* out) { ownWrite<<<1, kN>>>(t, m, out); }); }},
    {"behind_barrier", [] { linear([](auto t, int* m, int* out) { behindBarrier<<<1, kN>>>(t, m, out); }); }},
    {"counted", [] { linear([](auto t, int* m, int* out) { countAndFetch<<<1, kN>>>(t, m, out); }); }},
    {"two_steps", [] { linear([](auto t, int* m, int*) { smooth<<<1, kN>>>(t, m, 2); }); }},
    {"ok_one_step", [] { linear([](auto t, int* m, int*) { smooth<<<1, kN>>>(t, m, 1); }); }},
    {"ok_pointer", [] { linear([](auto, int* m, int* out) { pointerBehindBarrier<<<1, kN>>>(m, out); }); }},
    {"ok_next_launch",
     [] {
       linear([](auto t, int* m, int* out) {
         write<<<2, kN / 2>>>(m);
         fetch<<<2, kN / 2>>>(t, out, 0);
       });
     }},
    {"ok_beyond", [] { linear([](auto t, int*, int* out) { fetch<<<2, kN / 2>>>(t, out, 20); }); }},
    {"next_block", [] { linear([](auto t, int* m, int*) { inPlace<<<2, kN / 2>>>(t, m, 1); }); }},
    {"ok_own_block", [] { linear([](auto t, int* m, int*) { inPlace<<<2, kN / 2>>>(t, m, 0); }); }},
    {"freed",
     [] {
       int *memory = zeros(kN), *out = zeros(kN);
       cudaTextureObject_t t = textureOver(memory, kN);
       cudaFree(memory);
       fetch<<<1, kN>>>(t, out, 0);
       cudaDeviceSynchronize();
       cudaDestroyTextureObject(t);
       cudaFree(out);
     }},
    {"shrunk",
     [] {
       int *memory = zeros(kN), *out = zeros(kN);
       cudaTextureObject_t t = textureOver(memory, kN + 8);
       fetch<<<1, kN>>>(t, out, 8);
       cudaDeviceSynchronize();
       cudaDestroyTextureObject(t);
       cudaFree(memory), cudaFree(out);
     }},
    {"surface_again", [] { image([](Image& i, float* out) { surfaceAgain<<<1, kN>>>(i.surface, out); }); }},
    {"surface_then_texture",
     [] { image([](Image& i, float* out) { surfaceThenTexture<<<1, kN>>>(i.surface, i.texture, out); }); }},
    {"filter",
     [] {
       image([](Image& i, float* out) { nextRow<<<1, kN>>>(i.surface, i.texture, out, 1.25f); }, cudaFilterModeLinear);
     }},
    {"ok_filter",
     [] {
       image([](Image& i, float* out) { nextRow<<<1, kN>>>(i.surface, i.texture, out, 2.25f); }, cudaFilterModeLinear);
     }},
    {"ok_read_first", [] { image([](Image& i, float*) { addOne<<<1, kN>>>(i.surface); }); }},
    {"ok_two_images",
     [] {
       Image other;
       image([&](Image& i, float*) { copyImage<<<1, kN>>>(i.texture, other.surface); });
     }},
    {"flip", [] { image([](Image& i, float*) { flip<<<1, kN>>>(i.surface); }); }},
    {"ok_flip", [] { image([](Image& i, float*) { flipInTurn<<<1, kN>>>(i.surface); }); }},
    {"painters", [] { image([](Image& i, float*) { paint<<<2, kN>>>(i.surface, 2); }); }},
    {"ok_painter", [] { image([](Image& i, float*) { paint<<<2, kN>>>(i.surface, 1); }); }},
    {"unwritten",
     [] { image([](Image& i, float* out) { sum<<<1, kN>>>(i.texture, out); }, cudaFilterModePoint, false); }},
    {"unwritten_surface",
     [] { image([](Image& i, float* out) { sumOfSurface<<<1, kN>>>(i.surface, out); }, cudaFilterModePoint, false); }},
    {"unwritten_row",
     [] {
       image(
           [](Image& i, float* out) {
             paintRows<<<1, kN>>>(i.surface, kHeight - 1);
             sum<<<1, kN>>>(i.texture, out);
           },
           cudaFilterModePoint, false);
     }},
    {"ok_painted",
     [] {
       image(
           [](Image& i, float* out) {
             paintRows<<<1, kN>>>(i.surface, kHeight);
             sum<<<1, kN>>>(i.texture, out);
           },
           cudaFilterModePoint, false);
     }},
    {"ok_outside", [] { image([](Image& i, float* out) { outside<<<1, kN>>>(i.surface, out); }); }},
    {"surface_below", [] { image([](Image& i, float*) { below<<<1, kN>>>(i.surface); }); }},
    {"surface_left", [] { image([](Image& i, float* out) { left<<<1, kN>>>(i.surface, out); }); }},
    {"surface_texels_for_bytes", [] { image([](Image& i, float*) { texelsForBytes<<<1, kN>>>(i.surface); }); }},
    {"ok_clamped", [] { image([](Image& i, float* out) { clamped<<<1, kN>>>(i.surface, out); }); }},
    {"ok_whole", [] { image([](Image& i, float*) { whole<<<1, kN>>>(i.surface); }); }},
    {"streams", [] { inStreams(false); }},
    {"ok_streams", [] { inStreams(true); }},
};

int main(int argc, char** argv) { return runCase(kCases, argc, argv); }
