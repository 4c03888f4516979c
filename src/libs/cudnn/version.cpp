// Compiled once for each version of cuDNN (ORDITO_CUDNN_VERSION).
#include "libs/cudnn/status.hpp"

const int ordito::libs::cudnn::kVersion = ORDITO_CUDNN_VERSION;
