// NVTX's calls, by the numbers that its tools know them by (NVTX, nvtxTypes.h: NvtxCallbackModule and what follows).
//
// They are found in two ways. Ordito's own headers ask orditoAnnotationCall. NVIDIA's header-only NVTX 3 loads the
// library that NVTX_INJECTION64_PATH names and has InitializeInjectionNvtx2 fill its table; `ordito run --timeline`
// sets that variable to this library. Either way nobody gets anything if nobody listens.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "driver/annotations.hpp"
#include "driver/context.hpp"
#include "machine/listener.hpp"
#include "nvToolsExt.h"

using namespace ordito::driver;
using ordito::machine::Annotation;
using ordito::machine::NameEvent;

namespace {

// --- texts

std::string text(const char* message) { return message ? message : ""; }

/// UTF-8 of 32-bit characters.
std::string text(const wchar_t* message) {
  std::string result;
  for (; message && *message; ++message) {
    const auto c = static_cast<char32_t>(*message);
    const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) {
      result += static_cast<char>(c);
    } else if (c < 0x800) {
      result += {static_cast<char>(0xc0 | c >> 6), tail(0)};
    } else if (c < 0x10000) {
      result += {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
    } else {
      result += {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
    }
  }
  return result;
}

AnnotationDomain& domainOf(nvtxDomainHandle_t handle) {
  return handle ? *reinterpret_cast<AnnotationDomain*>(handle) : defaultDomain();
}
nvtxDomainHandle_t handleOf(AnnotationDomain& domain) { return reinterpret_cast<nvtxDomainHandle_t>(&domain); }
nvtxStringHandle_t handleOf(const std::string* text) {
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(text));
}

std::string message(int32_t type, const nvtxMessageValue_t& value) {
  if (type == NVTX_MESSAGE_TYPE_ASCII) return text(value.ascii);
  if (type == NVTX_MESSAGE_TYPE_UNICODE) return text(value.unicode);
  const auto* registered = reinterpret_cast<const std::string*>(value.registered);
  return type == NVTX_MESSAGE_TYPE_REGISTERED && registered ? *registered : "";
}

std::string payload(const nvtxEventAttributes_t& attributes) {
  const auto& value = attributes.payload;
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: return std::to_string(value.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64: return std::to_string(value.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE: return fmt::format("{}", value.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32: return std::to_string(value.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32: return std::to_string(value.iValue);
    case NVTX_PAYLOAD_TYPE_FLOAT: return fmt::format("{}", value.fValue);
    default: return {};
  }
}

Annotation annotation(const AnnotationDomain& domain, const nvtxEventAttributes_t* attributes) {
  Annotation result;
  if (!attributes) return result;
  result.name = message(attributes->messageType, attributes->message);
  result.category = domain.category(attributes->category);
  result.payload = payload(*attributes);
  if (attributes->colorType == NVTX_COLOR_ARGB) result.color = attributes->color;
  return result;
}

template <class Character>
Annotation plain(const Character* message) {
  Annotation result;
  result.name = text(message);
  return result;
}

// --- the calls; `In` have a domain, the others mean the one without a name

using Attributes = const nvtxEventAttributes_t*;
using Domain = nvtxDomainHandle_t;

void markIn(Domain d, Attributes a) { domainOf(d).mark(annotation(domainOf(d), a)); }
uint64_t startIn(Domain d, Attributes a) { return domainOf(d).start(annotation(domainOf(d), a)); }
void endIn(Domain, uint64_t identifier) { endAnnotation(identifier); }
int pushIn(Domain d, Attributes a) { return domainOf(d).push(annotation(domainOf(d), a)); }
int popIn(Domain d) { return domainOf(d).pop(); }
void mark(Attributes a) { markIn(nullptr, a); }
uint64_t start(Attributes a) { return startIn(nullptr, a); }
int push(Attributes a) { return pushIn(nullptr, a); }
int pop() { return popIn(nullptr); }
void nothing(const void*) {}

/// A handle that is good for nothing but being handed back.
const void* resourceIn(Domain, const void* attributes) { return attributes; }

void nameStream(CUstream handle, std::string name) {
  Context* context = nullptr;
  if (currentContextEvenBroken(context) != CUDA_SUCCESS) return;
  if (const auto stream = context->stream(handle))
    ordito::machine::raise(NameEvent{NameEvent::Of::Stream, stream->id(), std::move(name)});
}

/// Those that come with texts of either kind of characters.
template <class Character>
struct With {
  using Text = const Character*;
  static void mark(Text message) { defaultDomain().mark(plain(message)); }
  static uint64_t start(Text message) { return defaultDomain().start(plain(message)); }
  static int push(Text message) { return defaultDomain().push(plain(message)); }
  static void nameCategory(uint32_t category, Text name) { defaultDomain().nameCategory(category, text(name)); }
  static void nameCategoryIn(Domain d, uint32_t category, Text name) { domainOf(d).nameCategory(category, text(name)); }
  static void nameThread(uint32_t thread, Text name) {
    ordito::machine::raise(NameEvent{NameEvent::Of::Thread, thread, text(name)});
  }
  static nvtxStringHandle_t registerIn(Domain d, Text string) { return handleOf(domainOf(d).registered(text(string))); }
  static Domain createDomain(Text name) { return handleOf(annotationDomain(text(name))); }
  static void nameStream(CUstream stream, Text name) { ::nameStream(stream, text(name)); }
};
using A = With<char>;
using W = With<wchar_t>;

using Function = void (*)();
template <class F>
Function f(F* function) {
  return reinterpret_cast<Function>(function);
}

/// By module and number; numbers begin at 1.
const std::array<std::vector<Function>, 7>& calls() {
  static const std::array<std::vector<Function>, 7> all{{
      {},
      {nullptr, f(mark), f(A::mark), f(W::mark), f(start), f(A::start), f(W::start), f(endAnnotation), f(push),
       f(A::push), f(W::push), f(pop), f(A::nameCategory), f(W::nameCategory), f(A::nameThread), f(W::nameThread)},
      {nullptr, nullptr, nullptr, nullptr, nullptr, f(A::nameStream), f(W::nameStream)},
      {},
      {nullptr, nullptr, nullptr, f(A::nameStream), f(W::nameStream)},
      {nullptr, f(markIn), f(startIn), f(endIn), f(pushIn), f(popIn), f(resourceIn), f(nothing), f(A::nameCategoryIn),
       f(W::nameCategoryIn), f(A::registerIn), f(W::registerIn), f(A::createDomain), f(W::createDomain), f(nothing),
       f(nothing)},
      {nullptr, f(resourceIn), f(nothing), f(nothing), f(nothing), f(nothing), f(nothing)},
  }};
  return all;
}

/// What NVTX's header asks a tool to fill: for each call the place of its address.
struct CallbackTable {
  size_t bytes;
  int (*find)(uint32_t module, Function*** table, unsigned* count);
};

constexpr uint32_t kCallbacks = 1;  // NVTX_ETID_CALLBACKS

}  // namespace

/// The address of a call; null if there is none, or if nobody listens.
extern "C" void* orditoAnnotationCall(unsigned module, unsigned number) {
  if (module >= calls().size() || number >= calls()[module].size()) return nullptr;
  static const bool isWanted = [] { return cuInit(0) == CUDA_SUCCESS && ordito::machine::areAnnotationsWanted(); }();
  return isWanted ? reinterpret_cast<void*>(calls()[module][number]) : nullptr;
}

/// Called by NVTX's header; 1 if this is a tool that listens.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX calls it so
extern "C" int InitializeInjectionNvtx2(const void* (*exports)(uint32_t)) {
  const auto* const table = exports ? static_cast<const CallbackTable*>(exports(kCallbacks)) : nullptr;
  if (!table || table->bytes < sizeof(CallbackTable)) return 0;
  bool isAny = false;
  for (uint32_t module = 1; module < calls().size(); ++module) {
    Function** places = nullptr;
    unsigned count = 0;
    if (table->find(module, &places, &count) == 0 || !places) continue;
    for (unsigned number = 1; number < count && places[number]; ++number)
      if (auto* const call = reinterpret_cast<Function>(orditoAnnotationCall(module, number))) {
        *places[number] = call;
        isAny = true;
      }
  }
  return isAny ? 1 : 0;
}
