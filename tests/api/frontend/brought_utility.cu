// What programs use without including it, since NVIDIA's headers bring it: <utility>, <initializer_list>, <ctype.h>.
// CHECK: .entry {{.*}}fill
__global__ void fill(int* out) { out[std::is_same<int, std::decay<int&>::type>::value] = std::move(1); }

int launch(int* out) {
  for (unsigned blocks : {1u, 2u}) fill<<<blocks, 32>>>(out);
  std::pair<int, char> both = std::make_pair(1, 'a');
  std::swap(both.first, *out);
  return isdigit(both.second) ? 2 : both.first;
}
