// libFuzzer target: any bytes as PTX. What parses must verify or be refused, and print to text that parses to the same
// module.
//
//   cmake --preset dev -DORDITO_FUZZ=ON && ninja -C build/dev ptx_parser_fuzz
//   build/dev/tests/ptx_parser_fuzz -max_len=4096 corpus tests/ptx/inputs
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/verifier.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ordito::ptx;
  auto module = parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!module) return 0;
  (void)verify(*module);
  for (const Variable& v : module->variables)
    if (v.initial.size() > 1 << 20) return 0;
  std::string printed = print(*module);
  auto again = parse(printed, "printed");
  if (!again || print(*again) != printed) {
    std::fprintf(stderr, "%s\n--- printed:\n%s\n", again ? "prints differently" : again.error().message.c_str(),
                 printed.c_str());
    if (again) std::fprintf(stderr, "--- and then:\n%s\n", print(*again).c_str());
    std::abort();
  }
  return 0;
}
