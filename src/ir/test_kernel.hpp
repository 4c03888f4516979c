// A kernel in SSA form from a few lines of PTX, for tests of the passes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ir/ir.hpp"
#include "ptx/parser.hpp"

namespace ordito::ir {

/// Parses the kernel `k` with these parameters and this body and calls `f` with its Function.
template <class F>
void withKernel(const std::string& parameters, const std::string& body, F&& f) {
  auto module = ptx::parse(
      ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(" + parameters + ") {\n" + body + "\n}\n", "k");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return;
  }
  auto function = buildCfg(*module, module->functions[0]);
  buildSsa(*function);
  f(*function);
}

}  // namespace ordito::ir
