// What a memory's bandwidth allows, and how good a measured one is, by the course's rule: compare it with what the
// card's memory can do.
#pragma once

#include "output.hpp"

namespace lab {

/// No program is faster than the processor's peak, or than the memory's bandwidth times its operations for each byte.
inline double attainable(double peakGflops, double bandwidth, double flopsPerByte) {
  return std::min(peakGflops, bandwidth * flopsPerByte);
}

/// Up to 35 % of the peak is poor, up to 60 % acceptable, more is excellent.
inline const char* bandwidthClass(double percent) {
  if (percent <= 35) return "poor";
  return percent <= 60 ? "acceptable" : "excellent";
}

/// GB/s, from the memory's clock and the width of its bus; two transfers in each clock.
inline double peakBandwidth() {
  int device = 0;
  int kilohertz = 0;
  int bits = 0;
  LAB_CHECK(cudaGetDevice(&device));
  LAB_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device));
  LAB_CHECK(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  return 2.0 * kilohertz * (bits / 8) * 1e-6;
}

/// Says which share of the card's bandwidth the fastest kernel that does the whole work reaches.
inline void noteBestBandwidth(Output& output) {
  const double peak = peakBandwidth();
  const Measurement* best = nullptr;
  for (const Measurement& row : output.rows()) {
    if (row.verified != Verified::yes || row.kernel.empty() || row.kernelMs <= 0 || row.bytes <= 0) continue;
    if (best == nullptr || row.bytes / row.kernelMs > best->bytes / best->kernelMs) best = &row;
  }
  if (best == nullptr || peak <= 0) return;
  const double bandwidth = best->bytes / best->kernelMs * 1e-6;
  const double percent = 100 * bandwidth / peak;
  char line[200];
  std::snprintf(line, sizeof line, "highest bandwidth: %s, %.2f GB/s, %.1f %% of the card's %.1f GB/s: %s",
                best->name.c_str(), bandwidth, percent, peak, bandwidthClass(percent));
  output.note(line);
}

}  // namespace lab
