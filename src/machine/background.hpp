// Threads that compile while the program goes on, and how they end with the process.
//
// A process ends when its work has ended: nobody waits for a compilation then. But a thread that is inside LLVM cannot
// be asked to leave, and must not go on either, since the C library destroys LLVM's globals while the process ends. So
// such a thread is halted where it stands, which is safe while it is in LLVM's own code and so holds no lock of the C
// library's (Haltable).
#pragma once

#include <functional>
#include <memory>
#include <optional>

namespace ordito::machine {

using BackgroundJob = std::function<void()>;

enum class Urgency {
  Awaited,      // somebody waits for it: one of several threads takes it
  Improvement,  // one after the other, in the order in which they came
  Ahead,        // somebody may wait for it later
};

/// Who alone wants a job; nobody in particular if it is empty.
using JobOwner = std::optional<std::weak_ptr<const void>>;

/// Has a thread do the job. False when the process is ending: then it will not be done. A job whose owner has died
/// before it begins is dropped. While a job is done, its owner stays alive.
bool inBackground(BackgroundJob job, Urgency urgency, JobOwner owner = {});

/// Does the process end? A job that does anything but compute looks now and then, and leaves soon when it is so.
bool processEnds();
/// Has a thread been halted? What its job has held stays held.
bool hasHalted();

/// While one exists, the calling thread may be halted for good at any instruction of the library that `symbol` is in.
/// It holds no lock that anybody will want while the process ends.
class Haltable {
 public:
  explicit Haltable(const void* symbol);
  ~Haltable();
  Haltable(const Haltable&) = delete;
  Haltable& operator=(const Haltable&) = delete;
};

}  // namespace ordito::machine
