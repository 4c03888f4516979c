// What decides how CUDA C++ becomes PTX: the options that both sides of a compilation obey, without files and without
// what a command line is for. A compiler at run time fills them in as `ordito nvcc` does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ordito::frontend {

/// How what is static is called in the PTX (static_names_pass.cpp).
enum class StaticNames {
  OfHostCode,  ///< as clang calls it on both sides
  Plain,       ///< as the file calls it
  OfUnit,      ///< the same behind the name of the unit
};

struct CompileOptions {
  std::vector<std::string> preprocessor;  ///< -D -U -I -isystem -include, as clang takes them.
  std::string standard;
  std::vector<std::string> prelude;  ///< Headers that come before the source, its headers and its macros.
  std::string preludeFolder;         ///< Where the prelude may be kept as a precompiled header; empty: nowhere.
  std::string precompiled;           ///< The prelude as a precompiled header; empty: there is none.
  std::string lastFolder;       ///< Searched for headers behind those of `preprocessor`; the prelude's are not there.
  int arch = 0;                 ///< The highest architecture asked for; 0: none.
  bool archIsSpecific = false;  ///< sm_90a

  bool flushToZero = false;
  bool preciseDivision = true;
  bool preciseSqrt = true;
  bool contract = true;
  bool fastMath = false;

  bool relocatable = false;
  bool makesBitcode = false;  ///< LLVM's bitcode, too: what is made is optimised when it is linked
  std::string unit;           ///< Tells translation units apart under -rdc=true; see nvcc_commands.cpp.
  StaticNames staticNames = StaticNames::OfHostCode;
  bool perThreadStream = false;
  bool bringsFunctional = false;  ///< cuda_runtime.h includes <functional>: a program has failed without.
  bool warns = false;     ///< Warnings about device code; nvcc's come with the host code, which is the same text.
  bool colours = false;   ///< in messages
  std::string macroFile;  ///< Where delayedMacros() were written; empty: there are none.
};

/// The architecture that clang-19 compiles PTX for, closest to what was asked: `sm_80`.
std::string clangArch(const CompileOptions& options);

/// The architectures that clang-19 knows, by number, in ascending order.
const std::vector<int>& clangArchitectures();

/// Whether a .cu file may see this -D or -U only after the headers that come with the language. Programs are built with
/// -DN=1024 and the like, and clang's own headers have a parameter N. Reserved names may be meant for those headers and
/// stay where they are.
bool isDelayedMacro(std::string_view preprocessorOption);

/// The delayed macros as a file to include: `#define N 1024`.
std::string delayedMacros(const CompileOptions& options);

}  // namespace ordito::frontend
