// See directions.hpp. A dimension has a primitive polynomial and its first direction numbers; a recurrence gives the
// others (Bratley and Fox, "Algorithm 659", 1988). The first ones are those of Joe and Kuo (2008), packed by
// joe_kuo.py, under the licence in joe_kuo.LICENSE.
#include "libs/curand/directions.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <new>

asm(".pushsection .rodata\n"
    "kOrditoJoeKuo: .incbin \"" ORDITO_JOE_KUO
    "\"\n"
    ".popsection");
extern "C" __attribute__((visibility("hidden"))) const unsigned char kOrditoJoeKuo[];

namespace ordito::curand {
namespace {

/// The packed numbers, read from the first on.
class Packed {
 public:
  unsigned next(unsigned width) {
    uint64_t word;
    std::memcpy(&word, kOrditoJoeKuo + place_ / 8, sizeof(word));
    word >>= place_ % 8;
    place_ += width;
    return static_cast<unsigned>(word & ((uint64_t{1} << width) - 1));
  }

 private:
  size_t place_ = 0;
};

template <class Word>
constexpr unsigned kBits = sizeof(Word) * 8;

/// `count` words that end where memory that nobody may read begins.
template <class Word>
Word* allocate(size_t count) {
  constexpr size_t kPage = 4096;
  const size_t pages = (count * sizeof(Word) + kPage - 1) / kPage;
  void* memory = mmap(nullptr, (pages + 1) * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, pages * kPage, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return reinterpret_cast<Word*>(static_cast<char*>(memory) + pages * kPage) - count;
}

/// A known sequence of random words (splitmix64, Steele and others, 2014).
uint64_t random(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The vectors of the first dimension.
template <class Word>
void fillFirst(Word* vectors) {
  for (unsigned j = 0; j < kBits<Word>; ++j) vectors[j] = Word{1} << (kBits<Word> - 1 - j);
}

/// The vectors of the next dimension: the number m[j] of j + 1 bits, shifted to the top. In these terms the recurrence
/// m[j] = m[j-d] ^ 2^d m[j-d] ^ (sum of 2^s m[j-s] over the polynomial's other coefficients) loses its powers of two.
template <class Word>
void fillNext(Word* vectors, Packed& numbers) {
  const unsigned degree = numbers.next(5), inner = numbers.next(degree - 1);
  for (unsigned j = 0; j < kBits<Word>; ++j) {
    if (j < degree) {
      vectors[j] = (Word{numbers.next(j)} << 1 | 1) << (kBits<Word> - 1 - j);
    } else {
      vectors[j] = vectors[j - degree] ^ (vectors[j - degree] >> degree);
      for (unsigned k = 1; k < degree; ++k)
        if (inner >> (k - 1) & 1) vectors[j] ^= vectors[j - (degree - k)];
    }
  }
}

/// Times a lower triangular matrix with ones on its diagonal: the sum of the columns that a vector's bits choose, the
/// highest one the first.
template <class Word>
void scramble(Word* vectors, uint64_t& state) {
  constexpr unsigned kCount = kBits<Word>;
  Word columns[kCount];  // that of bit i
  for (unsigned i = 0; i < kCount; ++i) {
    const Word diagonal = Word{1} << i;
    columns[i] = diagonal | (static_cast<Word>(random(state)) & (diagonal - 1));
  }
  for (unsigned j = 0; j < kCount; ++j) {
    Word mixed = 0;
    for (Word rest = vectors[j]; rest != 0; rest &= rest - 1) mixed ^= columns[std::countr_zero(rest)];
    vectors[j] = mixed;
  }
}

template <class Word>
const Word* make(bool isScrambled) {
  Word* all = allocate<Word>(size_t{kDimensions} * kBits<Word>);
  uint64_t state = kBits<Word>;
  Packed numbers;
  for (unsigned dimension = 0; dimension < kDimensions; ++dimension) {
    Word* vectors = all + size_t{dimension} * kBits<Word>;
    dimension == 0 ? fillFirst(vectors) : fillNext(vectors, numbers);
    if (isScrambled) scramble(vectors, state);
  }
  return all;
}

template <class Word>
const Word* makeConstants() {
  Word* all = allocate<Word>(kDimensions);
  uint64_t state = 0x5eed + kBits<Word>;
  for (unsigned dimension = 0; dimension < kDimensions; ++dimension) all[dimension] = static_cast<Word>(random(state));
  return all;
}

template <class Word>
const Word* directions(bool isScrambled) {
  if (isScrambled) {
    static const Word* const scrambled = make<Word>(true);
    return scrambled;
  }
  static const Word* const plain = make<Word>(false);
  return plain;
}

}  // namespace

const uint32_t* directions32(bool isScrambled) { return directions<uint32_t>(isScrambled); }
const uint64_t* directions64(bool isScrambled) { return directions<uint64_t>(isScrambled); }
const uint32_t* constants32() {
  static const uint32_t* const constants = makeConstants<uint32_t>();
  return constants;
}
const uint64_t* constants64() {
  static const uint64_t* const constants = makeConstants<uint64_t>();
  return constants;
}

}  // namespace ordito::curand
