// The rules of PTX that the grammar does not express: operand kinds and types for each row, required modifiers, vector
// lengths, spaces, labels.
#pragma once

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace ordito::ptx {

/// The first violation as file-less "kernel K, line N: …", or success.
Expected<> verify(const Module& module);

}  // namespace ordito::ptx
