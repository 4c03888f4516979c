// See timeline.hpp.
#include "timeline/timeline.hpp"

#include <fmt/format.h>

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
using machine::Annotation;
using machine::StreamEvent;

struct Named {
  const char *category, *name;
};

Named describe(StreamEvent::Kind kind) {
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

Json nameOf(const char* what, int process, uint64_t thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

constexpr int kDevice = 1, kHost = 2;

/// A range that may cross others is drawn apart from those that nest: viewers know it by its identifier.
void add(Json& events, const Annotation& a, uint64_t origin, size_t identifier) {
  Json args = Json::object();
  if (!a.domain.empty()) args["domain"] = a.domain;
  if (!a.category.empty()) args["category"] = a.category;
  if (!a.payload.empty()) args["payload"] = a.payload;
  if (a.color) args["color"] = fmt::format("#{:06x}", a.color & 0xffffff);
  Json event = {{"ph", a.isMark       ? "i"
                       : a.isOfThread ? "X"
                                      : "b"},
                {"name", a.name},
                {"cat", a.isMark ? "mark" : "range"},
                {"pid", kHost},
                {"tid", a.thread},
                {"ts", microseconds(a.beginNs - origin)}};
  if (a.isMark) {
    event["s"] = "t";
  } else if (a.isOfThread) {
    event["dur"] = microseconds(a.endNs - a.beginNs);
  } else {
    event["id"] = identifier;
  }
  event["args"] = args;
  events.push_back(event);
  if (a.isMark || a.isOfThread) return;
  event["ph"] = "e";
  event["ts"] = microseconds(a.endNs - origin);
  events.push_back(std::move(event));
}

void addStreams(Json& events, const Happened& happened, uint64_t origin) {
  std::map<uint64_t, std::string> names;
  for (const auto& name : happened.names)
    if (name.of == machine::NameEvent::Of::Stream) names[name.number] = " (" + name.name + ")";
  std::set<uint64_t> streams;
  for (const Operation& o : happened.operations) {
    if (streams.insert(o.stream).second)
      events.push_back(
          nameOf("thread_name", kDevice, o.stream, "stream " + std::to_string(o.stream) + names[o.stream]));
    events.push_back(toJson(o, origin));
  }
}

void addHost(Json& events, const Happened& happened, uint64_t origin) {
  if (happened.annotations.empty()) return;
  events.push_back(nameOf("process_name", kDevice, 0, "streams"));
  events.push_back(nameOf("process_name", kHost, 0, "host"));
  for (const auto& name : happened.names)
    if (name.of == machine::NameEvent::Of::Thread)
      events.push_back(nameOf("thread_name", kHost, name.number, name.name));
  for (size_t i = 0; i < happened.annotations.size(); ++i) add(events, happened.annotations[i], origin, i + 1);
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
  const auto [category, name] = describe(event.kind);
  Operation operation{name, category, event.stream, event.correlation, event.bytes, 0, event.beginNs, event.endNs};
  if (event.kind == StreamEvent::Kind::Kernel && *event.name) operation.name = event.name;
  if (event.kind == StreamEvent::Kind::Copy) operation.name = nameOfCopy(event.to, event.from);
  std::lock_guard lock(mutex_);
  if (auto submitted = submitted_.extract({event.stream, event.correlation}))
    operation.submittedNs = submitted.mapped();
  happened_.operations.push_back(std::move(operation));
}

std::string Recorder::report() const {
  std::lock_guard lock(mutex_);
  return toJson(happened_);
}

void Recorder::annotated(const Annotation& annotation) {
  std::lock_guard lock(mutex_);
  happened_.annotations.push_back(annotation);
}

void Recorder::named(const machine::NameEvent& event) {
  std::lock_guard lock(mutex_);
  happened_.names.push_back(event);
}

std::string toJson(Happened happened) {
  std::ranges::sort(happened.operations, {},
                    [](const Operation& o) { return std::tuple(o.beginNs, o.stream, o.correlation); });
  // Outer ranges before inner ones that begin in the same nanosecond.
  std::ranges::sort(happened.annotations, {}, [](const Annotation& a) { return std::tuple(a.beginNs, ~a.endNs); });
  uint64_t origin = happened.operations.empty() ? ~uint64_t{0} : happened.operations.front().beginNs;
  if (!happened.annotations.empty()) origin = std::min(origin, happened.annotations.front().beginNs);
  Json events = Json::array();
  addStreams(events, happened, origin);
  addHost(events, happened, origin);
  const Json all = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

machine::Listener* listener() { return machine::reportListener<Recorder>(readEnvironment().timeline); }

}  // namespace ordito::timeline
