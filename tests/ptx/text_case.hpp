// A PTX text test as data: what README.md in this folder describes, parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "isa/types.hpp"
#include "machine/kernel.hpp"

namespace ordito::test {

/// One expected element; `any` accepts everything.
struct Element {
  uint64_t bits = 0;
  bool any = false;
};

struct Buffer {
  std::string name;
  isa::Type type{};
  bool isScalar = false;          // VALUE: passed itself, not by address
  std::vector<uint64_t> initial;  // contents before the launch
  std::vector<Element> expected;  // empty: not checked
  bool expectedOnGpu = true;      // OUT rather than OUT?
};

struct Case {
  uint32_t line = 0;
  std::string kernel;  // empty: the module's first
  machine::Dim3 grid, block;
  uint32_t dynamicShared = 0;
  std::vector<Buffer> parameters;
  std::optional<std::string> fault;
  uint32_t faultLine = 0;
  std::string faultThread;  // "(3,0,0)": what the message must name; empty: not checked
  std::optional<std::string> error;
  std::vector<std::pair<std::string, uint64_t>> counts;
  bool emulatedOnly = false;     // not run on a real GPU
  bool interpretedOnly = false;  // not run on the JIT
  bool isScheduled = false;      // what it counts depends on the order in which threads take their turns
};

struct TextTest {
  std::string name, text;
  std::vector<Case> cases;
};

/// Reads the directives of a file; errors name the line.
Expected<TextTest> readTextTest(const std::string& path);

}  // namespace ordito::test
