// The plan of a kernel's by thread (by_thread.hpp): the kernel as one thread sees it, with these loops as regions.
#pragma once

#include "simt/plan.hpp"

namespace ordito::simt {

/// What the plan is made of; it and the plan of the whole kernel must outlive it.
struct ThreadKernel {
  explicit ThreadKernel(const Plan& whole);
  const Plan& whole;
  const Facts facts;
  const ir::SyncPoints syncPoints;  // threads come to where stretches begin, and do not wait anywhere
  const ir::Shapes shapes;
};

Plan makeThreadPlan(const ThreadKernel& kernel);

}  // namespace ordito::simt
