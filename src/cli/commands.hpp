// The subcommands. Each lives in a file of its own; main.cpp only lists them.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ordito::cli {

/// `ordito nvcc ...`, and the program under the name nvcc: takes nvcc's command line, which is not CLI11's to parse.
int runNvcc(const std::vector<std::string>& arguments);

/// What --gpu does: the programs that `command` starts see this GPU. One that is not known ends the command with the
/// list. Empty: nothing.
void chooseGpu(const char* command, const std::string& name);

void addGpusCommand(CLI::App& app);
void addIsaCommand(CLI::App& app);
void addOptCommand(CLI::App& app);
void addProfileCommand(CLI::App& app);
void addRunCommand(CLI::App& app);

}  // namespace ordito::cli
