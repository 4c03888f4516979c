// cudaCreateChannelDesc<T>(): the channel format of an element type.
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_runtime_api.h"

#if defined(__cplusplus)

namespace ordito_detail {
/// One, two or four channels of `bits` bits each.
static inline cudaChannelFormatDesc channels(int count, int bits, cudaChannelFormatKind kind) {
  return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind);
}
}  // namespace ordito_detail

template <class Type>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define ORDITO_CHANNELS(name, type, kind)                           \
  template <>                                                       \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {      \
    return ordito_detail::channels(1, int(sizeof(type)) * 8, kind); \
  }                                                                 \
  template <>                                                       \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<name##1>() {   \
    return ordito_detail::channels(1, int(sizeof(type)) * 8, kind); \
  }                                                                 \
  template <>                                                       \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<name##2>() {   \
    return ordito_detail::channels(2, int(sizeof(type)) * 8, kind); \
  }                                                                 \
  template <>                                                       \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<name##4>() {   \
    return ordito_detail::channels(4, int(sizeof(type)) * 8, kind); \
  }

ORDITO_CHANNELS(char, signed char, cudaChannelFormatKindSigned)
ORDITO_CHANNELS(uchar, unsigned char, cudaChannelFormatKindUnsigned)
ORDITO_CHANNELS(short, short, cudaChannelFormatKindSigned)
ORDITO_CHANNELS(ushort, unsigned short, cudaChannelFormatKindUnsigned)
ORDITO_CHANNELS(int, int, cudaChannelFormatKindSigned)
ORDITO_CHANNELS(uint, unsigned int, cudaChannelFormatKindUnsigned)
ORDITO_CHANNELS(float, float, cudaChannelFormatKindFloat)
#undef ORDITO_CHANNELS

// Plain char is a type of its own.
template <>
inline cudaChannelFormatDesc cudaCreateChannelDesc<char>() {
  return ordito_detail::channels(1, 8, char(-1) < 0 ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return ordito_detail::channels(1, 16, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return ordito_detail::channels(2, 16, cudaChannelFormatKindFloat);
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return ordito_detail::channels(4, 16, cudaChannelFormatKindFloat);
}

#endif
#endif
