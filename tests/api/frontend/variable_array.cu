// OPTIONS: -Xcompiler -Wno-vla-cxx-extension
// g++ lets an array of variable size begin with zeros or with a list of numbers.
int size();
int sum(const double* values, int n);

int host() {
  const int n = size();
  double values[n] = {};
  unsigned counts[n][2] = {0};
  const float weights[n] = {1.0f, 2.0f, -1.0f};
  values[0] = weights[1] * counts[n - 1][1];
  return sum(values, n);
}

// CHECK: .visible .entry _Z6kernelv
__global__ void kernel() {}
