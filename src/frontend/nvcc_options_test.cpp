// nvcc's command line: each spelling, what it becomes, and what is refused.
#include "frontend/nvcc_options.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ordito::frontend {
namespace {

using Action = NvccOptions::Action;
using Strings = std::vector<std::string>;

NvccOptions parsed(const Strings& arguments) {
  auto options = parseNvccOptions(arguments);
  EXPECT_TRUE(options) << options.error().message;
  return options ? *options : NvccOptions{};
}

std::string refusal(const Strings& arguments) {
  const auto options = parseNvccOptions(arguments);
  return options ? "" : options.error().message;
}

Strings texts(const NvccOptions& options) {
  Strings all;
  for (const auto& item : options.items) all.push_back(item.text);
  return all;
}

TEST(NvccOptions, TheUsualLine) {
  const auto options =
      parsed({"-O3", "-arch=sm_75", "-Iinc", "-I", "more", "-DN=4", "a.cu", "b.o", "-o", "prog", "-lm", "-L/lib"});
  EXPECT_EQ(options.action, Action::Link);
  EXPECT_EQ(options.optimization, "3");
  EXPECT_EQ(clangArch(options), "sm_75");
  EXPECT_EQ(options.preprocessor, (Strings{"-I", "inc", "-I", "more", "-DN=4"}));
  EXPECT_EQ(texts(options), (Strings{"a.cu", "b.o", "-lm"}));
  EXPECT_EQ(options.output, "prog");
  EXPECT_EQ(options.linker, Strings{"-L/lib"});
}

TEST(NvccOptions, OutputInEachSpelling) {
  for (const Strings& spelling : {Strings{"-o", "p"}, Strings{"-op"}, Strings{"-o=p"}, Strings{"--output-file", "p"},
                                  Strings{"--output-file=p"}}) {
    EXPECT_EQ(parsed(spelling).output, "p") << spelling[0];
  }
}

TEST(NvccOptions, OptimizationInEachSpelling) {
  EXPECT_EQ(parsed({"-O2"}).optimization, "2");
  EXPECT_EQ(parsed({"--optimize", "1"}).optimization, "1");
  EXPECT_EQ(parsed({"--optimize=0"}).optimization, "0");
  const auto bare = parsed({"-O", "a.cu"});
  EXPECT_EQ(bare.optimization, "2");
  EXPECT_EQ(texts(bare), Strings{"a.cu"});
}

TEST(NvccOptions, ArchitectureInEachSpelling) {
  EXPECT_EQ(clangArch(parsed({})), "sm_80");
  EXPECT_EQ(clangArch(parsed({"-arch", "sm_61"})), "sm_61");
  EXPECT_EQ(clangArch(parsed({"--gpu-architecture=sm_86"})), "sm_86");
  EXPECT_EQ(clangArch(parsed({"-gencode", "arch=compute_70,code=sm_70"})), "sm_70");
  EXPECT_EQ(clangArch(parsed({"-gencode=arch=compute_60,code=\"sm_60,compute_60\"", "--generate-code",
                              "arch=compute_75,code=sm_75"})),
            "sm_75");
  EXPECT_EQ(clangArch(parsed({"-gencode", "arch=compute_80,code=[sm_80,compute_80]"})), "sm_80");
  EXPECT_EQ(clangArch(parsed({"-arch=native"})), "sm_80");
  EXPECT_EQ(clangArch(parsed({"-arch=sm_90a"})), "sm_90a");
}

TEST(NvccOptions, ArchitecturesThatClangLacksBecomeTheClosest) {
  EXPECT_EQ(clangArch(parsed({"-arch=sm_20"})), "sm_50");
  EXPECT_EQ(clangArch(parsed({"-arch=sm_88"})), "sm_87");
  EXPECT_EQ(clangArch(parsed({"-arch=sm_120"})), "sm_90");
  EXPECT_NE(refusal({"-arch=gfx90a"}).find("gfx90a"), std::string::npos);
}

TEST(NvccOptions, WhatToMake) {
  EXPECT_EQ(parsed({"-c"}).action, Action::Compile);
  EXPECT_EQ(parsed({"--compile"}).action, Action::Compile);
  EXPECT_EQ(parsed({"-ptx"}).action, Action::Ptx);
  EXPECT_EQ(parsed({"--ptx"}).action, Action::Ptx);
  EXPECT_EQ(parsed({"-fatbin"}).action, Action::Fatbin);
  EXPECT_EQ(parsed({"-E"}).action, Action::Preprocess);
  EXPECT_EQ(parsed({"-M"}).action, Action::Dependencies);
  EXPECT_EQ(parsed({"-dlink"}).action, Action::DeviceLink);
  EXPECT_EQ(parsed({"-lib"}).action, Action::Archive);
  EXPECT_EQ(parsed({"--version"}).action, Action::Version);
  EXPECT_EQ(parsed({"-V"}).action, Action::Version);
  const auto device = parsed({"-dc"});
  EXPECT_EQ(device.action, Action::Compile);
  EXPECT_TRUE(device.relocatable);
}

TEST(NvccOptions, DependencyFiles) {
  const auto options = parsed({"-MD", "-MF", "a.d", "-MT", "a.o", "-c", "a.cu"});
  EXPECT_EQ(options.action, Action::Compile);
  EXPECT_EQ(options.dependencyMode, "MD");
  EXPECT_EQ(options.dependencyFile, "a.d");
  EXPECT_EQ(options.dependencyTargets, Strings{"a.o"});
}

TEST(NvccOptions, FloatingPoint) {
  EXPECT_TRUE(parsed({}).contract);
  EXPECT_FALSE(parsed({"-fmad=false"}).contract);
  EXPECT_FALSE(parsed({"--fmad", "false"}).contract);
  EXPECT_TRUE(parsed({"-ftz=true"}).flushToZero);
  EXPECT_FALSE(parsed({"-prec-div=false"}).preciseDivision);
  EXPECT_FALSE(parsed({"--prec-sqrt=false"}).preciseSqrt);
  for (const char* spelling : {"-use_fast_math", "--use_fast_math"}) {
    const auto fast = parsed({spelling});
    EXPECT_TRUE(fast.fastMath && fast.flushToZero && fast.contract);
    EXPECT_FALSE(fast.preciseDivision || fast.preciseSqrt);
  }
  EXPECT_NE(refusal({"-ftz=maybe"}).find("maybe"), std::string::npos);
}

TEST(NvccOptions, HostCompilerOptionsAreListsAndWords) {
  const auto options =
      parsed({"-Xcompiler", "-Wall,-Wextra", "-Xcompiler=-fopenmp", "--compiler-options", "-O1 -fPIC"});
  EXPECT_EQ(options.host, (Strings{"-Wall", "-Wextra", "-fopenmp", "-O1", "-fPIC"}));
  EXPECT_EQ(parsed({"-Xcompiler", "-DA=1,-march=native"}).preprocessor, Strings{"-DA=1"});
  EXPECT_EQ(parsed({"-Xcompiler", "-Wl\\,-rpath\\,/x"}).host, Strings{"-Wl,-rpath,/x"});
}

TEST(NvccOptions, LinkerOptionsKeepTheirPlace) {
  EXPECT_EQ(texts(parsed({"a.o", "-Xlinker", "--start-group,b.a", "-lz", "c.o"})),
            (Strings{"a.o", "-Xlinker", "--start-group", "-Xlinker", "b.a", "-lz", "c.o"}));
}

TEST(NvccOptions, DefinitionsWithCommas) {
  EXPECT_EQ(parsed({"-D", "A,B=2"}).preprocessor, (Strings{"-DA", "-DB=2"}));
  EXPECT_EQ(parsed({"-DF(a,b)=a"}).preprocessor, Strings{"-DF(a,b)=a"});
}

TEST(NvccOptions, Streams) {
  EXPECT_TRUE(parsed({"-default-stream", "per-thread"}).perThreadStream);
  EXPECT_FALSE(parsed({"--default-stream=legacy"}).perThreadStream);
  EXPECT_FALSE(refusal({"-default-stream=mine"}).empty());
}

TEST(NvccOptions, AcceptedWithoutEffectAreNoted) {
  for (const Strings& option :
       {Strings{"-lineinfo"}, Strings{"-Xptxas", "-O1"}, Strings{"-maxrregcount=32"}, Strings{"-maxrregcount", "32"},
        Strings{"--ptxas-options=-v,-O3"}, Strings{"-ccbin", "g++"}, Strings{"-cudart", "static"},
        Strings{"-code=sm_80"}, Strings{"-t4"}, Strings{"-dlto"}, Strings{"-m64"}, Strings{"-Xfatbin", "-compress-all"},
        Strings{"-Xfatbin=-compress-all"}}) {
    EXPECT_EQ(parsed(option).notes.size(), 1u) << option[0];
  }
}

TEST(NvccOptions, WhatKernelsTake) {
  for (const Strings& option : {Strings{"-Xptxas", "-v"}, Strings{"--ptxas-options=-O3,-v"}, Strings{"-res-usage"},
                                Strings{"--resource-usage"}, Strings{"-Xptxas=--verbose"}})
    EXPECT_TRUE(parsed(option).resourceUsage) << option[0];
  EXPECT_FALSE(parsed({"-Xptxas", "-O3"}).resourceUsage);
  EXPECT_EQ(parsed({"-time", "phases.csv"}).timeFile, "phases.csv");
}

TEST(NvccOptions, WhatCannotBeHonouredIsRefusedByName) {
  for (const char* option : {"-ltoir", "-optix-ir", "-m32", "-cuda", "-hls=gen-lcs", "-astoolspatch"}) {
    EXPECT_NE(refusal({option, "a.cu"}).find(option), std::string::npos) << option;
  }
  EXPECT_NE(refusal({"-Wall"}).find("-Xcompiler"), std::string::npos);
  EXPECT_NE(refusal({"--machine", "32"}).find("64-bit"), std::string::npos);
  EXPECT_FALSE(refusal({"-o"}).empty());
  EXPECT_FALSE(refusal({"-c=1"}).empty());
}

/// The names that `nvcc --help` of CUDA 11 to 13 documents, long and short.
constexpr const char* kDocumented[] = {"cuda",
                                       "cubin",
                                       "fatbin",
                                       "ptx",
                                       "optix-ir",
                                       "ltoir",
                                       "preprocess",
                                       "E",
                                       "generate-dependencies",
                                       "M",
                                       "generate-nonsystem-dependencies",
                                       "MM",
                                       "generate-dependencies-with-compile",
                                       "MD",
                                       "generate-nonsystem-dependencies-with-compile",
                                       "MMD",
                                       "dependency-output",
                                       "MF",
                                       "generate-dependency-targets",
                                       "MP",
                                       "compile",
                                       "c",
                                       "device-c",
                                       "dc",
                                       "device-w",
                                       "dw",
                                       "device-link",
                                       "dlink",
                                       "link",
                                       "lib",
                                       "run",
                                       "output-file",
                                       "o",
                                       "pre-include",
                                       "include",
                                       "objdir-as-tempdir",
                                       "objtemp",
                                       "library",
                                       "l",
                                       "define-macro",
                                       "D",
                                       "undefine-macro",
                                       "U",
                                       "include-path",
                                       "I",
                                       "system-include",
                                       "isystem",
                                       "library-path",
                                       "L",
                                       "output-directory",
                                       "odir",
                                       "compiler-bindir",
                                       "ccbin",
                                       "allow-unsupported-compiler",
                                       "archiver-binary",
                                       "arbin",
                                       "cudart",
                                       "cudadevrt",
                                       "libdevice-directory",
                                       "ldir",
                                       "target-directory",
                                       "target-dir",
                                       "use-local-env",
                                       "force-cl-env-setup",
                                       "profile",
                                       "pg",
                                       "debug",
                                       "g",
                                       "device-debug",
                                       "G",
                                       "generate-line-info",
                                       "lineinfo",
                                       "optimization-info",
                                       "opt-info",
                                       "optimize",
                                       "O",
                                       "Ofast-compile",
                                       "Ofc",
                                       "dopt",
                                       "dlink-time-opt",
                                       "dlto",
                                       "lto",
                                       "gen-opt-lto",
                                       "ftemplate-backtrace-limit",
                                       "ftemplate-depth",
                                       "no-exceptions",
                                       "noeh",
                                       "shared",
                                       "x",
                                       "std",
                                       "no-host-device-initializer-list",
                                       "nohdinitlist",
                                       "no-host-device-move-forward",
                                       "nohdmoveforward",
                                       "expt-relaxed-constexpr",
                                       "extended-lambda",
                                       "expt-extended-lambda",
                                       "machine",
                                       "m",
                                       "m64",
                                       "m32",
                                       "compiler-options",
                                       "Xcompiler",
                                       "linker-options",
                                       "Xlinker",
                                       "archive-options",
                                       "Xarchive",
                                       "ptxas-options",
                                       "Xptxas",
                                       "nvlink-options",
                                       "Xnvlink",
                                       "static-global-template-stub",
                                       "device-entity-has-hidden-visibility",
                                       "forward-unknown-to-host-compiler",
                                       "forward-unknown-to-host-linker",
                                       "forward-unknown-opts",
                                       "dont-use-profile",
                                       "noprof",
                                       "dryrun",
                                       "verbose",
                                       "v",
                                       "threads",
                                       "t",
                                       "split-compile",
                                       "split-compile-extended",
                                       "fdevice-syntax-only",
                                       "fdevice-time-trace",
                                       "keep",
                                       "keep-dir",
                                       "save-temps",
                                       "clean-targets",
                                       "clean",
                                       "time",
                                       "run-args",
                                       "input-drive-prefix",
                                       "idp",
                                       "dependency-drive-prefix",
                                       "ddp",
                                       "drive-prefix",
                                       "dp",
                                       "dependency-target-name",
                                       "MT",
                                       "no-align-double",
                                       "no-device-link",
                                       "nodlink",
                                       "gpu-architecture",
                                       "arch",
                                       "gpu-code",
                                       "code",
                                       "generate-code",
                                       "gencode",
                                       "relocatable-device-code",
                                       "rdc",
                                       "entries",
                                       "e",
                                       "maxrregcount",
                                       "use_fast_math",
                                       "ftz",
                                       "prec-div",
                                       "prec-sqrt",
                                       "fmad",
                                       "extra-device-vectorization",
                                       "default-stream",
                                       "disable-warnings",
                                       "w",
                                       "keep-device-functions",
                                       "source-in-ptx",
                                       "src-in-ptx",
                                       "restrict",
                                       "Wreorder",
                                       "Wdefault-stream-launch",
                                       "Wmissing-launch-bounds",
                                       "Wext-lambda-captures-this",
                                       "Wno-deprecated-declarations",
                                       "Wno-deprecated-gpu-targets",
                                       "Werror",
                                       "resource-usage",
                                       "res-usage",
                                       "extensible-whole-program",
                                       "ewp",
                                       "no-compress",
                                       "qpp-config",
                                       "compile-as-tools-patch",
                                       "astoolspatch",
                                       "list-gpu-code",
                                       "code-ls",
                                       "list-gpu-arch",
                                       "arch-ls",
                                       "display-error-number",
                                       "err-no",
                                       "no-display-error-number",
                                       "no-err-no",
                                       "diag-error",
                                       "diag-suppress",
                                       "diag-warn",
                                       "host-linker-script",
                                       "hls",
                                       "augment-host-linker-script",
                                       "aug-hls",
                                       "relocatable-link",
                                       "r",
                                       "brief-diagnostics",
                                       "brief-diag",
                                       "jump-table-density",
                                       "jtd",
                                       "relocatable-ptx",
                                       "reloc-ptx",
                                       "device-stack-protector",
                                       "compress-mode",
                                       "frandom-seed",
                                       "sanitize",
                                       "jobserver",
                                       "help",
                                       "h",
                                       "version",
                                       "V",
                                       "options-file",
                                       "optf"};

TEST(NvccOptions, EveryDocumentedOptionIsKnown) {
  for (const char* name : kDocumented) {
    for (const std::string dashes : {"-", "--"}) {
      // The value suits none, so some are refused for it; but by name.
      const std::string message = refusal({dashes + name, "value"});
      EXPECT_EQ(message.find("no such option"), std::string::npos) << message;
    }
  }
}

TEST(NvccOptions, WhatIsLeftAfterCompiling) {
  const auto options = parsed({"--keep", "--keep-dir", "kept", "-run", "a.cu", "--run-args", "x,y", "-run-args=z"});
  EXPECT_TRUE(options.keep && options.run && !options.clean);
  EXPECT_EQ(options.keepFolder, "kept");
  EXPECT_EQ(options.runArguments, (Strings{"x", "y", "z"}));
  EXPECT_TRUE(parsed({"-clean", "a.cu"}).clean);
  EXPECT_TRUE(parsed({"-save-temps"}).keep);
}

TEST(NvccOptions, ListsOfArchitectures) {
  EXPECT_EQ(parsed({"--list-gpu-arch"}).action, Action::ListGpus);
  EXPECT_TRUE(gpuList(parsed({"--list-gpu-arch"})).starts_with("compute_50\n"));
  EXPECT_TRUE(gpuList(parsed({"-code-ls"})).starts_with("sm_50\n"));
  EXPECT_TRUE(gpuList(parsed({"-arch-ls", "-code-ls"})).ends_with("arch=compute_90,code=sm_90\n"));
}

TEST(NvccOptions, UnknownOptionsCanBeForwarded) {
  EXPECT_EQ(parsed({"-Wall", "--forward-unknown-to-host-compiler"}).host, Strings{"-Wall"});
}

TEST(NvccOptions, MacrosOfTheUsersWaitForTheLanguagesHeaders) {
  EXPECT_TRUE(isDelayedMacro("-DN=4"));
  EXPECT_TRUE(isDelayedMacro("-UN"));
  EXPECT_FALSE(isDelayedMacro("-D_GNU_SOURCE"));
  EXPECT_FALSE(isDelayedMacro("-DNDEBUG"));
  EXPECT_FALSE(isDelayedMacro("-DCUDA_NO_HALF"));
  EXPECT_FALSE(isDelayedMacro("-Iinc"));
  EXPECT_EQ(delayedMacros(parsed({"-DN=4", "-DX", "-D_Y", "-UX", "-DF(a,b)=a"})),
            "#define N 4\n#define X 1\n#undef X\n#define F(a,b) a\n");
}

TEST(NvccOptions, OptionFiles) {
  const auto path = (std::filesystem::temp_directory_path() / "ordito_options_test.txt").string();
  std::ofstream(path) << "-O3 -D'NAME=\"a b\"'\n-arch=sm_70\n";
  const auto options = parsed({"--options-file", path, "a.cu"});
  EXPECT_EQ(options.optimization, "3");
  EXPECT_EQ(options.preprocessor, Strings{"-DNAME=\"a b\""});
  EXPECT_EQ(clangArch(options), "sm_70");
  std::ofstream(path) << "-optf " << path;
  EXPECT_FALSE(refusal({"-optf", path}).empty());
  std::remove(path.c_str());
  EXPECT_NE(refusal({"-optf", path}).find(path), std::string::npos);
}

}  // namespace
}  // namespace ordito::frontend
