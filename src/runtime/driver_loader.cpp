// Finds libcuda.so.1 at run time for programs that link libcudart_static.a, as the name "static" promises: the runtime
// is inside the program, the driver is not.
//
// Each driver function is a jump through a slot, so that arguments stay in the registers where the caller put them. The
// slots are filled before any registration code runs.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

// A slot for each function, and the function itself: one jump.
#define DRIVER_CALL(name)                                                                                              \
  extern "C" __attribute__((visibility("hidden"))) void* ordito_slot_##name;                                           \
  void* ordito_slot_##name;                                                                                            \
  __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ": jmp *ordito_slot_" #name \
          "(%rip)\n");
#include "runtime/driver_calls.def"

namespace {

struct Slot {
  const char* name;
  void** address;
};

const Slot kSlots[] = {
#define DRIVER_CALL(name) {#name, &ordito_slot_##name},
#include "runtime/driver_calls.def"
};

constexpr int kInsufficientDriver = 35;

/// What every driver call answers when there is no driver.
int noDriver() { return kInsufficientDriver; }
const char* noMessage() { return ""; }
int unknownSides(const void*) { return 1; }
void tellNothing(const char*, const char*) {}
void noteNothing() {}
int explainsNothing() { return 0; }

void fillSlots(void* library) {
  for (const Slot& slot : kSlots) *slot.address = library != nullptr ? dlsym(library, slot.name) : nullptr;
  for (const Slot& slot : kSlots)
    if (*slot.address == nullptr) *slot.address = reinterpret_cast<void*>(noDriver);
}

/// Left by `ordito nvcc` in the objects that it compiles (include/crt/host_runtime.h); null if there is none.
extern "C" __attribute__((weak)) const char __ordito_library_folder[];

bool isOurs(void* library) { return library != nullptr && dlsym(library, "orditoModuleLoadStatic") != nullptr; }

/// The library if it is there and ours.
void* openOurs(const std::string& path, bool& another) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  another |= !isOurs(library);
  void* const result = isOurs(library) ? dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) : nullptr;
  dlclose(library);
  return result;
}

/// The library beside the commands that PATH has: <prefix>/bin/ordito, <prefix>/cuda/bin/nvcc.
void* openBesideCommands(bool& another) {
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "";
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string folder = folders.substr(at, end - at);
    for (const auto& [command, libraries] : {std::pair{"/ordito", "/../cuda/lib64"}, std::pair{"/nvcc", "/../lib64"}}) {
      char* const real = realpath((folder + command).c_str(), nullptr);
      if (real == nullptr) continue;
      const std::string beside(real, std::string(real).rfind('/'));
      std::free(real);
      if (void* const library = openOurs(beside + libraries + "/libcuda.so.1", another)) return library;
    }
    at = end + 1;
  }
  return nullptr;
}

/// What the dynamic linker finds comes first: it is what the user says.
void* openDriver(bool& another) {
  if (void* const library = openOurs("libcuda.so.1", another)) return library;
  if (__ordito_library_folder != nullptr)
    if (void* const library = openOurs(std::string(__ordito_library_folder) + "/libcuda.so.1", another)) return library;
  return openBesideCommands(another);
}

/// Priority 101: before the constructors that register fat binaries.
__attribute__((constructor(101))) void loadDriver() {
  bool another = false;
  void* const library = openDriver(another);
  fillSlots(library);
  if (library != nullptr) return;
  ordito_slot_orditoLastErrorMessage = reinterpret_cast<void*>(noMessage);
  ordito_slot_orditoPointerSides = reinterpret_cast<void*>(unknownSides);
  ordito_slot_orditoTellOnce = reinterpret_cast<void*>(tellNothing);
  ordito_slot_orditoNoteErrorRead = reinterpret_cast<void*>(noteNothing);
  ordito_slot_orditoNoteFailedCall = reinterpret_cast<void*>(noteNothing);
  ordito_slot_orditoExplainsAll = reinterpret_cast<void*>(explainsNothing);
  std::fprintf(stderr, "ordito: this program needs Ordito's libcuda.so.1%s; start it with `ordito run PROGRAM`\n",
               another ? ", but another one was found first" : "");
}

}  // namespace
