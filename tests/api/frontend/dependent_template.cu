// The `template` that a name behind a type not known yet wants: nvcc does without where only a type can follow.
template <class T>
struct Traits {
  template <class U>
  using other = U*;
  template <class U>
  struct Box {
    U value;
  };
};

template <class T>
struct Table {
  using place = typename Traits<T>::other<float>;
  typename Traits<T>::Box<int> box;
  __device__ typename Traits<T>::Box<int>* first() { return &box; }
};

// Nor does it want the `typename` of a type in an expression.
template <class T>
struct Doubled {
  typedef T digit;
  __device__ T of(T value) {
    value = Doubled::digit(value) * Doubled<T>::digit(2);
    return value;
  }
};
template <class T>
struct User {
  __device__ void operator()(typename T::digit& value) { value = T::digit(value + 1); }
};

// CHECK: .visible .entry _Z6kernelPf
__global__ void kernel(float* out) {
  Table<char> table{{1}};
  Table<char>::place place = out;
  User<Doubled<int>>()(table.box.value);
  *place = static_cast<float>(table.first()->value);
}
