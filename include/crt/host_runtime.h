// Clang's CUDA wrapper includes this by name. `ordito nvcc` has it leave a note in each object: where our libraries
// are. The static runtime looks for the driver there, for no run path is linked with it.
#ifdef __ORDITO_LIBRARY_FOLDER__
extern "C" __attribute__((weak)) const char __ordito_library_folder[] = __ORDITO_LIBRARY_FOLDER__;
#endif
