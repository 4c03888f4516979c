// See report_listener.hpp.
#include "machine/report_listener.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <mutex>

#include "ptx/opcode.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::machine {

void ReportListener::flush() {
  if (path_.empty()) return;
  static std::mutex oneAtATime;  // a signal may want the reports while the process ends by itself
  const std::lock_guard lock(oneAtATime);
  std::ofstream out(path_);
  out << report();
  if (!out.flush()) fmt::print(stderr, "ordito: {}: cannot write {}\n", variable_, path_);
}

KernelLine kernelLine(const LaunchEvent& launch, uint32_t ptxLine) {
  const ptx::Located at = ptx::instructionAt(launch.module, launch.function, ptxLine);
  return {launch.kernel, ptxLine, at ? ptx::spellOpcode(*at.instruction) : "",
          ptx::sourceOf(launch.module, launch.function, ptxLine)};
}

std::string moduleOf(const LaunchEvent& launch) { return launch.module.source.digest.hex(); }

}  // namespace ordito::machine
