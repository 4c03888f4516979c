// A stand-in for ptxas, for people who call clang with --cuda-path set to our toolkit folder: clang insists on running
// it between its own PTX and the fat binary. There is no machine code to make, so the "assembled" file is the PTX
// itself.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  std::string output;
  std::string input;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool takesValue =
        argument == "--output-file" || argument == "-o" || argument == "--gpu-name" || argument == "-arch";
    if (takesValue && i + 1 < argc) {
      ++i;
      if (argument == "--output-file" || argument == "-o") output = argv[i];
    } else if (!argument.starts_with("-")) {
      input = argument;
    }
  }
  if (input.empty() || output.empty()) {
    std::fprintf(stderr, "ptxas (Ordito): usage: ptxas file.ptx -o file.cubin\n");
    return 1;
  }
  std::error_code error;
  std::filesystem::copy_file(input, output, std::filesystem::copy_options::overwrite_existing, error);
  if (error)
    std::fprintf(stderr, "ptxas (Ordito): %s to %s: %s\n", input.c_str(), output.c_str(), error.message().c_str());
  return error ? 1 : 0;
}
