// See plans.hpp. The text is a list of descriptors, each behind those that it refers to by their numbers in the list;
// the last one is the graph. An attribute has a name, a type, and either the bytes of its values or descriptors.
#include "libs/cudnn/graph/plans.hpp"

#include <climits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ordito::libs::cudnn::graph {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "Ordito's plan, 1";

/// Handles and pointers mean nothing to another process; no operation is made of them.
bool isOfThisProcess(cudnnBackendAttributeType_t type) {
  return type == CUDNN_TYPE_HANDLE || type == CUDNN_TYPE_VOID_PTR;
}

class Writer {
 public:
  /// The descriptor's number in the list.
  size_t write(const Said& said) {
    const auto known = numbers_.find(said.get());
    if (known != numbers_.end()) return known->second;
    json attributes = json::array();
    for (const auto& [name, values] : said->values()) {
      if (isOfThisProcess(values.type)) continue;
      json one{{"name", static_cast<int>(name)}, {"type", static_cast<int>(values.type)}};
      if (values.type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        one["of"] = json::array();
        for (const Said& other : values.descriptors) one["of"].push_back(write(other));
      } else {
        one["bytes"] = json::array();
        for (const std::byte byte : values.bytes) one["bytes"].push_back(static_cast<int>(byte));
      }
      attributes.push_back(std::move(one));
    }
    list.push_back({{"type", static_cast<int>(said->type())}, {"attributes", std::move(attributes)}});
    return numbers_[said.get()] = list.size() - 1;
  }

  json list = json::array();

 private:
  std::map<const Descriptor*, size_t> numbers_;
};

/// A whole number that is not negative; throws where the text has another one.
template <class T>
T numberOf(const json& value, uint64_t most) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most) throw std::out_of_range("a number of a plan");
  return static_cast<T>(value.get<uint64_t>());
}

/// As the program said it; false where it could not have.
bool say(Descriptor& to, const json& attribute, const std::vector<Said>& known) {
  const auto name = numberOf<cudnnBackendAttributeName_t>(attribute.at("name"), INT_MAX);
  const auto type = numberOf<cudnnBackendAttributeType_t>(attribute.at("type"), INT_MAX);
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    std::vector<Place> places;
    for (const json& number : attribute.at("of"))
      places.push_back({std::const_pointer_cast<Descriptor>(known.at(numberOf<size_t>(number, SIZE_MAX)))});
    std::vector<const Place*> pointers;
    for (const Place& place : places) pointers.push_back(&place);
    return to.set(name, type, static_cast<int64_t>(pointers.size()), pointers.data()) == CUDNN_STATUS_SUCCESS;
  }
  std::vector<uint8_t> bytes;
  for (const json& byte : attribute.at("bytes")) bytes.push_back(numberOf<uint8_t>(byte, UINT8_MAX));
  const size_t size = sizeOf(type);
  if (size == 0 || bytes.size() % size != 0 || isOfThisProcess(type)) return false;
  return to.set(name, type, static_cast<int64_t>(bytes.size() / size), bytes.data()) == CUDNN_STATUS_SUCCESS;
}

}  // namespace

std::string toJson(const Said& graph) {
  Writer writer;
  writer.write(graph);
  return json{{"format", kFormat}, {"descriptors", std::move(writer.list)}}.dump();
}

Said fromJson(const std::string& text) {
  try {
    const json document = json::parse(text);
    if (document.at("format") != kFormat) return nullptr;
    std::vector<Said> known;
    for (const json& one : document.at("descriptors")) {
      const auto type = numberOf<cudnnBackendDescriptorType_t>(one.at("type"), INT_MAX);
      const auto descriptor = std::make_shared<Descriptor>(type);
      for (const json& attribute : one.at("attributes"))
        if (!say(*descriptor, attribute, known)) return nullptr;
      if (descriptor->finalize() != CUDNN_STATUS_SUCCESS) return nullptr;
      known.push_back(descriptor);
    }
    return !known.empty() && known.back()->graph ? known.back() : nullptr;
  } catch (const json::exception&) {
    return nullptr;
  } catch (const std::out_of_range&) {
    return nullptr;
  }
}

}  // namespace ordito::libs::cudnn::graph
