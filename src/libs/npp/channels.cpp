// NPP: images whose channels change their order or go to planes of their own.
#include <array>

#include "libs/npp/image.hpp"
#include "nppi_color_conversion.h"
#include "nppi_data_exchange_and_initialization.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// Number k of a pixel becomes number order[k] of the source. Of pixels that get a fourth number, an order of 3 takes
/// the value, and a higher one leaves what is there.
template <class T, int kFrom, int kTo>
NppStatus swapChannels(const NppStreamContext& c, const char* name, Image<const T> from, Image<T> to, NppiSize size,
                       const int* order, T value = {}) {
  if (!order) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from, to)) return bad;
  std::array<int, kTo> places{};
  std::copy_n(order, kTo, places.begin());
  for (const int place : places)
    if (place < 0 || (place >= kFrom && kTo <= kFrom)) return NPP_CHANNEL_ORDER_ERROR;
  return forRows(c, name, size.height, [=](int y) {
    const T* pixel = from.row(y);
    T* result = to.row(y);
    for (int x = 0; x < size.width; ++x, pixel += kFrom, result += kTo) {
      std::array<T, kFrom> whole{};  // the same memory, if it is done in place
      std::copy_n(pixel, kFrom, whole.begin());
      for (size_t k = 0; k < kTo; ++k) {
        if (places[k] < kFrom)
          result[k] = whole[static_cast<size_t>(places[k])];
        else if (places[k] == kFrom)
          result[k] = value;
      }
    }
  });
}

/// `copy(planes' number, pixel's number)` for each.
template <class T, size_t kChannels, class P, class I, class Copy>
NppStatus copyPlanes(const NppStreamContext& c, const char* name, P* const* planes, int planeStep, Image<I> pixels,
                     NppiSize size, Copy copy) {
  if (!planes) return NPP_NULL_POINTER_ERROR;
  std::array<P*, kChannels> each{};
  std::copy_n(planes, kChannels, each.begin());
  for (P* plane : each)
    if (const NppStatus bad = check(size, Image<P>{plane, planeStep}, pixels)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (size_t k = 0; k < kChannels; ++k) {
      P* const plane = Image<P>{each[k], planeStep}.row(y);
      I* pixel = pixels.row(y) + k;
      for (int x = 0; x < size.width; ++x, pixel += kChannels) copy(plane[x], *pixel);
    }
  });
}

/// Differences of two by two pixels, as pairs and in planes of their own: join(pair, first plane's, second plane's).
template <class Pair, class Plane, class Luma, class Join>
NppStatus repack(const NppStreamContext& c, const char* name, Image<const Npp8u> luma, Image<Luma> result,
                 Image<Pair> pairs, Image<Plane> first, Image<Plane> second, NppiSize size, Join join) {
  if (const NppStatus bad = check(size, luma, result, pairs, first, second)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    std::copy_n(luma.row(y), size.width, result.row(y));
    if (y % 2 != 0) return;
    for (int x = 0; x < size.width / 2; ++x)
      join(pairs.row(y / 2) + 2 * x, first.row(y / 2) + x, second.row(y / 2) + x);
  });
}

}  // namespace

BOTH_FORMS(nppiYCbCr420_8u_P2P3R,
           (const Npp8u* luma, int lumaStep, const Npp8u* pairs, int pairStep, Npp8u* to[3], int toStep[3],
            NppiSize size),
           (luma, lumaStep, pairs, pairStep, to, toStep, size)) {
  if (!to || !toStep) return NPP_NULL_POINTER_ERROR;
  return repack(context, "nppiYCbCr420_8u_P2P3R", Image{luma, lumaStep}, Image{to[0], toStep[0]},
                Image{pairs, pairStep}, Image{to[1], toStep[1]}, Image{to[2], toStep[2]}, size,
                [](const Npp8u* pair, Npp8u* a, Npp8u* b) { *a = pair[0], *b = pair[1]; });
}
BOTH_FORMS(nppiYCbCr420_8u_P3P2R,
           (const Npp8u* const from[3], int fromStep[3], Npp8u* luma, int lumaStep, Npp8u* pairs, int pairStep,
            NppiSize size),
           (from, fromStep, luma, lumaStep, pairs, pairStep, size)) {
  if (!from || !fromStep) return NPP_NULL_POINTER_ERROR;
  return repack(context, "nppiYCbCr420_8u_P3P2R", Image{from[0], fromStep[0]}, Image{luma, lumaStep},
                Image{pairs, pairStep}, Image{from[1], fromStep[1]}, Image{from[2], fromStep[2]}, size,
                [](Npp8u* pair, const Npp8u* a, const Npp8u* b) { pair[0] = *a, pair[1] = *b; });
}

#define SWAP(type, form, from_, to_)                                                                                \
  BOTH_FORMS(nppiSwapChannels_##type##_##form,                                                                      \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, const int* order),     \
             (from, fromStep, to, toStep, size, order)) {                                                           \
    return swapChannels<Npp##type, from_, to_>(context, "nppiSwapChannels_" #type "_" #form, Image{from, fromStep}, \
                                               Image{to, toStep}, size, order);                                     \
  }
#define SWAP_IN_PLACE(type, channels)                                                                                  \
  BOTH_FORMS(nppiSwapChannels_##type##_C##channels##IR, (Npp##type * to, int toStep, NppiSize size, const int* order), \
             (to, toStep, size, order)) {                                                                              \
    return swapChannels<Npp##type, channels, channels>(context, "nppiSwapChannels_" #type "_C" #channels "IR",         \
                                                       Image<const Npp##type>{to, toStep}, Image{to, toStep}, size,    \
                                                       order);                                                         \
  }
#define PLANES(type, channels)                                                                                      \
  BOTH_FORMS(nppiCopy_##type##_C##channels##P##channels##R,                                                         \
             (const Npp##type* from, int fromStep, Npp##type* const* to, int toStep, NppiSize size),                \
             (from, fromStep, to, toStep, size)) {                                                                  \
    return copyPlanes<Npp##type, channels>(context, "nppiCopy_" #type "_C" #channels "P" #channels "R", to, toStep, \
                                           Image{from, fromStep}, size,                                             \
                                           [](Npp##type& plane, const Npp##type& pixel) { plane = pixel; });        \
  }                                                                                                                 \
  BOTH_FORMS(nppiCopy_##type##_P##channels##C##channels##R,                                                         \
             (const Npp##type* const* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                \
             (from, fromStep, to, toStep, size)) {                                                                  \
    return copyPlanes<Npp##type, channels>(context, "nppiCopy_" #type "_P" #channels "C" #channels "R", from,       \
                                           fromStep, Image{to, toStep}, size,                                       \
                                           [](const Npp##type& plane, Npp##type& pixel) { pixel = plane; });        \
  }
#define CHANNELS(type)                                                                                         \
  SWAP(type, C3R, 3, 3)                                                                                        \
  SWAP(type, C4R, 4, 4)                                                                                        \
  SWAP(type, C4C3R, 4, 3)                                                                                      \
  SWAP_IN_PLACE(type, 3)                                                                                       \
  SWAP_IN_PLACE(type, 4)                                                                                       \
  PLANES(type, 3)                                                                                              \
  PLANES(type, 4)                                                                                              \
  BOTH_FORMS(nppiSwapChannels_##type##_C3C4R,                                                                  \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, const int* order, \
              const Npp##type value),                                                                          \
             (from, fromStep, to, toStep, size, order, value)) {                                               \
    return swapChannels<Npp##type, 3, 4>(context, "nppiSwapChannels_" #type "_C3C4R", Image{from, fromStep},   \
                                         Image{to, toStep}, size, order, value);                               \
  }
CHANNELS(8u)
CHANNELS(16u)
CHANNELS(16s)
CHANNELS(32s)
CHANNELS(32f)
