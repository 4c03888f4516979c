// The subcommands. Each lives in a file of its own; main.cpp only lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ordito::cli {

/// What --gpu does: the programs that `command` starts see this GPU. One that is not known ends the command with the
/// list. Empty: nothing.
void chooseGpu(const char* command, const std::string& name);

/// What --gpus does beside --gpu: `count` devices, all like the one that `name`, or else ORDITO_GPU, means.
void chooseGpus(const char* command, const std::string& name, int64_t count);

/// The program that this process will start, and those that it starts, load our CUDA libraries.
void findOurLibraries(const std::vector<std::string>& command);

void addCheckCommand(CLI::App& app);
void addGpusCommand(CLI::App& app);
void addIsaCommand(CLI::App& app);
void addOccupancyCommand(CLI::App& app);
void addOptCommand(CLI::App& app);
void addProfileCommand(CLI::App& app);
void addRunCommand(CLI::App& app);

}  // namespace ordito::cli
