// Rows of a sparse matrix, one for each thread: loops that read on in memory which nobody writes. Code that looks for
// errors may run them thread by thread. The first argument names one of the cases; cases.py has the verdicts. A case
// that begins with "ok" is right.
#include <initializer_list>

#include "cases.cuh"

constexpr unsigned kRows = 512, kInRow = 9, kAll = kRows * kInRow;

template <class T>
__global__ void multiply(const unsigned* starts, const unsigned* columns, const T* values, const T* x, T* y) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
  for (unsigned k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// How a matrix differs from a right one.
struct Change {
  unsigned lastColumn = 0;  // of the last row's last element
  unsigned more = 0;        // elements that the last row has too many
  unsigned unwritten = 0;   // of the values, the last ones
};

template <class T>
struct Matrix {
  unsigned starts[kRows + 1], columns[kAll];
  unsigned *deviceStarts, *deviceColumns;
  T *values, *x, *y;

  explicit Matrix(const Change& change = {}) {
    for (unsigned r = 0; r <= kRows; ++r) starts[r] = r * kInRow;
    starts[kRows] += change.more;
    for (unsigned k = 0; k < kAll; ++k) columns[k] = k * 37 % kRows;
    columns[kAll - 1] = change.lastColumn;
    deviceStarts = zeros<unsigned>(kRows + 1), deviceColumns = zeros<unsigned>(kAll);
    x = zeros<T>(kRows), y = zeros<T>(kRows);
    cudaMemcpy(deviceStarts, starts, sizeof starts, cudaMemcpyHostToDevice);
    cudaMemcpy(deviceColumns, columns, sizeof columns, cudaMemcpyHostToDevice);
    cudaMalloc(&values, kAll * sizeof(T));
    cudaMemset(values, 0, (kAll - change.unwritten) * sizeof(T));
  }
  ~Matrix() {
    for (void* p : {static_cast<void*>(deviceStarts), static_cast<void*>(deviceColumns), static_cast<void*>(values),
                    static_cast<void*>(x), static_cast<void*>(y)})
      cudaFree(p);
  }
};

template <class T>
void run(const Matrix<T>& m, cudaStream_t stream = nullptr) {
  multiply<<<4, kRows / 4, 0, stream>>>(m.deviceStarts, m.deviceColumns, m.values, m.x, m.y);
}

template <class T = float>
void runAndWait(const Change& change) {
  Matrix<T> m(change);
  run(m);
  cudaDeviceSynchronize();
}

void right() { runAndWait({.lastColumn = kRows - 1}); }
void columnPastEnd() { runAndWait({.lastColumn = kRows}); }
void columnFarAway() { runAndWait({.lastColumn = 0x7fffffff}); }
void rowPastEnd() { runAndWait({.more = 1}); }
void valueUnwritten() { runAndWait({.unwritten = 1}); }

void wideRight() { runAndWait<double>({.lastColumn = kRows - 1}); }
void wideColumnPastEnd() { runAndWait<double>({.lastColumn = kRows}); }

void misaligned() {
  Matrix<float> m;
  multiply<float><<<4, kRows / 4>>>(m.deviceStarts, m.deviceColumns,
                                    reinterpret_cast<float*>(reinterpret_cast<char*>(m.values) - 2), m.x, m.y);
  cudaDeviceSynchronize();
}

// What is multiplied by is what others write.
void inPlace() {
  Matrix<float> m;
  multiply<float><<<4, kRows / 4>>>(m.deviceStarts, m.deviceColumns, m.values, m.y, m.y);
  cudaDeviceSynchronize();
}

// A copy beside the kernel: into values that it reads, and into one behind the last of them.
void copyBeside(bool isRight) {
  Matrix<float> m;
  float *more = zeros<float>(kAll + 1), *pinned = nullptr;
  cudaMallocHost(&pinned, sizeof(float));
  *pinned = 1;
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreate(&t);
  cudaDeviceSynchronize();
  multiply<float><<<4, kRows / 4, 0, s>>>(m.deviceStarts, m.deviceColumns, more, m.x, m.y);
  cudaMemcpyAsync(more + kAll - (isRight ? 0 : 1), pinned, sizeof(float), cudaMemcpyHostToDevice, t);
  cudaDeviceSynchronize();
  cudaStreamDestroy(s), cudaStreamDestroy(t);
  cudaFree(more), cudaFreeHost(pinned);
}

// Column 200 is nobody's in the right one.
void copyBetween(bool isRight) {
  Matrix<float> m;
  for (unsigned& column : m.columns)
    if (column == 200) column = 201;
  cudaMemcpy(m.deviceColumns, m.columns, sizeof m.columns, cudaMemcpyHostToDevice);
  float* pinned = nullptr;
  cudaMallocHost(&pinned, sizeof(float));
  *pinned = 1;
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreate(&t);
  cudaDeviceSynchronize();
  run(m, s);
  cudaMemcpyAsync(m.x + (isRight ? 200 : 201), pinned, sizeof(float), cudaMemcpyHostToDevice, t);
  cudaDeviceSynchronize();
  cudaStreamDestroy(s), cudaStreamDestroy(t);
  cudaFreeHost(pinned);
}

int main(int argc, char** argv) {
  const Case cases[] = {
      {"ok", right},
      {"ok_wide", wideRight},
      {"ok_copy_beside", [] { copyBeside(true); }},
      {"ok_copy_between", [] { copyBetween(true); }},
      {"column_past_end", columnPastEnd},
      {"column_far_away", columnFarAway},
      {"wide_column_past_end", wideColumnPastEnd},
      {"row_past_end", rowPastEnd},
      {"value_unwritten", valueUnwritten},
      {"misaligned", misaligned},
      {"in_place", inPlace},
      {"copy_beside", [] { copyBeside(false); }},
      {"copy_between", [] { copyBetween(false); }},
  };
  return runCase(cases, argc, argv);
}
