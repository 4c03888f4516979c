// NVTX for C++11 and later: ranges that end with their scope, and what they carry. Made over nvToolsExt.h; the names
// are those of NVTX's own C++ interface, version 1 (https://nvidia.github.io/NVTX/doxygen-cpp).
//
//   nvtx3::scoped_range range{"load", nvtx3::rgb{255, 0, 0}, nvtx3::payload{3}};
//   NVTX3_FUNC_RANGE();
//
// A domain is a type with `static constexpr char const* name`; a named category also has `static constexpr uint32_t
// id`; a registered string has `static constexpr char const* message`. What is given first of a kind is taken.
#ifndef NVTX3_ORDITO_HPP_
#define NVTX3_ORDITO_HPP_
#pragma GCC system_header

#include <cstdint>
#include <string>
#include <type_traits>

#include "nvToolsExt.h"

#define NVTX3_CPP_VERSION_MAJOR 1
#define NVTX3_CPP_VERSION_MINOR 0
#define NVTX3_CPP_DEFINITIONS_V1_0  // which others ask for before they use these

namespace nvtx3 {
inline namespace v1 {

class domain {
 public:
  /// The domain of events that name none.
  struct global {
    static constexpr char const* name = nullptr;
  };
  domain(domain const&) = delete;
  domain& operator=(domain const&) = delete;

  /// Made when it is first asked for; lives as long as the process.
  template <class D = global>
  static domain const& get() noexcept {
    static domain const made(create(std::is_same<D, global>(), nameOf<D>(0)));
    return made;
  }
  operator nvtxDomainHandle_t() const noexcept { return handle_; }

 private:
  template <class D>
  static auto nameOf(int) noexcept -> decltype(D::name) {
    return D::name;
  }
  static nvtxDomainHandle_t create(std::true_type, char const*) noexcept { return nullptr; }
  static nvtxDomainHandle_t create(std::false_type, char const* name) noexcept { return nvtxDomainCreateA(name); }
  static nvtxDomainHandle_t create(std::false_type, wchar_t const* name) noexcept { return nvtxDomainCreateW(name); }
  explicit domain(nvtxDomainHandle_t handle) noexcept : handle_(handle) {}

  nvtxDomainHandle_t handle_;
};

struct rgb {
  using component_type = uint8_t;
  constexpr rgb(component_type red_, component_type green_, component_type blue_) noexcept
      : red(red_), green(green_), blue(blue_) {}
  component_type red, green, blue;
};
struct argb : rgb {
  constexpr argb(component_type alpha_, component_type red_, component_type green_, component_type blue_) noexcept
      : rgb(red_, green_, blue_), alpha(alpha_) {}
  component_type alpha;
};
class color {
 public:
  using value_type = uint32_t;
  constexpr explicit color(value_type hex) noexcept : value_(hex) {}
  constexpr color(argb c) noexcept : value_(packed(c.alpha, c)) {}
  constexpr color(rgb c) noexcept : value_(packed(0xff, c)) {}
  constexpr value_type get_value() const noexcept { return value_; }
  constexpr nvtxColorType_t get_type() const noexcept { return NVTX_COLOR_ARGB; }

 private:
  static constexpr value_type packed(uint8_t alpha, rgb c) noexcept {
    return value_type{alpha} << 24 | value_type{c.red} << 16 | value_type{c.green} << 8 | value_type{c.blue};
  }
  value_type value_;
};

class category {
 public:
  using id_type = uint32_t;
  constexpr explicit category(id_type id) noexcept : id_(id) {}
  constexpr id_type get_id() const noexcept { return id_; }

 private:
  id_type id_;
};

template <class D = domain::global>
class named_category_in final : public category {
 public:
  named_category_in(id_type id, char const* name) noexcept : category(id) {
    nvtxDomainNameCategoryA(domain::get<D>(), id, name);
  }
  named_category_in(id_type id, wchar_t const* name) noexcept : category(id) {
    nvtxDomainNameCategoryW(domain::get<D>(), id, name);
  }
  /// The one that type C describes.
  template <class C>
  static named_category_in const& get() noexcept {
    static named_category_in const made(C::id, C::name);
    return made;
  }
};
using named_category = named_category_in<domain::global>;

template <class D = domain::global>
class registered_string_in {
 public:
  explicit registered_string_in(char const* text) noexcept
      : handle_(nvtxDomainRegisterStringA(domain::get<D>(), text)) {}
  explicit registered_string_in(wchar_t const* text) noexcept
      : handle_(nvtxDomainRegisterStringW(domain::get<D>(), text)) {}
  explicit registered_string_in(std::string const& text) noexcept : registered_string_in(text.c_str()) {}
  explicit registered_string_in(std::wstring const& text) noexcept : registered_string_in(text.c_str()) {}
  /// The one that type M describes.
  template <class M>
  static registered_string_in const& get() noexcept {
    static registered_string_in const made(M::message);
    return made;
  }
  nvtxStringHandle_t get_handle() const noexcept { return handle_; }

 private:
  nvtxStringHandle_t handle_;
};
using registered_string = registered_string_in<domain::global>;

/// Texts are not copied: they live as long as the call that they are given to.
class message {
 public:
  using value_type = nvtxMessageValue_t;
  message(char const* text) noexcept : type_(NVTX_MESSAGE_TYPE_ASCII) { value_.ascii = text; }
  message(wchar_t const* text) noexcept : type_(NVTX_MESSAGE_TYPE_UNICODE) { value_.unicode = text; }
  message(std::string const& text) noexcept : message(text.c_str()) {}
  message(std::wstring const& text) noexcept : message(text.c_str()) {}
  message(std::string&&) = delete;
  message(std::wstring&&) = delete;
  template <class D>
  message(registered_string_in<D> const& text) noexcept : type_(NVTX_MESSAGE_TYPE_REGISTERED) {
    value_.registered = text.get_handle();
  }
  value_type get_value() const noexcept { return value_; }
  nvtxMessageType_t get_type() const noexcept { return type_; }

 private:
  nvtxMessageType_t type_;
  value_type value_;
};

class payload {
 public:
  using value_type = decltype(nvtxEventAttributes_t::payload);
  explicit payload(long long value) noexcept : type_(NVTX_PAYLOAD_TYPE_INT64) { value_.llValue = value; }
  explicit payload(long value) noexcept : payload(static_cast<long long>(value)) {}
  explicit payload(unsigned long long value) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) {
    value_.ullValue = value;
  }
  explicit payload(unsigned long value) noexcept : payload(static_cast<unsigned long long>(value)) {}
  explicit payload(int value) noexcept : type_(NVTX_PAYLOAD_TYPE_INT32) { value_.iValue = value; }
  explicit payload(unsigned value) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) { value_.uiValue = value; }
  explicit payload(float value) noexcept : type_(NVTX_PAYLOAD_TYPE_FLOAT) { value_.fValue = value; }
  explicit payload(double value) noexcept : type_(NVTX_PAYLOAD_TYPE_DOUBLE) { value_.dValue = value; }
  value_type get_value() const noexcept { return value_; }
  nvtxPayloadType_t get_type() const noexcept { return type_; }

 private:
  nvtxPayloadType_t type_;
  value_type value_;
};

/// What an event carries, in any order.
class event_attributes {
 public:
  using value_type = nvtxEventAttributes_t;
  event_attributes() noexcept : attributes_() {
    attributes_.version = NVTX_VERSION;
    attributes_.size = static_cast<uint16_t>(sizeof(attributes_));
  }
  template <class... Others>
  explicit event_attributes(category const& c, Others const&... others) noexcept : event_attributes(others...) {
    attributes_.category = c.get_id();
  }
  template <class... Others>
  explicit event_attributes(color const& c, Others const&... others) noexcept : event_attributes(others...) {
    attributes_.color = c.get_value();
    attributes_.colorType = c.get_type();
  }
  template <class... Others>
  explicit event_attributes(payload const& p, Others const&... others) noexcept : event_attributes(others...) {
    attributes_.payload = p.get_value();
    attributes_.payloadType = p.get_type();
  }
  template <class... Others>
  explicit event_attributes(message const& m, Others const&... others) noexcept : event_attributes(others...) {
    attributes_.message = m.get_value();
    attributes_.messageType = m.get_type();
  }
  value_type const* get() const noexcept { return &attributes_; }

 private:
  value_type attributes_;
};

/// From here to the end of the scope, on this thread.
template <class D = domain::global>
class scoped_range_in {
 public:
  explicit scoped_range_in(event_attributes const& attributes) noexcept {
    nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
  }
  template <
      class First, class... Others,
      class = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
  explicit scoped_range_in(First const& first, Others const&... others) noexcept
      : scoped_range_in(event_attributes(first, others...)) {}
  scoped_range_in() noexcept : scoped_range_in(event_attributes()) {}
  ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::get<D>()); }
  scoped_range_in(scoped_range_in const&) = delete;
  scoped_range_in& operator=(scoped_range_in const&) = delete;
  void* operator new(std::size_t) = delete;
};
using scoped_range = scoped_range_in<domain::global>;

/// The same, if it is begun.
template <class D = domain::global>
class optional_scoped_range_in {
 public:
  optional_scoped_range_in() = default;
  void begin(event_attributes const& attributes) noexcept {
    nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
    is_begun_ = true;
  }
  ~optional_scoped_range_in() noexcept {
    if (is_begun_) nvtxDomainRangePop(domain::get<D>());
  }
  optional_scoped_range_in(optional_scoped_range_in const&) = delete;
  optional_scoped_range_in& operator=(optional_scoped_range_in const&) = delete;

 private:
  bool is_begun_ = false;
};

/// Of a range that may end on another thread.
struct range_handle {
  using value_type = nvtxRangeId_t;
  constexpr explicit range_handle(value_type id) noexcept : value_(id) {}
  constexpr range_handle() noexcept : value_(0) {}
  constexpr explicit operator bool() const noexcept { return value_ != 0; }
  constexpr value_type get_value() const noexcept { return value_; }

 private:
  value_type value_;
};
inline bool operator==(range_handle a, range_handle b) noexcept { return a.get_value() == b.get_value(); }
inline bool operator!=(range_handle a, range_handle b) noexcept { return !(a == b); }

template <class D = domain::global, class... Arguments>
range_handle start_range_in(Arguments const&... arguments) noexcept {
  return range_handle(nvtxDomainRangeStartEx(domain::get<D>(), event_attributes(arguments...).get()));
}
template <class... Arguments>
range_handle start_range(Arguments const&... arguments) noexcept {
  return start_range_in<domain::global>(arguments...);
}
template <class D = domain::global>
void end_range_in(range_handle range) noexcept {
  nvtxDomainRangeEnd(domain::get<D>(), range.get_value());
}
inline void end_range(range_handle range) noexcept { end_range_in<domain::global>(range); }

/// The owner of such a range, which ends with it.
template <class D = domain::global>
class unique_range_in {
 public:
  template <class... Arguments>
  explicit unique_range_in(Arguments const&... arguments) noexcept : handle_(start_range_in<D>(arguments...)) {}
  unique_range_in(unique_range_in&& other) noexcept : handle_(other.handle_) { other.handle_ = range_handle(); }
  unique_range_in& operator=(unique_range_in&& other) noexcept {
    if (this != &other) {
      end();
      handle_ = other.handle_;
      other.handle_ = range_handle();
    }
    return *this;
  }
  ~unique_range_in() noexcept { end(); }
  unique_range_in(unique_range_in const&) = delete;
  unique_range_in& operator=(unique_range_in const&) = delete;

 private:
  void end() noexcept {
    if (handle_) end_range_in<D>(handle_);
  }
  range_handle handle_;
};
using unique_range = unique_range_in<domain::global>;

template <class D = domain::global, class... Arguments>
void mark_in(Arguments const&... arguments) noexcept {
  nvtxDomainMarkEx(domain::get<D>(), event_attributes(arguments...).get());
}
template <class... Arguments>
void mark(Arguments const&... arguments) noexcept {
  mark_in<domain::global>(arguments...);
}

}  // namespace v1
}  // namespace nvtx3

/// A range for the rest of the function, with its name; `_IF`: only where the condition holds.
#define NVTX3_V1_FUNC_RANGE_IF_IN(D, condition)                                      \
  ::nvtx3::v1::optional_scoped_range_in<D> nvtx3_range__;                            \
  if (condition) {                                                                   \
    static ::nvtx3::v1::registered_string_in<D> const nvtx3_func_name__(__func__);   \
    static ::nvtx3::v1::event_attributes const nvtx3_func_attr__(nvtx3_func_name__); \
    nvtx3_range__.begin(nvtx3_func_attr__);                                          \
  }                                                                                  \
  static_assert(true, "a semicolon follows")
#define NVTX3_V1_FUNC_RANGE_IN(D) NVTX3_V1_FUNC_RANGE_IF_IN(D, true)
#define NVTX3_V1_FUNC_RANGE_IF(condition) NVTX3_V1_FUNC_RANGE_IF_IN(::nvtx3::v1::domain::global, condition)
#define NVTX3_V1_FUNC_RANGE() NVTX3_V1_FUNC_RANGE_IN(::nvtx3::v1::domain::global)
#define NVTX3_FUNC_RANGE_IF_IN(D, condition) NVTX3_V1_FUNC_RANGE_IF_IN(D, condition)
#define NVTX3_FUNC_RANGE_IN(D) NVTX3_V1_FUNC_RANGE_IN(D)
#define NVTX3_FUNC_RANGE_IF(condition) NVTX3_V1_FUNC_RANGE_IF(condition)
#define NVTX3_FUNC_RANGE() NVTX3_V1_FUNC_RANGE()

#endif
