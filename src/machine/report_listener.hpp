// What listeners have in common that add up what lines of kernels do over all launches and write it to a file: the
// lines, and the file.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "machine/listener.hpp"

namespace ordito::machine {

/// A listener that writes a report when the process ends, or sooner if the program asks for it.
class ReportListener : public Listener {
 public:
  /// `variable` named the file, and is named if it cannot be written. An empty path: nothing is written.
  ReportListener(std::string variable, std::string path) : variable_(std::move(variable)), path_(std::move(path)) {}
  bool wantsSites() const override { return true; }
  void flush() final;

 protected:
  virtual std::string report() const = 0;

 private:
  const std::string variable_, path_;
};

/// The process's only L; null if nobody named a file for it. Never destroyed: streams may run while the process ends.
template <class L>
Listener* reportListener(const std::string& path) {
  static L* const instance = path.empty() ? nullptr : new L(path);
  return instance;
}

/// A line of a kernel's PTX.
struct KernelLine {
  std::string kernel;  // demangled
  uint32_t ptxLine = 0;
  std::string instruction;  // its opcode
  std::string source;       // "a.cu:12"; empty if the module does not say
};

KernelLine kernelLine(const LaunchEvent& launch, uint32_t ptxLine);

/// What tells modules apart.
std::string moduleOf(const LaunchEvent& launch);

/// Something for each line of each kernel. Kernels of two modules may have the same name.
template <class T>
class KernelLines {
 public:
  std::map<uint32_t, T>& of(const LaunchEvent& launch) { return kernels_[idOf(launch)]; }
  template <class F>
  void forEach(F visit) const {
    for (const auto& [kernel, lines] : kernels_)
      for (const auto& [line, t] : lines) visit(t);
  }

 private:
  using Id = std::pair<std::string, std::string>;  // name, module
  static Id idOf(const LaunchEvent& launch) { return {launch.mangled, moduleOf(launch)}; }

  std::map<Id, std::map<uint32_t, T>> kernels_;
};

}  // namespace ordito::machine
