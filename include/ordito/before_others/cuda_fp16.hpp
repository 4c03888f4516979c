// Stands before a header of this name in a folder that a program names: see libs/nvrtc/program.cpp.
#include "../../cuda_fp16.hpp"
