// See visible_devices.hpp.
#include "driver/visible_devices.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace ordito::driver {
namespace {

std::string_view trimmed(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
  return word.substr(0, word.find_last_not_of(' ') + 1);
}

/// As many as there are: none has this name.
size_t numberOf(std::string_view name, const std::vector<std::string>& uuids) {
  size_t number = uuids.size();
  if (name.starts_with("GPU-"))
    return static_cast<size_t>(
        std::find_if(uuids.begin(), uuids.end(), [&](const std::string& uuid) { return uuid.starts_with(name); }) -
        uuids.begin());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() ? number : uuids.size();
}

}  // namespace

std::vector<size_t> visibleDevices(std::optional<std::string_view> wanted, const std::vector<std::string>& uuids) {
  std::vector<size_t> visible;
  if (!wanted) {
    visible.resize(uuids.size());
    std::iota(visible.begin(), visible.end(), size_t{0});
    return visible;
  }
  for (size_t at = 0; at <= wanted->size();) {
    const size_t end = std::min(wanted->find(',', at), wanted->size());
    const size_t number = numberOf(trimmed(wanted->substr(at, end - at)), uuids);
    if (number >= uuids.size()) break;
    if (std::find(visible.begin(), visible.end(), number) != visible.end()) return {};
    visible.push_back(number);
    at = end + 1;
  }
  return visible;
}

}  // namespace ordito::driver
