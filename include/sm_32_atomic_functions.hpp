// Clang's CUDA wrapper includes this by name and needs nothing from it: ordito/device_functions.h has it all.
