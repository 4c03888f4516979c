// Finds libcuda.so.1 at run time for programs that link libcudart_static.a, as the name "static" promises: the runtime
// is inside the program, the driver is not.
//
// Each driver function is a jump through a slot, so that arguments stay in the registers where the caller put them. The
// slots are filled before any registration code runs.
#include <dlfcn.h>

#include <cstdio>

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

void fillSlots(void* library) {
  for (const Slot& slot : kSlots) *slot.address = library != nullptr ? dlsym(library, slot.name) : nullptr;
  for (const Slot& slot : kSlots)
    if (*slot.address == nullptr) *slot.address = reinterpret_cast<void*>(noDriver);
}

/// Priority 101: before the constructors that register fat binaries.
__attribute__((constructor(101))) void loadDriver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  const bool ours = library != nullptr && dlsym(library, "orditoModuleLoadStatic") != nullptr;
  fillSlots(ours ? library : nullptr);
  if (ours) return;
  ordito_slot_orditoLastErrorMessage = reinterpret_cast<void*>(noMessage);
  ordito_slot_orditoPointerSides = reinterpret_cast<void*>(unknownSides);
  std::fprintf(stderr, "ordito: this program needs Ordito's libcuda.so.1%s; start it with `ordito run PROGRAM`\n",
               library != nullptr ? ", but another one was found first" : "");
}

}  // namespace
