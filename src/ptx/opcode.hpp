// Which row of the instruction table a dotted opcode such as `ld.global.nc.f32` is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "isa/isa.hpp"
#include "ptx/module.hpp"

namespace ordito::ptx {

/// A row together with the modifiers and types that an opcode chose.
struct Opcode {
  isa::Op op{};
  isa::Modifiers mods{};
  isa::Type type[isa::kTypeSlots] = {};
};

/// The first row of `mnemonic` that takes all of `words` (without their dots) in the order of its slots. The error says
/// which rows there are.
Expected<Opcode> findOpcode(std::string_view mnemonic, std::span<const std::string_view> words);

/// A row as messages and documentation show it: "add{.sat}.type d, a, b (.type: u16 u32 …)".
std::string describeRow(const isa::OpInfo& row);

/// The opcode in PTX spelling, in the order of the row's slots: "ld.global.nc.f32".
std::string spellOpcode(const Opcode& opcode);
std::string spellOpcode(const Instruction& instruction);

}  // namespace ordito::ptx
