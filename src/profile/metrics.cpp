// From counters to the GPU profiler's metrics.
//
// The names are those of Nsight Compute ("Metrics Reference"), whose units tell what counts: smsp__ a warp scheduler,
// l1tex__ the L1 and shared-memory pipeline. Where the hardware counts passes of its own pipeline we count what the
// definition says, so that counts are exact and the same on every GPU description:
//   - branch targets: branch instructions executed by warps; divergent when the active lanes did not all go the same
//   way
//   - requests: warp-level memory instructions; sectors: distinct 32-byte pieces of memory that one request touches
//   - wavefronts: passes over the 32 banks of shared memory; bank conflicts: passes beyond those that the access width
//   needs
// What ncu has no metric for has a name that begins with ordito__, or nvprof's.
#include "profile/profile.hpp"

namespace ordito::profile {

namespace {

using machine::Counter;

uint64_t at(const uint64_t* counters, Counter counter) { return counters[static_cast<size_t>(counter)]; }

template <Counter counter>
double count(const uint64_t* counters) {
  return static_cast<double>(at(counters, counter));
}

/// 100 · part / whole, and `none` for an empty whole.
double percent(uint64_t part, uint64_t whole, double none) {
  return whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : none;
}

/// Of a kernel without branches, ncu says 0 and nvprof says 100.
template <int withoutBranches>
double branchEfficiency(const uint64_t* c) {
  uint64_t branches = at(c, Counter::Branches);
  return percent(branches - at(c, Counter::DivergentBranches), branches, withoutBranches);
}

double warpEfficiency(const uint64_t* c) {
  return percent(at(c, Counter::ThreadInstructions), 32 * at(c, Counter::WarpInstructions), 0);
}

double averageSectorsPerLoad(const uint64_t* c) {
  return percent(at(c, Counter::GlobalLoadSectors), at(c, Counter::GlobalLoadRequests), 0) / 100;
}

double averageSectorsPerStore(const uint64_t* c) {
  return percent(at(c, Counter::GlobalStoreSectors), at(c, Counter::GlobalStoreRequests), 0) / 100;
}

constexpr Metric kMetrics[] = {
    {"smsp__inst_executed.sum", false, count<Counter::WarpInstructions>},
    {"smsp__thread_inst_executed_pred_on.sum", false, count<Counter::ThreadInstructions>},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.pct", true, warpEfficiency},
    {"smsp__sass_branch_targets.sum", false, count<Counter::Branches>},
    {"smsp__sass_branch_targets_threads_divergent.sum", false, count<Counter::DivergentBranches>},
    {"smsp__sass_average_branch_targets_threads_uniform.pct", true, branchEfficiency<0>},
    {"branch_efficiency", true, branchEfficiency<100>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", false, count<Counter::GlobalLoadRequests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", false, count<Counter::GlobalLoadSectors>},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", true, averageSectorsPerLoad},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", false, count<Counter::GlobalStoreRequests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", false, count<Counter::GlobalStoreSectors>},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", true, averageSectorsPerStore},
    {"smsp__inst_executed_op_shared_ld.sum", false, count<Counter::SharedLoadRequests>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", false, count<Counter::SharedLoadWavefronts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", false, count<Counter::SharedLoadConflicts>},
    {"smsp__inst_executed_op_shared_st.sum", false, count<Counter::SharedStoreRequests>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", false, count<Counter::SharedStoreWavefronts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", false, count<Counter::SharedStoreConflicts>},
    {"smsp__sass_inst_executed_op_global_atom.sum", false, count<Counter::GlobalAtomics>},
    {"smsp__inst_executed_op_global_red.sum", false, count<Counter::GlobalReductions>},
    {"smsp__inst_executed_op_shared_atom.sum", false, count<Counter::SharedAtomics>},
    {"smsp__inst_executed_op_local_ld.sum", false, count<Counter::LocalLoadRequests>},
    {"smsp__inst_executed_op_local_st.sum", false, count<Counter::LocalStoreRequests>},
    {"smsp__sass_inst_executed_op_ldsm.sum", false, count<Counter::MatrixLoads>},
    {"smsp__sass_inst_executed_op_shared_stsm.sum", false, count<Counter::MatrixStores>},
    {"smsp__sass_inst_executed_op_texture.sum", false, count<Counter::TextureRequests>},
    {"smsp__inst_executed_op_surface_ld.sum", false, count<Counter::SurfaceLoadRequests>},
    {"smsp__inst_executed_op_surface_st.sum", false, count<Counter::SurfaceStoreRequests>},
    {"smsp__inst_executed_op_surface_red.sum", false, count<Counter::SurfaceReductionRequests>},
    {"ordito__barriers.sum", false, count<Counter::Barriers>},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

}  // namespace ordito::profile
