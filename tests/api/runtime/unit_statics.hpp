// The same names in two translation units: what is static or in an anonymous namespace belongs to one unit.
#pragma once

/// What the kernels of a unit answer when its constant is set to `constant` and its hidden variable to `hidden`.
struct Answers {
  int scaled, counted, typed, typedOther, hidden, table, untouched;
};

Answers askFirst(int* device, int constant, int hidden);
Answers askSecond(int* device, int constant, int hidden);
