#include "libs/cusparse/operator_kernels.hpp"

#include <fmt/format.h>

namespace ordito::cusparse {
namespace {

constexpr const char* kHeader = ".version 7.0\n.target sm_52\n.address_size 64\n";

/// Registers NAME0 and NAME1 for an element.
std::string declare(const libs::PtxElement& element, const std::string& name) {
  return fmt::format("  .reg .{}{} {}<2>;\n", element.letter, 8 * element.bytes, name);
}
std::string clear(const libs::PtxElement& element, const std::string& name) {
  const std::string zero = element.letter == 'b' ? "0" : element.bytes == 8 ? "0d0000000000000000" : "0f00000000";
  return fmt::format("  mov.{0}{1} {2}0, {3};\n  mov.{0}{1} {2}1, {3};\n", element.letter, 8 * element.bytes, name,
                     zero);
}
std::string copy(const libs::PtxElement& element, const std::string& to, const std::string& from) {
  const std::string move = fmt::format("mov.{}{}", element.letter, 8 * element.bytes);
  std::string text = fmt::format("  {} {}0, {}0;\n", move, to, from);
  return element.isComplex ? text + fmt::format("  {} {}1, {}1;\n", move, to, from) : text;
}
/// %at = the place of the element `index` of the array that a parameter points to.
std::string place(const char* array, const char* index, int size) {
  return fmt::format("  ld.param.b64 %at, [{}];\n  mad.lo.u64 %at, {}, {}, %at;\n", array, index, size);
}
std::string loadElement(const libs::PtxElement& element, const std::string& to) {
  return fmt::format("  ld.global{} {}, [%at];\n", element.type(), element.registers(to));
}
std::string storeElement(const libs::PtxElement& element, const std::string& from) {
  return fmt::format("  st.global{} [%at], {};\n", element.type(), element.registers(from));
}

}  // namespace

std::optional<libs::PtxElement> elementOf(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F: return libs::PtxElement{};
    case CUDA_R_64F: return libs::PtxElement{.bytes = 8};
    case CUDA_C_32F: return libs::PtxElement{.isComplex = true};
    case CUDA_C_64F: return libs::PtxElement{.isComplex = true, .bytes = 8};
    case CUDA_R_32I: return libs::PtxElement{.letter = 'b'};
    default: return std::nullopt;
  }
}

std::string mangledParameters(cudaDataType type, int count) {
  const bool isStructure = type == CUDA_C_32F || type == CUDA_C_64F;
  const std::string first = type == CUDA_C_32F   ? "6float2"
                            : type == CUDA_C_64F ? "7double2"
                            : type == CUDA_R_64F ? "d"
                            : type == CUDA_R_32I ? "i"
                                                 : "f";
  std::string all = first;
  for (int i = 1; i < count; ++i) all += isStructure ? "S_" : first;
  return all;
}

std::string productKernel(const ProductOperators& operators) {
  const libs::PtxElement element = operators.add.gives;
  std::string text = kHeader;
  for (const auto* one : {&operators.add, &operators.multiply, &operators.epilogue}) text += one->declaration();
  text += fmt::format(
      ".visible .entry {}(.param .b64 offsets, .param .b64 columns, .param .b64 a, .param .b64 b, .param .b64 c,\n"
      "  .param .b64 count, .param .b64 width) {{\n{}  .reg .b64 %at, %row, %j, %k, %end, %column, %width;\n"
      "  .reg .pred %isFirst, %isDone;\n",
      kProductKernel, libs::kOwnElement);
  for (const char* name : {"%x", "%y", "%product", "%sum"}) text += declare(element, name);
  text += clear(element, "%sum");
  text += "  ld.param.b64 %width, [width];\n  div.u64 %row, %i, %width;\n  rem.u64 %j, %i, %width;\n";
  text += place("offsets", "%row", 8) + "  ld.global.b64 %k, [%at];\n  ld.global.b64 %end, [%at+8];\n";
  text += "  setp.eq.u64 %isFirst, %k, %k;\n  setp.ge.u64 %isDone, %k, %end;\n  @%isDone bra SUMMED;\nNEXT:\n";
  text += place("a", "%k", element.size()) + loadElement(element, "%x");
  text += place("columns", "%k", 8) + "  ld.global.b64 %column, [%at];\n  mad.lo.u64 %column, %column, %width, %j;\n";
  text += place("b", "%column", element.size()) + loadElement(element, "%y");
  text += operators.multiply.call({"%x", "%y"}, "%product");
  text += "  @%isFirst bra TAKE;\n" + operators.add.call({"%sum", "%product"}, "%product") + "TAKE:\n";
  text += copy(element, "%sum", "%product");
  text += "  setp.ne.u64 %isFirst, %k, %k;\n  add.u64 %k, %k, 1;\n  setp.lt.u64 %isDone, %k, %end;\n";
  text += "  @%isDone bra NEXT;\nSUMMED:\n" + place("c", "%i", element.size()) + loadElement(element, "%y");
  return text + operators.epilogue.call({"%sum", "%y"}, "%sum") + storeElement(element, "%sum") + "  ret;\n}\n";
}

std::string rowKernel(const libs::PtxFunction& epilogue) {
  const libs::PtxElement element = epilogue.gives, row = epilogue.takes[0];
  std::string text = kHeader + epilogue.declaration();
  text += fmt::format(".visible .entry {}(.param .b64 z, .param .b64 count) {{\n{}  .reg .b64 %at;\n", kRowKernel,
                      libs::kOwnElement);
  text += declare(element, "%x") + declare(row, "%row") + place("z", "%i", element.size()) + loadElement(element, "%x");
  text += row.bytes == 8 ? "  mov.b64 %row0, %i;\n" : "  cvt.u32.u64 %row0, %i;\n";
  return text + epilogue.call({"%row", "%x"}, "%x") + storeElement(element, "%x") + "  ret;\n}\n";
}

}  // namespace ordito::cusparse
