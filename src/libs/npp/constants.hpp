// Arithmetic of pixels with a constant for each channel.
#pragma once

#include <array>

#include "libs/npp/image.hpp"

namespace ordito::libs::npp {

/// to = f(a, constant of the channel) for each number. Constants are the host's, copied at the call.
template <class T, class K, class F>
NppStatus mapWith(const NppStreamContext& c, const char* name, Image<const T> a, const K* constants, Image<T> to,
                  NppiSize size, int channels, F f) {
  if (!constants) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, a, to)) return bad;
  std::array<K, 4> each{};
  std::copy_n(constants, channels, each.begin());
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width * channels; ++x)
      to.row(y)[x] = f(a.row(y)[x], each[static_cast<size_t>(x % channels)]);
  });
}

}  // namespace ordito::libs::npp
