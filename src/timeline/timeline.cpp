// See timeline.hpp.
#include "timeline/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/environment.hpp"
#include "machine/memory.hpp"

namespace ordito::timeline {

namespace {

using Json = nlohmann::ordered_json;
using machine::StreamEvent;

struct Named {
  const char *category, *name;
};

Named named(StreamEvent::Kind kind) {
  switch (kind) {
    case StreamEvent::Kind::Kernel: return {"kernel", "kernel"};
    case StreamEvent::Kind::Copy: return {"copy", "copy"};
    case StreamEvent::Kind::Fill: return {"fill", "fill"};
    case StreamEvent::Kind::HostFunction: return {"host", "host function"};
    case StreamEvent::Kind::Graph: return {"graph", "graph"};
    case StreamEvent::Kind::Free: return {"memory", "free"};
    case StreamEvent::Kind::EventRecord: return {"event", "event recorded"};
    case StreamEvent::Kind::EventWait: return {"event", "event waited for"};
    case StreamEvent::Kind::Allocation: return {"memory", "allocation"};
    case StreamEvent::Kind::Value: break;
  }
  return {"value", "value in memory"};
}

uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
}

bool isDevice(uint64_t address) {
  const auto allocation = machine::allocations().find(address);
  return allocation && (allocation->kind == machine::MemoryKind::Device);
}

double microseconds(uint64_t ns) { return static_cast<double>(ns) / 1000; }

Json toJson(const Operation& o, uint64_t origin) {
  return {{"ph", "X"},
          {"name", o.name},
          {"cat", o.category},
          {"pid", 1},
          {"tid", o.stream},
          {"ts", microseconds(o.beginNs - origin)},
          {"dur", microseconds(o.endNs - o.beginNs)},
          {"args",
           {{"correlation", o.correlation},
            {"bytes", o.bytes},
            {"submitted_ns", o.submittedNs},
            {"begin_ns", o.beginNs},
            {"end_ns", o.endNs}}}};
}

Json nameOfStream(uint64_t stream) {
  return {{"ph", "M"},
          {"name", "thread_name"},
          {"pid", 1},
          {"tid", stream},
          {"args", {{"name", "stream " + std::to_string(stream)}}}};
}

}  // namespace

std::string nameOfCopy(uint64_t to, uint64_t from) {
  const bool toDevice = isDevice(to), fromDevice = isDevice(from);
  if (toDevice && fromDevice) return "copy device to device";
  if (toDevice) return "copy to device";
  return fromDevice ? "copy to host" : "copy host to host";
}

void Recorder::operationSubmitted(const StreamEvent& event, std::span<const machine::StreamPoint>) {
  const uint64_t time = now();
  std::lock_guard lock(mutex_);
  submitted_[{event.stream, event.correlation}] = time;
}

void Recorder::operationEnded(const StreamEvent& event) {
  const auto [category, name] = named(event.kind);
  Operation operation{name, category, event.stream, event.correlation, event.bytes, 0, event.beginNs, event.endNs};
  if (event.kind == StreamEvent::Kind::Kernel && *event.name) operation.name = event.name;
  if (event.kind == StreamEvent::Kind::Copy) operation.name = nameOfCopy(event.to, event.from);
  std::lock_guard lock(mutex_);
  if (auto submitted = submitted_.extract({event.stream, event.correlation}))
    operation.submittedNs = submitted.mapped();
  operations_.push_back(std::move(operation));
}

std::string Recorder::report() const {
  std::lock_guard lock(mutex_);
  return toJson(operations_);
}

std::string toJson(std::vector<Operation> operations) {
  std::ranges::sort(operations, {}, [](const Operation& o) { return std::tuple(o.beginNs, o.stream, o.correlation); });
  const uint64_t origin = operations.empty() ? 0 : operations.front().beginNs;
  Json events = Json::array();
  std::set<uint64_t> streams;
  for (const Operation& o : operations) {
    if (streams.insert(o.stream).second) events.push_back(nameOfStream(o.stream));
    events.push_back(toJson(o, origin));
  }
  const Json all = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

machine::Listener* listener() { return machine::reportListener<Recorder>(readEnvironment().timeline); }

}  // namespace ordito::timeline
