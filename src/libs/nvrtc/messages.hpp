// What the compiler says, in the form of NVRTC's log. Programs read it: some find the headers that they are to bring by
// what could not be opened.
#pragma once

#include <string>
#include <string_view>

namespace ordito::nvrtc {

/// clang's `k.cu:3:10: error: …` as `k.cu(3): error: …`, and what programs look for in NVIDIA's words. The lines of the
/// source that clang shows stay.
std::string asNvrtcs(std::string_view clangs, std::string_view program);

}  // namespace ordito::nvrtc
