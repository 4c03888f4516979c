// How a lab program reports: the list of its variants, progress lines, and at the end one table or one JSON document.
#pragma once

#include "lab.hpp"

namespace lab {

inline std::string jsonQuote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

inline std::string jsonNumber(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

inline std::string jsonDim(const dim3& d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

/// Collects the measurements of one run of a program and prints them.
class Output {
 public:
  Output(std::string program, const Options& options) : program_(std::move(program)), options_(options) {
    cudaDeviceProp properties;
    int device = 0;
    LAB_CHECK(cudaGetDevice(&device));
    LAB_CHECK(cudaGetDeviceProperties(&properties, device));
    device_ = properties.name;
  }

  void begin(const std::string& variant) const {
    if (options_.progress) std::fprintf(stderr, "  %s: %s\n", program_.c_str(), variant.c_str());
  }
  void add(const Measurement& row) { rows_.push_back(row); }
  const std::vector<Measurement>& rows() const { return rows_; }
  void note(const std::string& line) { notes_.push_back(line); }

  /// Prints everything and returns the program's exit status.
  int finish(const std::string& baseline = "") const {
    bool right = true;
    for (const Measurement& row : rows_) right = right && row.verified != Verified::no;
    if (options_.json) {
      printJson(right);
    } else {
      printTable(baseline);
      if (!right) std::printf("\nWRONG: at least one variant differs from its sequential reference.\n");
    }
    return right ? 0 : 1;
  }

 private:
  static const char* word(Verified v) { return v == Verified::yes ? "yes" : v == Verified::no ? "NO" : "-"; }

  double baselineMs(const std::string& baseline) const {
    for (const Measurement& row : rows_) {
      if (row.name == baseline) return row.totalMs;
    }
    return 0;
  }

  void printTable(const std::string& baseline) const {
    std::printf("%s on %s: %zu elements, median of %d\n\n", program_.c_str(), device_.c_str(), options_.size,
                options_.rounds);
    const double base = baselineMs(baseline);
    std::printf("%-19s %-16s %-12s %11s %11s %8s %8s %9s %9s\n", "variant", "grid", "block", "kernel ms", "total ms",
                "GB/s", "GFLOP/s", "speed-up", "verified");
    for (const Measurement& row : rows_) {
      const bool skipped = row.totalMs == 0 && !row.note.empty() && row.verified == Verified::notApplicable;
      if (skipped) {
        std::printf("%-19s %s\n", row.name.c_str(), row.note.c_str());
        continue;
      }
      std::printf("%-19s %-16s %-12s %11.3f %11.3f", row.name.c_str(), dims(row.grid).c_str(), dims(row.block).c_str(),
                  row.kernelMs, row.totalMs);
      const double seconds = row.kernelMs * 1e-3;
      printRate(row.bytes, seconds);
      printRate(row.flops, seconds);
      if (base > 0 && row.totalMs > 0) {
        std::printf(" %8.2fx", base / row.totalMs);
      } else {
        std::printf(" %9s", "");
      }
      std::printf(" %9s%s%s\n", word(row.verified), row.note.empty() ? "" : "  ", row.note.c_str());
    }
    if (base > 0) printBars(base);
    for (const std::string& line : notes_) std::printf("%s\n", line.c_str());
  }

  static void printRate(double amount, double seconds) {
    if (amount > 0 && seconds > 0) {
      std::printf(" %8.2f", amount / seconds * 1e-9);
    } else {
      std::printf(" %8s", "");
    }
  }

  void printBars(double base) const {
    double best = 0;
    for (const Measurement& row : rows_) {
      if (row.totalMs > 0) best = std::max(best, base / row.totalMs);
    }
    std::printf("\nspeed-up over the CPU baseline\n");
    for (const Measurement& row : rows_) {
      if (row.totalMs <= 0) continue;
      const double speedup = base / row.totalMs;
      const int length = best > 0 ? static_cast<int>(50 * speedup / best + 0.5) : 0;
      std::printf("%-19s %8.2fx %s\n", row.name.c_str(), speedup,
                  std::string(static_cast<std::size_t>(length), '#').c_str());
    }
  }

  static std::string dims(const dim3& d) {
    if (d.x == 0) return "CPU";
    std::string text = std::to_string(d.x);
    if (d.y > 1 || d.z > 1) text += "x" + std::to_string(d.y);
    if (d.z > 1) text += "x" + std::to_string(d.z);
    return text;
  }

  void printJson(bool right) const {
    std::printf("{\"program\":%s,\"device\":%s,\"size\":%zu,\"block\":%u,\"rounds\":%d,\"verified\":%s,\"variants\":[",
                jsonQuote(program_).c_str(), jsonQuote(device_).c_str(), options_.size, options_.block, options_.rounds,
                right ? "true" : "false");
    for (std::size_t i = 0; i < rows_.size(); ++i) std::printf("%s\n%s", i == 0 ? "" : ",", jsonRow(rows_[i]).c_str());
    std::printf("],\n\"notes\":[");
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      std::printf("%s%s", i == 0 ? "" : ",", jsonQuote(notes_[i]).c_str());
    }
    std::printf("]}\n");
  }

  static std::string jsonRow(const Measurement& row) {
    const char* verified = row.verified == Verified::yes ? "true" : row.verified == Verified::no ? "false" : "null";
    return "{\"name\":" + jsonQuote(row.name) + ",\"spec\":" + jsonQuote(row.spec) +
           ",\"title\":" + jsonQuote(row.title) + ",\"kernel\":" + jsonQuote(row.kernel) +
           ",\"grid\":" + jsonDim(row.grid) + ",\"block\":" + jsonDim(row.block) +
           ",\"launch_first\":" + std::to_string(row.launchFirst) +
           ",\"launch_count\":" + std::to_string(row.launchCount) + ",\"kernel_ms\":" + jsonNumber(row.kernelMs) +
           ",\"total_ms\":" + jsonNumber(row.totalMs) + ",\"begin_ns\":" + std::to_string(row.beginNs) +
           ",\"end_ns\":" + std::to_string(row.endNs) + ",\"bytes\":" + jsonNumber(row.bytes) +
           ",\"flops\":" + jsonNumber(row.flops) + ",\"result\":" + jsonQuote(row.result) +
           ",\"verified\":" + verified + ",\"note\":" + jsonQuote(row.note) + "}";
  }

  std::string program_;
  std::string device_;
  Options options_;
  std::vector<Measurement> rows_;
  std::vector<std::string> notes_;
};

/// A variant that a program offers: its row's fixed part, whether it runs by default, and the function that measures
/// it.
template <class Context>
struct Variant {
  const char* name;
  const char* spec;
  const char* title;
  bool byDefault;
  void (*run)(Context&, Measurement&);
};

/// Runs the variants that the options ask for. An unknown name ends the program with the list of names.
template <class Context>
void runVariants(const std::vector<Variant<Context>>& variants, const Options& options, Context& context,
                 Output& output) {
  bool found = false;
  for (const Variant<Context>& variant : variants) {
    const bool asked =
        options.variant.empty() ? variant.byDefault : options.variant == "all" || options.variant == variant.name;
    if (!asked) continue;
    found = true;
    output.begin(variant.name);
    Measurement row;
    row.name = variant.name;
    row.spec = variant.spec;
    row.title = variant.title;
    variant.run(context, row);
    output.add(row);
  }
  if (found) return;
  std::string names;
  for (const Variant<Context>& variant : variants) names += std::string(" ") + variant.name;
  usageError("unknown variant '" + options.variant + "'; there are:" + names);
}

}  // namespace lab
