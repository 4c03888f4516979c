// See reduction.hpp. A block of elements at a time is gathered in wide form, so that the loops over it become vectors.
#include "libs/nccl/reduction.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "libs/cublas/elements.hpp"
#include "libs/stream_task.hpp"

namespace ordito::libs::nccl {
namespace {

using cublas::kHasBits, cublas::widen, cublas::narrow;

constexpr size_t kBlock = 512;          // elements that are gathered
constexpr size_t kPiece = 64 * kBlock;  // elements that a thread takes

/// What elements are computed in: integers without a sign, so that they wrap.
template <class E>
struct Wider {
  using Type = E;
};
template <class E>
  requires std::is_integral_v<E>
struct Wider<E> {
  using Type = std::make_unsigned_t<E>;
};
template <class E>
  requires kHasBits<E>
struct Wider<E> {
  using Type = float;
};
template <class E>
using Wide = typename Wider<E>::Type;

template <class E>
Wide<E> load(E element) {
  if constexpr (kHasBits<E>)
    return widen(element);
  else
    return static_cast<Wide<E>>(element);
}
template <class E>
E stored(Wide<E> value) {
  E element;
  if constexpr (kHasBits<E>)
    narrow(value, element);
  else
    element = static_cast<E>(value);
  return element;
}

template <class Body>
void withElement(ncclDataType_t type, const Body& body) {
  switch (type) {
    case ncclInt8: return body(int8_t{});
    case ncclUint8: return body(uint8_t{});
    case ncclInt32: return body(int32_t{});
    case ncclUint32: return body(uint32_t{});
    case ncclInt64: return body(int64_t{});
    case ncclUint64: return body(uint64_t{});
    case ncclFloat16: return body(cublas::Half{});
    case ncclFloat32: return body(float{});
    case ncclFloat64: return body(double{});
    case ncclBfloat16: return body(cublas::Bfloat16{});
    case ncclFloat8e4m3: return body(cublas::Float8E4M3{});
    case ncclFloat8e5m2: return body(cublas::Float8E5M2{});
    default: return;
  }
}

/// The greater one as elements of type E; a number rather than a NaN.
template <class E>
Wide<E> greater(Wide<E> a, Wide<E> b) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(a) > static_cast<E>(b) ? a : b;
  else
    return a > b || b != b ? a : b;
}
template <class E>
Wide<E> less(Wide<E> a, Wide<E> b) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(a) < static_cast<E>(b) ? a : b;
  else
    return a < b || b != b ? a : b;
}

template <class E>
Wide<E> divided(Wide<E> sum, size_t ranks) {
  if constexpr (std::is_signed_v<E> && std::is_integral_v<E>)
    return static_cast<Wide<E>>(static_cast<E>(sum) / static_cast<int64_t>(ranks));
  else if constexpr (std::is_integral_v<E>)
    return static_cast<Wide<E>>(sum / ranks);
  else
    return sum / static_cast<Wide<E>>(ranks);
}

/// One rank's elements on top of those before.
template <class E>
void add(ncclRedOp_t operation, Wide<E> factor, const E* from, Wide<E>* sums, size_t count) {
  using W = Wide<E>;
  const auto each = [&](const auto& combined) {
    for (size_t i = 0; i < count; ++i) sums[i] = static_cast<W>(combined(sums[i], load(from[i])));
  };
  switch (operation) {
    case ncclProd: return each([](W a, W b) { return a * b; });
    case ncclMax: return each([](W a, W b) { return greater<E>(a, b); });
    case ncclMin: return each([](W a, W b) { return less<E>(a, b); });
    case ncclNumOps: return each([=](W a, W b) { return a + factor * b; });
    default: return each([](W a, W b) { return a + b; });
  }
}

template <class E>
void reduceBlock(const Reduction& reduction, const std::vector<const E*>& inputs, E* result, size_t count) {
  std::array<Wide<E>, kBlock> sums;
  const auto factor = [&](size_t rank) {
    E element{};
    if (reduction.operation == ncclNumOps) std::memcpy(&element, reduction.factors[rank].data(), sizeof(element));
    return load(element);
  };
  for (size_t i = 0; i < count; ++i) sums[i] = load(inputs[0][i]);
  if (reduction.operation == ncclNumOps)
    for (size_t i = 0; i < count; ++i) sums[i] = static_cast<Wide<E>>(factor(0) * sums[i]);
  for (size_t rank = 1; rank < inputs.size(); ++rank)
    add<E>(reduction.operation, factor(rank), inputs[rank], sums.data(), count);
  if (reduction.operation == ncclAvg)
    for (size_t i = 0; i < count; ++i) sums[i] = divided<E>(sums[i], inputs.size());
  for (size_t i = 0; i < count; ++i) result[i] = stored<E>(sums[i]);
}

template <class E>
void reducePiece(const Reduction& reduction, std::vector<const E*> inputs, E* result, size_t count) {
  for (size_t done = 0; done < count; done += kBlock) {
    reduceBlock(reduction, inputs, result + done, std::min(kBlock, count - done));
    for (const E*& input : inputs) input += kBlock;
  }
}

}  // namespace

size_t sizeOf(ncclDataType_t type) {
  size_t size = 0;
  withElement(type, [&](auto element) { size = sizeof(element); });
  return size;
}

void reduce(ncclDataType_t type, const Reduction& reduction, const std::vector<const std::byte*>& inputs,
            std::byte* result, size_t count) {
  withElement(type, [&](auto element) {
    using E = decltype(element);
    parallelFor(static_cast<unsigned>((count + kPiece - 1) / kPiece), [&](unsigned piece) {
      const size_t first = piece * kPiece;
      std::vector<const E*> elements;
      for (const std::byte* input : inputs) elements.push_back(reinterpret_cast<const E*>(input) + first);
      reducePiece(reduction, std::move(elements), reinterpret_cast<E*>(result) + first,
                  std::min(kPiece, count - first));
    });
  });
}

}  // namespace ordito::libs::nccl
