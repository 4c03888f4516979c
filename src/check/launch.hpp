// What the checker knows of a launch while it runs: its kernel, where its variables lie, and the words for reports.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "check/finding.hpp"
#include "check/meetings.hpp"
#include "machine/events.hpp"
#include "machine/layout.hpp"
#include "ptx/roots.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::check {

/// Bytes that belong together: an allocation, a variable. It is looked up at every access, and named in reports only.
struct Object {
  uint64_t begin = 0, bytes = 0;
  const char* words = nullptr;              // what it is; or else
  const ptx::Variable* variable = nullptr;  // the variable that it is; or else
  size_t parameter = 0;                     // the kernel's parameter, from 1, that leads to this allocation
  std::string name() const;
  bool contains(uint64_t address, uint64_t size) const {
    return address - begin <= bytes && size <= bytes - (address - begin);
  }
};

/// A block's number in its grid.
uint64_t numberOf(const machine::BlockFrame& frame);

/// An instruction; without a function none.
struct Place {
  const ptx::Function* function = nullptr;
  uint32_t line = 0;
};

class Launch {
 public:
  explicit Launch(const machine::LaunchEvent& event);

  /// What the address of the access was made from; nothing if that is not known or ambiguous. It is the same for all
  /// blocks, and kept until allocationsChanged().
  std::optional<Object> objectOf(const machine::AccessEvent& access);
  void allocationsChanged() { objects_.fill({}); }
  /// A byte of the shared variable at an offset of the window, in words; "byte 3 of the shared array 'tile' of 64
  /// bytes".
  std::string describeShared(const machine::WarpSite& at, uint64_t offset) const;
  /// May the address be of something that only the launch itself knows: a parameter, a constant, grid.sync()'s words,
  /// the heap of malloc()?
  bool isItsOwn(const machine::BlockFrame& frame, uint64_t address) const;
  /// The constant variable that an access writes to at that address.
  std::optional<Object> writtenConstant(const machine::AccessEvent& access, uint64_t address) const;
  /// Is it memory that is given out again and again, which is not told: for the parameters of launches, or of malloc()
  /// once so much was freed that addresses come again?
  bool isHeaps(uint64_t address) const;
  /// Does the instruction make an mbarrier or end one? All others take it for one that is there.
  static bool initialises(const machine::WarpSite& at);
  /// How many bytes one atomic operation of an instruction works on: those of an element, where it has a vector.
  static uint32_t atomicBytes(const ptx::Function& function, uint32_t line);
  /// Are all its accesses plain or relaxed atomics, so that nothing orders its blocks?
  bool hasUnorderedBlocks() const { return hasUnorderedBlocks_; }
  /// Has its module cp.async.bulk?
  bool copiesInBulk() const { return copiesInBulk_; }

  /// May kernels have taken memory from the heap?
  bool takesHeap() const { return takesHeap_; }

  /// Its number (LaunchEvent::launch).
  uint64_t number() const { return number_; }
  /// Of a grid.
  uint64_t blocks() const { return grid_.count(); }
  /// Of a block; what it was launched with included.
  uint32_t sharedBytes(const machine::LaunchEvent& event) const;
  uint32_t threads() const { return static_cast<uint32_t>(block_.count()); }

  Side side(const ptx::Function& function, uint32_t line, uint64_t block, uint32_t thread, const char* what,
            uint32_t bytes) const;
  /// nullopt if it is not known.
  std::optional<Meeting> meeting(const Meetings::Last& last) const;
  /// Where a global address lies.
  static std::string describe(uint64_t address);
  void setCall(std::optional<CallSite> call) { call_ = std::move(call); }
  Finding finding(Rule rule) const;
  /// Instructions from one place of the source are one, wherever its line is known.
  Findings::Key key(Rule rule, const Place& place, const Place& other = {}) const;

 private:
  std::optional<Object> variable(const machine::BlockFrame& frame, const ptx::Function& function, const ptx::Root& root,
                                 machine::AccessSpace space) const;
  std::optional<Object> parameter(const machine::BlockFrame& frame, uint32_t offset) const;
  uint32_t functionIndex(const ptx::Function& function) const;
  std::optional<Object> findObject(const machine::AccessEvent& access);
  uint32_t lineOf(const Place& place) const;

  const ptx::Module& module_;
  const ptx::Function& kernel_;
  std::optional<CallSite> call_;
  uint64_t number_ = 0;
  std::string name_, mangled_;
  machine::Dim3 grid_, block_;
  machine::KernelLayout layout_;
  bool hasUnorderedBlocks_ = false, copiesInBulk_ = false, takesHeap_ = false, preparesLaunches_ = false;
  std::map<const ptx::Function*, ptx::FunctionRoots> roots_;
  bool hasConstants_;
  mutable std::map<const ptx::Function*, ptx::SourcePlaces> places_;  // made for findings only
  /// What objectOf() has answered last for lines of these numbers.
  struct Known {
    const ptx::Function* function = nullptr;
    uint32_t line = 0;
    machine::AccessSpace space{};
    std::optional<Object> object;
  };
  std::array<Known, 256> objects_;
};

}  // namespace ordito::check
