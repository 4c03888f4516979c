#!/usr/bin/env python3
"""Packs the direction numbers of S. Joe and F. Y. Kuo ("Constructing Sobol sequences with better two-dimensional
projections", 2008), whose file new-joe-kuo-6.21201 has a line for each dimension from the second on: its number, the
degree d of a primitive polynomial, the polynomial's inner coefficients, and d odd numbers m[j] of up to j + 1 bits.

Packed, a dimension is d in 5 bits, d - 1 coefficients, and of each number the j bits above its last one, which is 1.
Bits go into bytes from the lowest one on.

usage: joe_kuo.py new-joe-kuo-6.21201 joe_kuo.bin
"""
import sys

DIMENSIONS = 20000  # as many as a GPU's library has


def main():
    packed = bytearray()
    bits = size = 0
    with open(sys.argv[1], encoding="ascii") as source:
        for line in source.readlines()[1:DIMENSIONS]:
            _, degree, inner, *numbers = map(int, line.split())
            for value, width in [(degree, 5), (inner, degree - 1)] + [(m >> 1, j) for j, m in enumerate(numbers)]:
                bits |= value << size
                size += width
            packed += (bits & (1 << size // 8 * 8) - 1).to_bytes(size // 8, "little")
            bits >>= size // 8 * 8
            size %= 8
    packed += bits.to_bytes(8, "little")  # with room for a reader of words
    with open(sys.argv[2], "wb") as to:
        to.write(packed)


main()
