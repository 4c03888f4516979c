// How many different sectors, or words of a bank, 32 lanes go to, with all lanes looked at together.
//
// Lane by lane that takes a set to look each address up in, some 200 cycles, which is more than the access itself. Here
// the lanes' numbers, made as short as 16 bits, are compared as vectors with themselves, moved on by one lane after the
// other: 32 lanes at a time, without a branch. Where short numbers cannot tell, the caller looks lane by lane.
#pragma once

#include <cstdint>

namespace ordito::rt {

/// Distinct 32-byte sectors that the active lanes touch, `bytes` each; 0 where it cannot be told.
uint32_t sectorsTogether(const int64_t* addresses, uint32_t lanes, uint32_t bytes);

/// What is known of the addresses that an instruction went to last. Banks are relative: addresses that are moved alike
/// by whole words make the same conflicts.
struct alignas(64) SharedPattern {
  uint32_t places[32];  // bytes from the first lane's word
  uint32_t words;       // of a bank at most, with all lanes on; 0 where nobody has asked yet
  uint32_t isDistinct;  // no two lanes have the same word
  /// Any of these lanes take as many words of a bank as compiled code sees from them by itself: one, and a second if
  /// some lane of `halves` is among them with the one 16 later. Strides of powers of two make no other conflicts of
  /// two.
  uint32_t isTold, halves;
};

/// The most distinct words of 4 bytes that the active lanes touch in one of 32 banks, up to 4 `bytes` each; 0 where it
/// cannot be told. Instructions often come back with the same pattern and other lanes: that is kept in `last`.
uint32_t wordsOfBank(const int64_t* addresses, uint32_t lanes, uint32_t bytes, SharedPattern& last);

}  // namespace ordito::rt
