// A host's launch and all that its kernels launch, directly or not: their accesses of global memory are compared with
// each other, and this says which of them the order of launches orders (CUDA guide, "CUDA Dynamic Parallelism",
// "Memory Coherence and Consistency").
//
// A child sees what its launching thread has done or knows of when it launches. What other threads do is not ordered
// with it unless that thread knew of it; what anybody does after the launch is not ordered with it at all. A tail
// launch begins when the whole grid and its other children have ended.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "check/clocks.hpp"
#include "check/launch.hpp"

namespace ordito::check {

class Family {
 public:
  using Member = uint32_t;
  /// How a member came to be.
  struct Birth {
    Member parent;
    uint64_t block;   // of the parent's grid
    Knowledge known;  // to the launching thread
    machine::ChildLaunchEvent::Stream stream;
  };

  /// Members are added in the order of their launches; only the host's has no birth.
  Member add(std::optional<Birth> birth);
  void setLaunch(Member member, std::shared_ptr<const Launch> launch) { members_[member].launch = std::move(launch); }
  const Launch& launch(Member member) const { return *members_[member].launch; }

  /// Who did what at a time of its clock.
  struct Deed {
    Member member;
    uint64_t block;
    ActorId actor;
    Clock at;
  };
  /// Does the order of launches put `earlier` before `later`? They are of different members.
  bool isOrdered(const Deed& earlier, const Deed& later) const;

 private:
  struct Entry {
    std::optional<Birth> birth;
    std::shared_ptr<const Launch> launch;
    uint32_t depth;
  };
  Member parentOf(Member member) const { return members_[member].birth->parent; }

  std::vector<Entry> members_;
};

}  // namespace ordito::check
