// `matmul --trace`: what the order of a product's loops means for a processor's caches, as a simulator counts it.
#pragma once

#include "../common/cache.hpp"
#include "context.hpp"

namespace locality {

constexpr std::uint64_t kRows = 1024;  // of the matrices, 4 MB each
constexpr std::uint64_t kWalked = 8;   // rows of A and C that are walked: the others are alike
constexpr std::uint64_t kBlock = 64;   // as in cpu.hpp
constexpr std::uint64_t kColumns = 512;

/// The addresses of elements of three matrices, one behind the other.
struct Addresses {
  lab::Caches caches;
  std::uint64_t steps = 0;  // of the inner loop

  /// c[i][j] += a[i][k] * b[k][j]
  void step(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    caches.touch(4 * (i * kRows + k));
    caches.touch(4 * (kRows * kRows + k * kRows + j));
    caches.touch(4 * (2 * kRows * kRows + i * kRows + j));
    ++steps;
  }
  double misses(const lab::CacheLevel& level) const {
    return static_cast<double>(level.misses) / static_cast<double>(steps);
  }
  double misses() const { return misses(caches.first); }
  double missesOfBoth() const { return misses(caches.second); }
};

inline Addresses walkIjk() {
  Addresses walk;
  for (std::uint64_t i = 0; i < kWalked; ++i) {
    for (std::uint64_t j = 0; j < kRows; ++j) {
      for (std::uint64_t k = 0; k < kRows; ++k) walk.step(i, j, k);
    }
  }
  return walk;
}

inline Addresses walkIkj() {
  Addresses walk;
  for (std::uint64_t i = 0; i < kWalked; ++i) {
    for (std::uint64_t k = 0; k < kRows; ++k) {
      for (std::uint64_t j = 0; j < kRows; ++j) walk.step(i, j, k);
    }
  }
  return walk;
}

inline Addresses walkBlocked() {
  Addresses walk;
  for (std::uint64_t k0 = 0; k0 < kRows; k0 += kBlock) {
    for (std::uint64_t j0 = 0; j0 < kRows; j0 += kColumns) {
      for (std::uint64_t i = 0; i < kWalked; ++i) {
        for (std::uint64_t k = k0; k < k0 + kBlock; ++k) {
          for (std::uint64_t j = j0; j < j0 + kColumns; ++j) walk.step(i, j, k);
        }
      }
    }
  }
  return walk;
}

inline void print(const char* order, const Addresses& walk) {
  std::printf("  %-14s %.4f of the first level, %.4f of both\n", order, walk.misses(), walk.missesOfBoth());
}

/// Down a column of B every element is in another line, and the lines of a column meet in few sets. Along a row one of
/// 16 elements begins a line. Blocks of B stay in the second level while all rows of A pass by.
inline bool showOrders() {
  const Addresses ijk = walkIjk();
  const Addresses ikj = walkIkj();
  const Addresses blocked = walkBlocked();
  std::printf("misses in each step of the inner loop on a processor: 32 KB and 1 MB, lines of 64 bytes, %d rows\n",
              static_cast<int>(kRows));
  print("i j k", ijk);
  print("i k j", ikj);
  print("i k j, blocks", blocked);
  return ijk.misses() > 0.99 && ikj.misses() < 0.07 && blocked.missesOfBoth() < ikj.missesOfBoth() / 4;
}

/// Elements of 4 bytes: one after another, every 16th, and 1000 of them again and again.
inline bool showAccesses() {
  constexpr std::uint64_t kAccesses = 1 << 20;
  lab::CacheLevel sequential(32 << 10, 8);
  lab::CacheLevel strided(32 << 10, 8);
  lab::CacheLevel repeated(32 << 10, 8);
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
    sequential.touch(4 * i);
    strided.touch(64 * i);
    repeated.touch(4 * (i % 1000));
  }
  std::printf("hits in 32 KB: %.2f %% one after another, %.2f %% every 16th element, %.2f %% the same 1000 again\n",
              100 * sequential.hitRate(), 100 * strided.hitRate(), 100 * repeated.hitRate());
  return sequential.hitRate() == 15.0 / 16 && strided.hits == 0 && repeated.misses == 63;
}

}  // namespace locality
