// Members of an array of structures, of which each lane has one: `p[i].x`, `p[i].y` and `p[i].z` by the thread i.
//
// One member of all lanes lies in 32 places that are apart by the size of the structure. To go to each of them takes an
// instruction for each lane and member. The structures of a warp together are contiguous, however, so that vectors read
// them as they lie, and shuffles, a logarithm of the size for each vector, sort the members out: the transposition of a
// matrix of 32 rows. Stores go the other way; what lies between the members that are written is left out by a mask.
//
// So the loads of members from one register become one, as in merged_loads.hpp, and the first of them does the work of
// all; of stores it is the last. That is allowed where nothing between them touches memory in another way: no order is
// promised among plain accesses of one thread to different places (PTX ISA, "Memory Consistency Model").
#pragma once

#include <map>
#include <set>
#include <vector>

#include "simt/access_plan.hpp"

namespace ordito::simt {

/// Accesses to members of one structure in each lane.
struct Structure {
  /// What an access, or one element of it if it is of vectors (ld.v2, st.v4), moves.
  struct Member {
    const Instruction* access;
    const ptx::Operand* value;  // where to, or where from
    unsigned place;             // which element of the structure it is, from `first` on
  };
  std::vector<Member> members;  // in the order of their addresses
  unsigned words = 0;           // from one lane's structure to the next one's, in elements
  unsigned bytes = 0;           // of an element
  int64_t first = 0;            // where the first member lies, from the address
};

/// Accesses of whole warps only: under a mask each goes its own way, as the plan of accesses says.
struct Structures {
  std::map<const Instruction*, Structure> byWorker;  // by the access that does the work
  std::set<const Instruction*> members;
};

/// `accesses`: what the plan says of them without this.
Structures findStructures(const ir::Function& function, const AccessPlan& accesses, const Facts& facts);

std::string print(const Structures& structures, const ir::Function& function);

}  // namespace ordito::simt
