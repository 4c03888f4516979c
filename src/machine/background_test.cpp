// Jobs in the background are done as long as somebody wants them.
#include <gtest/gtest.h>

#include "machine/test_background.hpp"

namespace ordito::machine {
namespace {

TEST(Background, AJobIsDroppedWhenItsOwnerHasDied) {
  auto living = std::make_shared<int>(), dying = std::make_shared<int>();
  int done = 0, dropped = 0, ownersAlive = 0;
  {
    const BusyImprover busy;
    inBackground([&, weak = std::weak_ptr(living)] { ++done, ownersAlive += !weak.expired(); }, Urgency::Improvement,
                 living);
    inBackground([&] { ++dropped; }, Urgency::Improvement, dying);
    dying.reset();
  }
  awaitImprovements();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(ownersAlive, 1);
  EXPECT_EQ(dropped, 0);
}

TEST(Background, WhatADroppedJobHoldsIsGivenBackWithTheNextJob) {
  auto owner = std::make_shared<int>(), held = std::make_shared<int>();
  const std::weak_ptr<int> watched = held;
  const BusyImprover busy;
  inBackground([held = std::move(held)] {}, Urgency::Improvement, owner);
  owner.reset();
  EXPECT_FALSE(watched.expired());
  inBackground([] {}, Urgency::Improvement);
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace ordito::machine
