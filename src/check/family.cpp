// See family.hpp.
#include "check/family.hpp"

namespace ordito::check {

using Stream = machine::ChildLaunchEvent::Stream;

Family::Member Family::add(std::optional<Birth> birth) {
  const uint32_t depth = birth ? members_[birth->parent].depth + 1 : 0;
  members_.push_back({std::move(birth), nullptr, depth});
  return static_cast<Member>(members_.size() - 1);
}

/// Both are followed up to where they descend from the same grid: one of them may be of that grid itself.
bool Family::isOrdered(const Deed& earlier, const Deed& later) const {
  Member one = earlier.member, two = later.member;
  Member ofOne = one, ofTwo = two;  // the children of the common grid
  while (one != two) {
    const bool isOneDeeper = members_[one].depth >= members_[two].depth;
    const bool isTwoDeeper = members_[two].depth >= members_[one].depth;
    if (isOneDeeper) one = parentOf(ofOne = one);
    if (isTwoDeeper) two = parentOf(ofTwo = two);
  }
  if (two == later.member) return false;  // what a child does goes on beside its parent
  const Birth& birth = *members_[ofTwo].birth;
  if (birth.stream == Stream::Tail) return true;
  if (one == earlier.member)
    return earlier.block == birth.block && earlier.actor < birth.known.size() &&
           earlier.at <= birth.known[earlier.actor];
  // Two children of one grid: streams of one block are taken to be in order, since events may put them so.
  const Birth& before = *members_[ofOne].birth;
  return before.stream == Stream::Ordered && birth.stream == Stream::Ordered && before.block == birth.block;
}

}  // namespace ordito::check
