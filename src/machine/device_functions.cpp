// Device printf, assert and the device heap.
//
// printf's arguments arrive packed as vprintf's: int and smaller as 4 bytes, 64-bit integers, doubles and pointers as
// 8, each aligned to its size. The format string is walked conversion by conversion and each one is printed by the
// host's own snprintf, so that every flag, width and precision means what C says.
#include "machine/device_functions.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "machine/device_heap.hpp"
#include "machine/fault.hpp"
#include "machine/listener.hpp"
#include "machine/watched_heap.hpp"

namespace ordito::machine {

namespace {

/// Reads the packed arguments in order.
class Arguments {
 public:
  explicit Arguments(const std::byte* data) : data_(data) {}

  template <class T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (data_) std::memcpy(&value, data_ + offset_, sizeof value);
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int32_t count() const { return count_; }

 private:
  const std::byte* data_;
  size_t offset_ = 0;
  int32_t count_ = 0;
};

template <class... T>
void append(std::string& out, const std::string& spec, T... values) {
  char small[256];
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-security"
  int length = std::snprintf(small, sizeof small, spec.c_str(), values...);
  if (length < 0) return;
  if (static_cast<size_t>(length) < sizeof small) {
    out.append(small, static_cast<size_t>(length));
    return;
  }
  std::string big(static_cast<size_t>(length) + 1, 0);
  std::snprintf(big.data(), big.size(), spec.c_str(), values...);
#pragma clang diagnostic pop
  out.append(big, 0, static_cast<size_t>(length));
}

/// One conversion specification: "%-8.3lld" → flags "-8.3", length "ll", conversion 'd'. `*` is replaced by its
/// argument.
struct Conversion {
  std::string flags;
  std::string length;
  char type = 0;
};

Conversion parseConversion(const char*& p, Arguments& arguments) {
  Conversion c;
  for (; *p && std::strchr("-+ #0123456789.*", *p); ++p) {
    if (*p == '*')
      c.flags += std::to_string(arguments.next<int32_t>());
    else
      c.flags += *p;
  }
  while (*p && std::strchr("hljztL", *p)) c.length += *p++;
  if (*p) c.type = *p++;
  return c;
}

bool isWide(const std::string& length) {
  return length == "l" || length == "ll" || length == "j" || length == "z" || length == "t";
}

void appendInteger(std::string& out, const Conversion& c, Arguments& arguments) {
  std::string spec = "%" + c.flags;
  if (isWide(c.length)) return append(out, spec + "ll" + c.type, arguments.next<long long>());
  append(out, spec + c.length + c.type, arguments.next<int32_t>());
}

void appendConversion(std::string& out, const Conversion& c, Arguments& arguments) {
  std::string spec = "%" + c.flags;
  switch (c.type) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': return appendInteger(out, c, arguments);
    case 'c': return append(out, spec + 'c', arguments.next<int32_t>());
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return append(out, spec + c.type, arguments.next<double>());
    case 'p': return append(out, spec + 'p', arguments.next<void*>());
    case 's': {
      const char* text = arguments.next<const char*>();
      return append(out, spec + 's', text ? text : "(null)");
    }
    default:  // not a conversion: printed as it stands
      out += spec + c.length;
      if (c.type) out += c.type;
  }
}

}  // namespace

int32_t formatDevicePrintf(std::string& out, const char* format, const std::byte* arguments) {
  if (!format) return -1;
  Arguments reader(arguments);
  for (const char* p = format; *p;) {
    if (*p != '%') {
      const char* end = std::strchr(p, '%');
      if (!end) end = p + std::strlen(p);
      out.append(p, end);
      p = end;
      continue;
    }
    ++p;
    if (*p == '%') {
      out += '%';
      ++p;
      continue;
    }
    Conversion c = parseConversion(p, reader);
    appendConversion(out, c, reader);
  }
  return reader.count();
}

int32_t devicePrintf(const char* format, const std::byte* arguments) {
  std::string out;
  const int32_t count = formatDevicePrintf(out, format, arguments);
  // One call: stdio locks the stream, so lines of different threads do not mix.
  std::fwrite(out.data(), 1, out.size(), stdout);
  return count;
}

void deviceAssert(const BlockFrame& frame, const char* message, const char* file, uint32_t line, const char* function,
                  uint32_t threadX, uint32_t threadY, uint32_t threadZ) {
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file ? file : "?",
               line, function ? function : "?", frame.ctaid[0], frame.ctaid[1], frame.ctaid[2], threadX, threadY,
               threadZ, message ? message : "?");
  FaultHint& hint = faultHint();
  hint.hasThread = true;
  hint.thread[0] = threadX;
  hint.thread[1] = threadY;
  hint.thread[2] = threadZ;
  char detail[256];
  std::snprintf(detail, sizeof detail, "'%s' at %s:%u", message ? message : "?", file ? file : "?", line);
  raiseFault(frame, FaultKind::Assert, 0, 0, detail);
}

void* deviceMalloc(uint64_t bytes) {
  if (areAccessesWanted()) return allocateWatched(bytes);
  return bytes ? std::aligned_alloc(16, (bytes + 15) / 16 * 16) : nullptr;
}

void deviceFree(void* pointer) {
  if (freeOnDeviceHeap(pointer)) return;
  if (areAccessesWanted())
    freeWatched(pointer);
  else
    std::free(pointer);
}

}  // namespace ordito::machine
