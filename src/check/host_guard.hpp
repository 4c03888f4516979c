// Sees the host touch memory that an operation of the device may still use: such pages are taken away from the process
// until the host has waited. The page fault of a touch is written down, the page is given back, and the program goes
// on.
//
// While an operation runs all pages are there, since it works in the same process; the host is held meanwhile
// (Listener::holdsHost). The handler runs at any instruction, so it takes no lock and no memory.
#pragma once

#include <cstdint>
#include <vector>

#include "check/call_site.hpp"

namespace ordito::check {

class HostGuard {
 public:
  static constexpr uint64_t kPage = 4096;
  struct Range {
    uint64_t begin, end;   // whole pages
    bool mayRead = false;  // only writes are of interest
    bool operator==(const Range&) const = default;
  };
  struct Touch {
    uint64_t address;
    bool isWrite;
    std::optional<CallSite> call;
  };

  /// What is to be kept from the host from now on; in order, without overlaps.
  void keep(std::vector<Range> ranges);
  /// Gives all pages to whatever runs now, and takes them away again.
  void lift();
  void restore();
  /// What the host has touched since the last call.
  std::vector<Touch> touches();

 private:
  std::vector<Range> ranges_;
  bool isLifted_ = false;
};

}  // namespace ordito::check
