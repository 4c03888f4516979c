// bin2c, which builds call to put a file, often a fat binary for callbacks or for a module, into a C array.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kUsage =
    "Usage: bin2c [options] FILE\n"
    "Writes the bytes of FILE as a C array to standard output.\n"
    "  -n, --name NAME        the array's name (imageBytes)\n"
    "  -t, --type TYPE        char (the default), short, int or longlong\n"
    "  -p, --padd B[,B...]    bytes behind the file's\n"
    "  -c, --const            the array is constant\n"
    "  -st, --static          the array is static\n"
    "  -l, --length           also write its length in bytes, as NAME_length\n"
    "  -a, --alignment BYTES  the array's alignment\n"
    "  -s, --section NAME     the section in which it lies\n"
    "  -stdint                uint64_t for longlong\n";

struct Type {
  std::string_view name, c, suffix;
  size_t bytes;
};
constexpr Type kTypes[] = {{"char", "unsigned char", "", 1},
                           {"short", "unsigned short", "", 2},
                           {"int", "unsigned int", "", 4},
                           {"longlong", "unsigned long long", "ULL", 8}};

struct Request {
  std::string file, name = "imageBytes", section;
  Type type = kTypes[0];
  std::string padding;
  unsigned long alignment = 1;
  bool isConst = false, isStatic = false, hasLength = false, isStdint = false;
};

[[noreturn]] void fail(const std::string& text) {
  std::cerr << "bin2c: " << text << "\n" << kUsage;
  std::exit(1);
}

/// An option may have one or two hyphens, and its value behind a space or an equals sign.
class Arguments {
 public:
  Arguments(int count, char** values) : rest_(values + 1, values + count) {}
  bool isEmpty() const { return at_ == rest_.size(); }
  std::string next() { return rest_[at_++]; }
  std::string value(const std::string& option) {
    if (isEmpty()) fail(option + " needs a value");
    return next();
  }
  /// `--name=x` becomes `--name x`.
  void split(size_t equals) {
    const std::string option = rest_[at_ - 1];
    rest_.insert(rest_.begin() + static_cast<std::ptrdiff_t>(at_), option.substr(equals + 1));
  }

 private:
  std::vector<std::string> rest_;
  size_t at_ = 0;
};

Type typeCalled(const std::string& name) {
  for (const Type& type : kTypes)
    if (type.name == name) return type;
  fail("there is no type " + name);
}

std::string bytesOf(const std::string& list) {
  std::string bytes;
  const char* at = list.c_str();
  while (*at) {
    char* end = nullptr;
    const unsigned long byte = std::strtoul(at, &end, 0);
    if (end == at || byte > 255 || (*end && *end != ',')) fail("--padd wants bytes: " + list);
    bytes += static_cast<char>(byte);
    at = *end ? end + 1 : end;
  }
  return bytes;
}

void readOption(const std::string& option, Arguments& arguments, Request& request) {
  const std::string name = option.substr(option.starts_with("--") ? 2 : 1);
  if (name == "name" || name == "n")
    request.name = arguments.value(option);
  else if (name == "type" || name == "t")
    request.type = typeCalled(arguments.value(option));
  else if (name == "padd" || name == "p")
    request.padding = bytesOf(arguments.value(option));
  else if (name == "section" || name == "s")
    request.section = arguments.value(option);
  else if (name == "alignment" || name == "a")
    request.alignment = std::strtoul(arguments.value(option).c_str(), nullptr, 0);
  else if (name == "const" || name == "c")
    request.isConst = true;
  else if (name == "static" || name == "st")
    request.isStatic = true;
  else if (name == "length" || name == "l")
    request.hasLength = true;
  else if (name == "stdint" || name == "nvint")
    request.isStdint = true;
  else
    fail("there is no option " + option);
}

Request read(Arguments arguments) {
  Request request;
  while (!arguments.isEmpty()) {
    std::string argument = arguments.next();
    if (argument == "-h" || argument == "--help") {
      std::cout << kUsage;
      std::exit(0);
    }
    if (argument.size() < 2 || argument[0] != '-') {
      if (!request.file.empty()) fail("more than one file");
      request.file = argument;
      continue;
    }
    if (const size_t equals = argument.find('='); equals != std::string::npos) {
      arguments.split(equals);
      argument.resize(equals);
    }
    readOption(argument, arguments, request);
  }
  if (request.file.empty()) fail("which file?");
  return request;
}

std::string contents(const Request& request) {
  std::ifstream file(request.file, std::ios::binary);
  if (!file) fail("cannot read " + request.file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One element, of up to `bytes` bytes, least first as on every machine with a GPU.
std::string element(std::string_view bytes, const Type& type) {
  unsigned long long number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * type.bytes), number);
  return text + std::string(type.suffix);
}

void write(const Request& request, const std::string& bytes) {
  const bool isStdint = request.isStdint && request.type.bytes == 8;
  if (isStdint) std::cout << "#include <stdint.h>\n";
  std::cout << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  const std::string opening = std::string(request.isStatic ? "static " : "") + (request.isConst ? "const " : "");
  if (request.hasLength)
    std::cout << opening << "unsigned long long " << request.name << "_length = " << bytes.size() << "ULL;\n";
  if (request.alignment > 1) std::cout << "__attribute__((aligned(" << request.alignment << "))) ";
  if (!request.section.empty()) std::cout << "__attribute__((section(\"" << request.section << "\"))) ";
  std::cout << opening << (isStdint ? "uint64_t" : request.type.c) << " " << request.name << "[] = {\n";
  const size_t step = request.type.bytes, inLine = 16 / step;
  for (size_t i = 0; i < bytes.size(); i += step)
    std::cout << element(std::string_view(bytes).substr(i, step), request.type)
              << (i + step >= bytes.size()          ? "\n"
                  : i / step % inLine == inLine - 1 ? ",\n"
                                                    : ",");
  std::cout << "};\n\n#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace

int main(int count, char** values) {
  const Request request = read(Arguments(count, values));
  const std::string bytes = contents(request) + request.padding;
  // C has no arrays without elements.
  write(request, bytes.empty() ? std::string(1, '\0') : bytes);
  return std::cout.flush() ? 0 : 1;
}
