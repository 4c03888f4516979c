// OPTIONS: -DNDEBUG
// Assertions are off, and libcu++ declares what is behind them by itself. A file may turn them on again.
#include <assert.h>

extern "C" {
__host__ __device__ void __assert_fail(const char* assertion, const char* file, unsigned line,
                                       const char* function) noexcept __attribute__((__noreturn__));
}

// CHECK-LABEL: .visible .entry _Z3offPi
// CHECK-NOT: __assert_fail
// CHECK: ret;
__global__ void off(int* p) {
  assert(*p == 1);
  static_cast<void>(p);
}

#undef NDEBUG
#include <assert.h>

// CHECK-LABEL: .visible .entry _Z2onPi
// CHECK: __assert_fail,
__global__ void on(int* p) { assert(*p == 1); }

// CHECK-LABEL: .visible .entry _Z6calledPi
// CHECK: __assert_fail,
__global__ void called(int* p) { *p == 1 ? void(0) : __assert_fail("p", __FILE__, __LINE__, __func__); }

int host(int argument) {
  assert(argument > 0);
  return argument;
}
