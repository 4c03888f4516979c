// Races between operations: kernels, copies and fills of different streams or of unordered nodes of a graph that use
// the same bytes, and memory of a pool that is used without an order to its allocation or its free.
//
// Each operation keeps the bytes that it has read and written, by line of its kernels; when it has ended it is compared
// with all that nothing orders it with (order.hpp), so what is found does not depend on the schedule. It goes once the
// host has waited for it, since then all that is submitted later is behind it.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "check/byte_set.hpp"
#include "check/finding.hpp"
#include "check/host_guard.hpp"
#include "check/order.hpp"
#include "machine/memory.hpp"

namespace ordito::rt {
class TrialUses;
}

namespace ordito::check {

class Launch;
class OpenAccesses;
class Proof;

class Operations {
 public:
  void submitted(const machine::StreamEvent& event, std::span<const machine::StreamPoint> after,
                 const std::optional<CallSite>& call, Findings& findings);
  void began(const machine::StreamEvent& event);
  void ended(machine::StreamPoint point, Findings& findings);
  void hostWaited(machine::StreamPoint point);
  void hostWaitedForAll(uint64_t context);
  /// To be called before any of these: tells of what the host has done meanwhile.
  void hostTouches(Findings& findings);
  /// Must the host wait for what runs? May be asked without a lock.
  bool holdsHost() const { return holdsHost_; }

  // What the operation at `point` does.
  void nodeBegan(machine::StreamPoint point, const machine::GraphNodeEvent& node);
  void accessed(machine::StreamPoint point, const Launch& launch, const machine::AccessEvent& access);
  /// The operation does what a proof says, too.
  void repeated(machine::StreamPoint point, std::shared_ptr<const Proof> proof);
  /// And what is noted there.
  void opened(machine::StreamPoint point, std::shared_ptr<const OpenAccesses> open);
  /// And what a trial has seen.
  void tried(machine::StreamPoint point, const Launch& launch, std::shared_ptr<const rt::TrialUses> uses);
  void rowsMove(machine::StreamPoint point, const machine::RowsEvent& rows);

  void allocated(const machine::Allocation& a);
  /// By the operation at `point`; number 0: by the host.
  void freed(machine::StreamPoint point, const machine::Allocation& a, Findings& findings);
  /// The operation uses what an unordered one has freed already. False: an ordered one has.
  bool addLateUse(machine::StreamPoint point, const machine::Allocation& gone, Side use, Findings& findings);

 private:
  enum class Use : uint8_t { Read, Write, Lifetime };
  /// Bytes that one line of a kernel, or a copy or a fill, has used.
  struct Touched {
    Use use;
    bool isStrong = false;    // atomic or volatile, and so that all the device sees it
    bool isOfSystem = false;  // strong, and so that the host sees it
    bool isOrdering = false;  // of a kernel with fences or ordered accesses, which may wait for another
    uint32_t node = 0;        // of a graph
    Side side = {};
    ByteSet bytes = {};
  };
  struct Site {
    const void* function;
    uint32_t line, node;
    bool writes;
    auto operator<=>(const Site&) const = default;
  };
  /// What a proof says of blocks that nobody has watched, or a trial has seen: it is asked only if somebody is compared
  /// with it.
  struct Repeated {
    uint32_t node;
    std::shared_ptr<const Proof> proof;        // or
    std::shared_ptr<const OpenAccesses> open;  // or
    std::shared_ptr<const rt::TrialUses> uses;
  };
  using Sites = std::map<Site, Touched*>;
  /// Bytes that the host can reach.
  struct HostUse {
    ByteSet used = {}, written = {};
  };
  struct Operation {
    machine::StreamPoint point;
    uint64_t context;
    bool isBlocking;
    machine::StreamEvent::Kind kind;
    std::string name;
    std::optional<CallSite> call;
    bool hasEnded = false;
    bool signalsHost = false;  // by a strong access to memory of the host, so that it may know that the work is done
    std::list<Touched> touched = {};
    Sites sites = {};
    std::vector<Repeated> repeated = {};
    std::vector<std::vector<bool>> before = {};  // by node of a graph: the nodes that it is behind
    uint32_t node = 0;
    uint64_t strongReads = 0;
    HostUse hostUse = {};
  };
  struct Freed {
    machine::StreamPoint by;
    Side side;
  };
  using All = std::list<Operation>;  // in the order of their submission

  Operation* find(machine::StreamPoint point);
  Touched& at(Operation& operation, const Launch& launch, const machine::AccessEvent& access, bool writes);
  template <class MakeSide>
  static Touched& at(Operation& operation, const Site& site, Touched kind, MakeSide makeSide);
  void note(Operation& operation, Touched& touched, uint64_t address, uint64_t bytes);
  static void expand(Operation& operation);
  static void expand(const Repeated& repeated, const Sites& sites);
  void compareWithOthers(Operation& operation, Findings& findings);
  void compareNodes(Operation& operation, Findings& findings);
  void compare(const Operation& one, const Operation& other, Findings& findings);
  void report(const Operation& one, const Touched& a, const Operation& other, const Touched& b, uint64_t address,
              Findings& findings);
  void retire();
  void limit();
  static HostUse hostUseOf(const Operation& operation);
  void guardHost();
  void hostMemoryFreed(const machine::Allocation& a);
  void hasRun(machine::StreamPoint point);
  /// The operation may wait for something that the host does, so the host is not held meanwhile.
  void mayWaitForHost(machine::StreamPoint point);
  void readsStrongly(Operation& operation);

  static Side sideOf(const Operation& operation, const char* what, uint64_t bytes);
  static std::string nameOf(const Operation& operation);
  static std::string help(const Operation& one, const Operation& other);

  Order order_;
  All all_;
  std::map<std::pair<uint64_t, uint64_t>, All::iterator> index_;  // by stream and number
  std::map<uint64_t, Freed> freed_;                               // by address, by operations
  bool isBlind_ = false;  // streams wait for values in memory, which is order that is not seen
  uint64_t knownPage_ = ~uint64_t{0};
  bool isKnownPage_ = false;
  HostGuard guard_;
  std::optional<std::vector<std::pair<uint64_t, uint64_t>>> guarded_;  // the operations whose pages those are
  std::set<std::pair<uint64_t, uint64_t>> running_, waiting_;  // by stream and number; waiting_: perhaps for the host
  std::atomic<bool> holdsHost_ = true;
};

}  // namespace ordito::check
