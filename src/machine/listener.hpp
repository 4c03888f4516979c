// Who listens to events. The driver has the list of all listeners (driver/listeners.cpp); the events reach those that
// this process asked for.
#pragma once

#include <memory>
#include <vector>

#include "machine/annotation.hpp"
#include "machine/events.hpp"
#include "machine/library_call.hpp"

namespace ordito::machine {

/// Decides which blocks of a launch tell what they do, where a listener can say it of the others without hearing them.
/// Asked on one thread at a time. Only for launches none of whose blocks waits for another.
class BlockJudge {
 public:
  virtual ~BlockJudge() = default;
  /// For BlockFrame::trial of all blocks, which are first tried on code that checks for itself; null: they are not.
  virtual void* trial() { return nullptr; }
  /// The trial is over. True: all is well, and the launch has ended. False: memory is as before it.
  virtual bool isWell(bool /*hasFault*/) { return false; }
  /// Asked in the order of blocks: how many of the next `count`, from that of `frame` on, do what one that has run has
  /// done? 0: that of `frame` runs now, and tells.
  virtual uint32_t alike(const BlockFrame& frame, uint32_t count) = 0;
  /// Could a block use what nobody has written? Else those that tell need not be followed value by value.
  virtual bool needsValues() const { return true; }
  /// Asked once the first of these have run, if they were not followed. True: somebody used what nobody has written
  /// after all, or for another reason nothing of it counts; memory is as it was before them, they run again and are.
  virtual bool takesBack(bool /*hasFault*/) { return false; }
  /// All that are like no other have run. May the rest run without telling? Asked again behind a no if alike() has left
  /// blocks out all the same: these run without telling then.
  virtual bool mayBeSilent() = 0;
  /// Lines of the PTX whose accesses the rest tell all the same.
  virtual std::vector<uint32_t> linesToTell() const { return {}; }
};

/// Hears of the kinds of events that it overrides, from several threads at once.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Are kernels to be compiled so that they tell what they do? Else LaunchEvent::sites are empty.
  virtual bool wantsSites() const { return false; }
  /// Does it want to hear of every single access, synchronisation and block?
  virtual bool wantsAccesses() const { return false; }
  /// Is the host's thread to go on from a submission only when the operation has ended? Asked again and again while it
  /// waits. What the operation has done is then known before the host does anything else.
  virtual bool holdsHost() const { return false; }
  /// And of the uses of undefined values? Then kernels run in the interpreter, which follows values.
  virtual bool wantsUndefined() const { return false; }

  /// Asked before lanes touch memory: which of `event.at.lanes` may. For the others a load gives 0, a store and an
  /// atomic change nothing, and the thread goes on.
  virtual uint32_t allowed(const AccessEvent& event) { return event.at.lanes; }
  virtual void accessed(const AccessEvent&) {}
  virtual void synchronised(const SyncEvent&) {}
  /// Of a launch that has begun; null: all its blocks are to tell. Where it gives one, it hears of guards' operands.
  virtual std::unique_ptr<BlockJudge> judge(const LaunchEvent&) { return nullptr; }
  virtual void comesToGuard(const OperandsEvent&) {}
  virtual void blockChanged(const BlockEvent&) {}
  virtual void usedUndefined(const UndefinedEvent&) {}
  virtual void heapFrees(const HeapFreeEvent&) {}
  /// On the thread that makes the copy or the fill.
  virtual void rowsMove(const RowsEvent&) {}

  /// Before the new launch begins.
  virtual void childLaunched(const ChildLaunchEvent&) {}
  virtual void launchBegan(const LaunchEvent&) {}
  virtual void launchEnded(const LaunchEvent&) {}
  /// `after`: what else it waits for, beside the operations before it in its stream: what calls have asked for, ended
  /// or not, and of the order between the legacy default stream and others what has not ended yet.
  virtual void operationSubmitted(const StreamEvent&, std::span<const StreamPoint> /*after*/) {}
  virtual void operationBegan(const StreamEvent&) {}
  virtual void operationEnded(const StreamEvent&) {}
  virtual void graphNodeBegan(const GraphNodeEvent&) {}
  virtual void libraryCallEnded(const LibraryCall&) {}
  /// Does it want to hear of what programs say of themselves?
  virtual bool wantsAnnotations() const { return false; }
  virtual void annotated(const Annotation&) {}
  virtual void named(const NameEvent&) {}
  /// The host knows, by a call that promises it, that this operation, and so all before it in its stream, has ended.
  virtual void hostWaited(StreamPoint) {}
  /// That everything in the streams of a context has; told beside hostWaited for each stream that there still is.
  virtual void hostWaitedForAll(uint64_t /*context*/) {}
  virtual void callFailed(const FailedCallEvent&) {}
  /// The calling thread asks for its last error.
  virtual void lastErrorRead() {}
  virtual void allocated(const Allocation&) {}
  virtual void freed(const Allocation&) {}
  /// The process ends, or the program asks for what is known so far.
  virtual void flush() {}
};

/// Adds one, for the life of the process; before the first event.
void addListener(Listener& listener);
bool hasListeners();
bool areSitesWanted();
bool areAccessesWanted();
bool areUndefinedWanted();
bool isHostHeld();
bool areAnnotationsWanted();

/// The lanes that all listeners allow.
uint32_t allowedLanes(const AccessEvent& event);

/// Null if somebody must hear of all blocks.
std::unique_ptr<BlockJudge> judgeOf(const LaunchEvent& launch);

/// Tell all listeners.
void raise(const AccessEvent& event);
void raise(const SyncEvent& event);
void raise(const OperandsEvent& event);
void raise(const BlockEvent& event);
void raise(const UndefinedEvent& event);
void raise(const HeapFreeEvent& event);
void raise(const RowsEvent& event);
void raise(const ChildLaunchEvent& event);
void raiseBegan(const LaunchEvent& event);
void raise(const LaunchEvent& event);
/// Has a launch begun whose end nobody has told yet?
bool areLaunchesOpen();
void raiseSubmitted(const StreamEvent& event, std::span<const StreamPoint> after);
void raiseBegan(const StreamEvent& event);
void raise(const StreamEvent& event);
void raise(const GraphNodeEvent& event);
void raise(const LibraryCall& call);
void raise(const Annotation& annotation);
void raise(const NameEvent& event);
void raiseHostWaited(StreamPoint point);
void raiseHostWaitedForAll(uint64_t context);
void raise(const FailedCallEvent& event);
void raiseLastErrorRead();
void raiseAllocated(const Allocation& allocation);
void raiseFreed(const Allocation& allocation);
void flushListeners();
/// The process ends in this call's thread: whoever wants to write reports after it waits for that.
void flushListenersAtEnd();

}  // namespace ordito::machine
