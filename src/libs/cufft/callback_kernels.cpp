// The kernels around callbacks that a program gives as code (cufftXtSetJITCallback), in PTX: a call of the function for
// each element. Those around function pointers come with the program (ordito/cufft_callbacks.h).
#include <fmt/format.h>

#include "libs/cufft/callbacks.hpp"

namespace ordito::cufft {
namespace {

libs::PtxElement elementOf(cufftXtCallbackType type) {
  const int kind = type % 4;  // complex, complex double, real, real double
  return {.isComplex = kind < 2, .bytes = kind % 2 == 0 ? 4 : 8};
}

/// %at: the place of element %i. The parameters are those of the kernels in ordito/cufft_callbacks.h, with the
/// structure of places spread out.
constexpr const char* kPlace = R"(
  ld.param.u64 %size, [size2];
  rem.u64 %part, %i, %size;
  div.u64 %rest, %i, %size;
  ld.param.u64 %step, [step2];
  mul.lo.u64 %at, %part, %step;
  ld.param.u64 %size, [size1];
  rem.u64 %part, %rest, %size;
  div.u64 %rest, %rest, %size;
  ld.param.u64 %step, [step1];
  mad.lo.u64 %at, %part, %step, %at;
  ld.param.u64 %size, [size0];
  rem.u64 %part, %rest, %size;
  div.u64 %rest, %rest, %size;
  ld.param.u64 %step, [step0];
  mad.lo.u64 %at, %part, %step, %at;
  ld.param.u64 %step, [batchStep];
  mad.lo.u64 %at, %rest, %step, %at;
)";

}  // namespace

std::string callbackKernel(const std::string& symbol, cufftXtCallbackType type) {
  const libs::PtxElement element = elementOf(type);
  const bool isLoad = type < CUFFT_CB_ST_COMPLEX;
  const std::string arguments = ".param .b64 a, .param .b64 b, ";
  const std::string declaration = isLoad ? fmt::format(".extern .func ({}) {} ({}.param .b64 c, .param .b64 d);",
                                                       element.parameter("r"), symbol, arguments)
                                         : fmt::format(".extern .func {} ({}{}, .param .b64 c, .param .b64 d);", symbol,
                                                       arguments, element.parameter("e"));
  const std::string call =
      isLoad ? fmt::format("{};\n  call (r), {}, (a, b, c, d);\n  ld.param{} {}, [r];\n  st.global{} [%packed], {};",
                           element.parameter("r"), symbol, element.type(), element.registers("%e"), element.type(),
                           element.registers("%e"))
             : fmt::format("{};\n  ld.global{} {}, [%packed];\n  st.param{} [e], {};\n  call {}, (a, b, e, c, d);",
                           element.parameter("e"), element.type(), element.registers("%e"), element.type(),
                           element.registers("%e"), symbol);
  return fmt::format(
      R"(.version 7.0
.target sm_52
.address_size 64
{declaration}
.extern .shared .align 16 .b8 orditoFftShared[];
.visible .entry {kernel}(.param .u64 function, .param .u64 data, .param .u64 count, .param .u64 size0,
  .param .u64 size1, .param .u64 size2, .param .u64 batchStep, .param .u64 step0, .param .u64 step1,
  .param .u64 step2, .param .u64 info, .param .u64 packed) {{
  .reg .u64 %at, %part, %rest, %size, %step, %packed, %value;
  .reg .f{bits} %e0, %e1;
{own}{place}
  ld.param.u64 %packed, [packed];
  mad.lo.u64 %packed, %i, {bytes}, %packed;
  {{
  .param .b64 a;
  .param .b64 b;
  .param .b64 c;
  .param .b64 d;
  ld.param.u64 %value, [data];
  st.param.b64 [a], %value;
  st.param.b64 [b], %at;
  ld.param.u64 %value, [info];
  st.param.b64 [c], %value;
  cvta.shared.u64 %value, orditoFftShared;
  st.param.b64 [d], %value;
  {call}
  }}
  ret;
}}
)",
      fmt::arg("declaration", declaration), fmt::arg("kernel", kCallbackKernel), fmt::arg("place", kPlace),
      fmt::arg("own", libs::kOwnElement), fmt::arg("bits", 8 * element.bytes), fmt::arg("bytes", element.size()),
      fmt::arg("call", call));
}

}  // namespace ordito::cufft
