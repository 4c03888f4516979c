// Results of driver calls: names, descriptions, and the message behind the calling thread's last failure.
#pragma once

#include <string>

#include "base/error.hpp"
#include "cuda.h"

namespace ordito::driver {

/// Null for a number that is no result.
const char* resultName(CUresult result);
const char* resultText(CUresult result);

/// Keeps `error` for orditoLastErrorMessage and returns its code; CUDA_ERROR_UNKNOWN when it has none.
CUresult remember(const Error& error);
CUresult remember(CUresult result, std::string message);
const std::string& lastMessage();

/// Prints one line to stderr, "ordito: …", unless ORDITO_QUIET is set.
void tell(const std::string& message);
/// The same, but each text only once, or only the first one about a subject.
void tellOnce(const std::string& message);
void tellOnce(const std::string& subject, const std::string& message);

}  // namespace ordito::driver
