// `ordito run [--gpu NAME] [--gpus N] [--fidelity] [--timeline F] prog args...`: runs an executable with our CUDA
// libraries, however it was built.
//
// Programs that nvcc linked have no path to any CUDA library, so the loader is told where ours are. The program
// replaces this process: its exit status, its signals and its terminal are its own; unless there is a report to make
// when it has ended.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "cli/fidelity.hpp"
#include "cli/program.hpp"
#include "cli/python_environment.hpp"
#include "fidelity/kind.hpp"
#include "frontend/prefix.hpp"

namespace ordito::cli {
namespace {

[[noreturn]] void replaceBy(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  fmt::print(stderr, "ordito run: {}: {}\n", command[0], error == ENOENT ? "no such program" : std::strerror(error));
  // As a shell answers: 127 not found, 126 found and not runnable.
  std::exit(error == ENOENT ? 127 : 126);
}

/// A tool that the program has chosen for NVTX stays its tool.
void recordTimeline(const std::string& path) {
  setenv("ORDITO_TIMELINE", path.c_str(), 1);
  setenv("NVTX_INJECTION64_PATH", (frontend::toolkitFolder() / "lib64" / "libcuda.so.1").c_str(), 0);
}

}  // namespace

void findOurLibraries(const std::vector<std::string>& command) {
  const std::string folder = (frontend::toolkitFolder() / "lib64").string();
  const char* old = std::getenv("LD_LIBRARY_PATH");
  setenv("LD_LIBRARY_PATH", old && *old ? fmt::format("{}:{}", folder, old).c_str() : folder.c_str(), 1);
  if (mayRunPython(command)) preparePython();
}

void addRunCommand(CLI::App& app) {
  struct Options {
    std::string gpu;
    std::optional<int64_t> gpus;
    FidelityOptions fidelity;
    std::string timeline;
    std::optional<unsigned> kernelTimeout, hangTimeout;
  };
  auto options = std::make_shared<Options>();
  CLI::App* run = app.add_subcommand("run", "Run a program with Ordito's CUDA libraries");
  run->add_option("--gpu", options->gpu,
                  "The GPU to show to the program (see ordito gpus); several with commas between them");
  run->add_option("--gpus", options->gpus, "How many devices like that GPU to show");
  run->add_flag("--fidelity", options->fidelity.wanted,
                "Afterwards, say which executed instructions gave a GPU's very bits, and which need not");
  run->add_option("--fidelity-json", options->fidelity.json, "Write that report to a file, as JSON");
  run->add_option("--fail-on", options->fidelity.failOn,
                  "End with status 3 if an instruction of one of these kinds ran: " + fidelity::allKinds())
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_option("--timeline", options->timeline,
                  "Write when each operation of each stream and each range of NVTX began and ended to a file, as trace "
                  "viewers read "
                  "it (JSON)");
  run->add_option("--kernel-timeout", options->kernelTimeout, "Stop a kernel after so many seconds (default: never)");
  run->add_option("--hang-timeout", options->hangTimeout,
                  "Stop kernels that for so many seconds only wait (default: never)");
  // From the program's name on, everything is the program's.
  run->prefix_command();
  run->callback([run, options] {
    const std::vector<std::string> command = programBehind(*run);
    findOurLibraries(command);
    if (options->gpus) {
      chooseGpus("run", options->gpu, *options->gpus);
    } else {
      chooseGpu("run", options->gpu);
    }
    limitKernels(options->kernelTimeout, options->hangTimeout);
    if (!options->timeline.empty()) recordTimeline(options->timeline);
    const FidelityOptions& f = options->fidelity;
    if (f.wanted || !f.json.empty() || !f.failOn.empty()) std::exit(runWithFidelity(f, command));
    replaceBy(command);
  });
}

}  // namespace ordito::cli
