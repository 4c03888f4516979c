// What the blocks of a proved launch still tell (proof.hpp): accesses of which only the bounds and the bytes count.
// There are many of them, so nothing here takes a lock or looks anything up in a tree. One launch at a time, on one
// thread.
#pragma once

#include <array>
#include <vector>

#include "check/launch.hpp"

namespace ordito::check {

class OpenAccesses {
 public:
  struct Line {
    const ptx::Function* function = nullptr;
    uint32_t line = 0;
    Object object;
    bool isShared = false;
  };

  OpenAccesses(uint64_t launch, const std::vector<Line>& lines);
  /// Of whom are the accesses?
  uint64_t launch() const { return launch_; }
  /// Do all lanes stay in the object, aligned? False: not, or the line is not known.
  bool isFine(const machine::AccessEvent& access) const;
  /// False: the first of a line, or one that is not known; somebody else is to keep it.
  bool note(const machine::AccessEvent& access);
  bool touchesHost() const;
  /// Calls visit(line, writes, begin, bytes) for what has been noted.
  template <class Visit>
  void forEach(Visit visit) const;

 private:
  struct Site {
    Line what;
    bool isSeen = false, writes = false;
    unsigned shift = 0;            // a unit is as large as the smallest access
    std::vector<uint8_t> touched;  // by unit of the object
  };
  static constexpr size_t kSlots = 64;
  const Site* siteOf(const machine::AccessEvent& access) const;

  const uint64_t launch_;
  std::vector<Site> sites_;
  std::array<uint32_t, kSlots> slots_{};  // by line: the site's number from 1; lines that collide are not known
};

template <class Visit>
void OpenAccesses::forEach(Visit visit) const {
  for (const Site& s : sites_)
    for (size_t k = 0; k < s.touched.size(); ++k) {
      if (!s.touched[k]) continue;
      const size_t first = k;
      while (k < s.touched.size() && s.touched[k]) ++k;
      visit(s.what, s.writes, s.what.object.begin + (first << s.shift), (k - first) << s.shift);
    }
}

}  // namespace ordito::check
