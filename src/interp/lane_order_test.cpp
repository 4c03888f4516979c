// Orders of functions whose text is, and is not, as they run.
#include "interp/lane_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ptx/parser.hpp"

namespace ordito::interp {
namespace {

ptx::Module parse(const std::string& code) {
  auto module = ptx::parse(
      ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k() {\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n" +
      code + "}\n");
  EXPECT_TRUE(module) << code;
  return *module;
}

LaneOrder orderOf(const std::string& code) { return laneOrder(parse(code).functions[0]); }

using Places = std::vector<uint32_t>;

TEST(LaneOrderTest, TextThatIsInOrderKeepsIt) {
  const LaneOrder order = orderOf(R"(
    @%p1 bra Else;
    mov.u32 %r1, 1;
    bra Join;
  Else:
    mov.u32 %r1, 2;
  Join:
    add.u32 %r2, %r2, 1;
    @%p2 bra Join;
    ret;
  )");
  EXPECT_EQ(order.place, (Places{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(order.loopEnd, (Places{0, 0, 0, 0, 5, 0, 0}));
}

TEST(LaneOrderTest, WhatIsBehindALoopComesBehindAllOfIt) {
  const LaneOrder order = orderOf(R"(
    bra Head;
  Exit:
    mov.u32 %r1, 1;
    ret;
  Latch:
    @%p1 bra Head;
    bra Exit;
  Head:
    @%p2 bra Latch;
    bra Exit;
  )");
  EXPECT_EQ(order.place, (Places{0, 5, 6, 2, 3, 1, 4, 7}));
  EXPECT_EQ(order.loopEnd, (Places{0, 0, 0, 0, 0, 2, 0})) << "places, by instruction";
}

TEST(LaneOrderTest, OfNestedLoopsTheInnerComesFirst) {
  const LaneOrder order = orderOf(R"(
    bra Outer;
  Behind:
    ret;
  OuterLatch:
    @%p1 bra Outer;
    bra Behind;
  Outer:
    mov.u32 %r1, 1;
  Inner:
    @%p2 bra Inner;
    bra OuterLatch;
  )");
  EXPECT_EQ(order.place, (Places{0, 6, 4, 5, 1, 2, 3, 7}));
  EXPECT_EQ(order.loopEnd, (Places{0, 0, 0, 0, 4, 2, 0}));
}

TEST(LaneOrderTest, LoopsWithTwoHeadsHaveSomeOrder) {
  const LaneOrder order = orderOf(R"(
    @%p1 bra B;
  A:
    mov.u32 %r1, 1;
  B:
    mov.u32 %r1, 2;
    @%p2 bra A;
    ret;
  )");
  std::vector<uint32_t> places = order.place;
  std::ranges::sort(places);
  EXPECT_EQ(places, (Places{0, 1, 2, 3, 4, 5}));
}

TEST(LaneOrderTest, WhatNothingLeadsToHasAPlace) {
  EXPECT_EQ(orderOf("ret;\nmov.u32 %r1, 1;\nret;\n").place, (Places{0, 1, 2, 3}));
}

TEST(LaneOrderTest, AFunctionWithoutCodeHasItsEnd) { EXPECT_EQ(laneOrder(ptx::Function{}).place, (Places{0})); }

}  // namespace
}  // namespace ordito::interp
