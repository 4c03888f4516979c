// The courses' examples: what is issued, in which order, to which device.
#pragma once

#include "simulator.hpp"

namespace queues {

inline Operation copyIn(const std::string& name, int stream) { return {name, stream, Kind::toDevice, 1, 0}; }
inline Operation copyOut(const std::string& name, int stream) { return {name, stream, Kind::toHost, 1, 0}; }
inline Operation kernel(const std::string& name, int stream, int duration = 1, double share = 1.0 / 64) {
  return {name, stream, Kind::kernel, duration, share};
}

/// Stream 1: two copies in, a kernel, a copy out. Stream 2: a copy out.
inline std::vector<Operations> exampleA() {
  return {{copyIn("HD1", 1), copyIn("HD2", 1), kernel("K1", 1), copyOut("DH1", 1)}, {copyOut("DH2", 2)}};
}

/// Two streams of two kernels each, of which each takes half of the device.
inline std::vector<Operations> exampleC() {
  return {{kernel("K1", 1, 1, 0.5), kernel("K2", 1, 1, 0.5)}, {kernel("K3", 2, 1, 0.5), kernel("K4", 2, 1, 0.5)}};
}

/// The same, K1 and K4 twice as long.
inline std::vector<Operations> exampleD() {
  return {{kernel("K1", 1, 2, 0.5), kernel("K2", 1, 1, 0.5)}, {kernel("K3", 2, 1, 0.5), kernel("K4", 2, 2, 0.5)}};
}

/// Three streams: in, a kernel of the whole device, out.
inline std::vector<Operations> exampleE() {
  std::vector<Operations> streams;
  for (int s = 1; s <= 3; ++s) {
    const std::string number = std::to_string(s);
    streams.push_back({copyIn("HD" + number, s), kernel("K" + number, s, 1, 1), copyOut("DH" + number, s)});
  }
  return streams;
}

/// Four chunks, each copied in, worked on by all of the device and copied out, issued step by step.
inline Operations fourChunks(bool inOneStream, bool isPinned) {
  Operations all;
  for (const Kind kind : {Kind::toDevice, Kind::kernel, Kind::toHost}) {
    for (int chunk = 1; chunk <= 4; ++chunk) {
      const char* name = kind == Kind::toDevice ? "HD" : kind == Kind::kernel ? "K" : "DH";
      all.push_back({name + std::to_string(chunk), inOneStream ? 1 : chunk, kind, 1, 1});
      all.back().isAlone = !isPinned && kind != Kind::kernel;
    }
  }
  return all;
}

/// Chunks of which each has two arrays copied in and one out, in one stream or step by step in two.
inline Operations manyChunks(int chunks, int streams) {
  Operations all;
  for (int first = 0; first < chunks; first += streams) {
    for (const Kind kind : {Kind::toDevice, Kind::toDevice, Kind::kernel, Kind::toHost}) {
      for (int chunk = first; chunk < std::min(first + streams, chunks); ++chunk) {
        all.push_back({"", chunk % streams, kind, 1, 1});
      }
    }
  }
  return all;
}

/// Nine small kernels in three streams.
inline std::vector<Operations> nineKernels() {
  std::vector<Operations> streams;
  int stream = 0;
  for (const char* names : {"ABC", "PQR", "XYZ"}) {
    Operations of;
    for (const char* name = names; *name != '\0'; ++name) of.push_back(kernel(std::string(1, *name), stream));
    streams.push_back(of);
    ++stream;
  }
  return streams;
}

/// In each of n streams kernel A, then kernel B.
inline std::vector<Operations> pairs(int n) {
  std::vector<Operations> streams;
  for (int s = 0; s < n; ++s) {
    streams.push_back({kernel("A" + std::to_string(s), s), kernel("B" + std::to_string(s), s)});
  }
  return streams;
}

/// One small kernel in each of n streams, small enough for all to run at once.
inline std::vector<Operations> singles(int n) {
  std::vector<Operations> streams;
  for (int s = 0; s < n; ++s) streams.push_back({kernel("K" + std::to_string(s), s)});
  return streams;
}

/// One stream after the other.
inline Operations depthFirst(const std::vector<Operations>& streams) {
  Operations order;
  for (const Operations& stream : streams) order.insert(order.end(), stream.begin(), stream.end());
  return order;
}

/// The first operation of every stream, then the second.
inline Operations breadthFirst(const std::vector<Operations>& streams) {
  Operations order;
  for (std::size_t step = 0;; ++step) {
    const std::size_t before = order.size();
    for (const Operations& stream : streams) {
      if (step < stream.size()) order.push_back(stream[step]);
    }
    if (order.size() == before) return order;
  }
}

/// The operations in the order of these names.
inline Operations inOrder(const std::vector<Operations>& streams, const std::vector<std::string>& names) {
  const Operations all = depthFirst(streams);
  Operations order;
  for (const std::string& name : names) {
    order.push_back(*std::find_if(all.begin(), all.end(), [&](const Operation& each) { return each.name == name; }));
  }
  return order;
}

}  // namespace queues
