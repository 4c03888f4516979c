// What the threads of a launch tell listeners (machine/events.hpp), as text, so that the streams of two engines can be
// compared. docs/events.md promises the order of each thread's events, so each thread has a stream of its own.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ordito::test {

/// By block and thread.
using EventStreams = std::map<std::pair<uint64_t, uint32_t>, std::vector<std::string>>;

/// From here on this process listens. Once.
void listenToEvents();
/// A launch begins; `memories` are what its kernel may access: addresses are told relative to them.
void beginEvents(std::vector<std::pair<uint64_t, uint64_t>> memories);
/// What has been told since. Empty if nobody listens.
EventStreams takeEvents();

/// The differences, one per line.
std::vector<std::string> compareEvents(const EventStreams& interpreted, const EventStreams& compiled);

}  // namespace ordito::test
