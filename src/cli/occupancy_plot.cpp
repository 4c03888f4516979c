// `ordito occupancy --plot`: resident warps against block size, registers and shared memory, one panel each.
//
// Occupancy is a staircase: between two values that are drawn the number of blocks does not change by halves, so a step
// is drawn as a step. All panels share the scale of warps, from 0 to what the multiprocessor holds.
#include <fmt/format.h>

#include <algorithm>

#include "cli/occupancy_curves.hpp"
#include "report/svg.hpp"
#include "report/units.hpp"

namespace ordito::cli {
namespace {

using machine::GpuDescription;
using machine::KernelResources;
using report::svg::text;

// Geometry, in the units of the picture.
constexpr int kWidth = 1160, kHeight = 420;
constexpr int kMargin = 24, kLeft = 70, kGap = 40;
constexpr int kTop = 104, kBottom = 70;
constexpr int kPanels = 3;
constexpr int kPanelWidth = (kWidth - kLeft - kMargin - (kPanels - 1) * kGap) / kPanels;
constexpr int kPanelHeight = kHeight - kTop - kBottom;
constexpr int kTicks = 4;

struct Panel {
  const OccupancyCurve& curve;
  uint32_t mostWarps;
  int left;

  uint32_t last() const { return std::max(curve.points.back().value, 1u); }
  double x(uint32_t value) const { return left + static_cast<double>(kPanelWidth) * value / last(); }
  double y(uint32_t warps) const { return kTop + kPanelHeight * (1 - static_cast<double>(warps) / mostWarps); }
};

/// Shared memory in KiB, all else as it is.
std::string tickLabel(const OccupancyCurve& curve, uint32_t value) {
  return curve.key == "shared" ? fmt::format("{} KiB", value / 1024) : report::grouped(value);
}

std::string drawGrid(const Panel& panel) {
  std::string out;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const uint32_t warps = panel.mostWarps * static_cast<uint32_t>(tick) / kTicks;
    out += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" class=\"grid\"/>\n", panel.left,
                       panel.y(warps), panel.left + kPanelWidth, panel.y(warps));
    if (panel.left == kLeft)
      out += text(kLeft - 8, panel.y(warps) + 4, "class=\"value\" text-anchor=\"end\"", fmt::format("{}", warps));
    const uint32_t value = panel.last() * static_cast<uint32_t>(tick) / kTicks;
    const char* anchor = tick == 0 ? "start" : tick == kTicks ? "end" : "middle";
    out += text(panel.x(value), kTop + kPanelHeight + 18, fmt::format("class=\"value\" text-anchor=\"{}\"", anchor),
                tickLabel(panel.curve, value));
  }
  return out;
}

/// A point holds for the values since the one before it, since resources are rounded up.
std::string drawStairs(const Panel& panel) {
  std::string path;
  uint32_t from = 0;
  for (const OccupancyPoint& point : panel.curve.points) {
    const double y = panel.y(point.occupancy.warps);
    path += fmt::format("{}{:.1f},{:.1f} {:.1f},{:.1f}", path.empty() ? "" : " ", panel.x(from), y,
                        panel.x(point.value), y);
    from = point.value;
  }
  return fmt::format("<polyline class=\"curve\" data-axis=\"{}\" points=\"{}\"/>\n", panel.curve.key, path);
}

std::string drawMark(const Panel& panel, const machine::Occupancy& now) {
  if (panel.curve.now > panel.last()) return "";
  const double x = panel.x(panel.curve.now), y = panel.y(now.warps);
  const bool right = panel.curve.now > panel.last() * 3 / 4;
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"mark\"/>\n", x, y) +
         text(x + (right ? -9 : 9), y + (now.warps == panel.mostWarps ? -9 : 18),
              fmt::format("class=\"now\" text-anchor=\"{}\"", right ? "end" : "start"),
              tickLabel(panel.curve, panel.curve.now));
}

std::string head(const GpuDescription& gpu, const KernelResources& kernel, const machine::Occupancy& now) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
      "<style>.title{{font-size:18px;font-weight:bold}}.head{{font-size:13px;font-weight:bold}}"
      ".value{{font-size:12px;fill:#333}}.small{{font-size:12px;fill:#555}}"
      ".now{{font-size:12px;font-weight:bold;fill:#a85f17}}"
      ".grid{{stroke:#ddd}}.curve{{fill:none;stroke:#3b6ea5;stroke-width:2}}.mark{{fill:#c8782a}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  out += text(kMargin, 32, "class=\"title\"", "Occupancy: " + gpu.name);
  return out + text(kMargin, 54, "class=\"small\"",
                    fmt::format("{} threads in a block, {} registers for each, {} of shared memory: {} blocks, {} of "
                                "{} warps, limited by {}",
                                kernel.threadsPerBlock, kernel.registersPerThread,
                                report::bytes(static_cast<double>(kernel.sharedPerBlock)), now.blocks, now.warps,
                                gpu.threadsPerMultiprocessor / 32, limitOf(gpu, kernel)));
}

}  // namespace

std::string plotOccupancy(const GpuDescription& gpu, const KernelResources& kernel) {
  const machine::Occupancy now = machine::occupancy(gpu, kernel);
  std::string out = head(gpu, kernel, now);
  int left = kLeft;
  for (const OccupancyCurve& curve : occupancyCurves(gpu, kernel)) {
    const Panel panel{curve, gpu.threadsPerMultiprocessor / 32, left};
    out += text(left, kTop - 22, "class=\"head\"", "Resident warps");
    out += drawGrid(panel) + drawStairs(panel) + drawMark(panel, now);
    out += text(left + kPanelWidth / 2.0, kHeight - 24, "class=\"small\" text-anchor=\"middle\"", curve.title);
    left += kPanelWidth + kGap;
  }
  return out + "</svg>\n";
}

}  // namespace ordito::cli
