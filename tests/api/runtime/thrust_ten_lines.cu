// The Thrust program of the README.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <cstdio>

int main() {
  thrust::device_vector<int> v(1000000);
  thrust::sequence(v.begin(), v.end());
  thrust::sort(v.begin(), v.end(), thrust::greater<int>());
  std::printf("%d %lld\n", static_cast<int>(v[0]), thrust::reduce(v.begin(), v.end(), 0LL));
  return v[0] == 999999 ? 0 : 1;
}
