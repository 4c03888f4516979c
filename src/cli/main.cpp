// The ordito command: a table of contents of its subcommands.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/check.hpp"
#include "cli/commands.hpp"
#include "cli/lab.hpp"
#include "frontend/nvcc.hpp"

int main(int argc, char** argv) {
  using namespace ordito::cli;

  // nvcc has an option syntax of its own, so its arguments go there as they are.
  if (argc > 1 && std::string(argv[1]) == "nvcc") return ordito::frontend::runNvcc({argv + 2, argv + argc});
  if (argc > 1 && std::string(argv[1]) == "lab") return runLab({argv + 2, argv + argc});
  if (argc > 1 && std::string(argv[1]) == "compute-sanitizer") return runComputeSanitizer({argv + 2, argv + argc});

  CLI::App app("CUDA without the GPU: run, profile and check CUDA programs on a CPU.", "ordito");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ordito 0.1.0");
  app.add_subcommand("nvcc", "Compile CUDA programs: takes nvcc's options (see ordito nvcc --help)");
  app.add_subcommand("lab", "The courses' programs beside their published figures (see ordito lab --help)");
  addRunCommand(app);
  addCheckCommand(app);
  addProfileCommand(app);
  addGpusCommand(app);
  addOccupancyCommand(app);
  addIsaCommand(app);
  addOptCommand(app);

  CLI11_PARSE(app, argc, argv);
  return 0;
}
