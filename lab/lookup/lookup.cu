// A text in upper case by condition and by table look-up: the table in global, shared and constant memory. Bandwidth is
// counted as the course counts it, three bytes for each character (text read, table read, text written): 3N/T. Every
// variant must give the bytes that the condition gives; the second table of the course's exercise, any 256 bytes, is
// tried by --variant any_table.
//
//   lookup [--size N] [--file TEXT] [--block B] [--variant NAME] [--rounds R] [--json]        N: characters
#include "../common/bandwidth.hpp"
#include "../common/output.hpp"
#include "../common/text.hpp"
#include "kernels.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 31;
constexpr unsigned kGrid = 1024;

using Table = std::vector<unsigned char>;

unsigned char upper(unsigned char c) { return c >= 'a' && c <= 'z' ? static_cast<unsigned char>(c - 'a' + 'A') : c; }

Table upperTable() {
  Table table(kEntries);
  for (unsigned c = 0; c < kEntries; ++c) table[c] = upper(static_cast<unsigned char>(c));
  return table;
}

/// A table without any structure: all byte values once, shuffled.
Table scrambledTable() {
  Table table(kEntries);
  for (unsigned c = 0; c < kEntries; ++c) table[c] = static_cast<unsigned char>(c * 167 + 13);
  return table;
}

struct Context {
  Context(const lab::Options& given, std::vector<unsigned char> characters)
      : options(given),
        text(std::move(characters)),
        result(text.size()),
        deviceText(text.size()),
        deviceTable(kEntries) {}

  unsigned n() const { return static_cast<unsigned>(text.size()); }

  const lab::Options& options;
  std::vector<unsigned char> text, result;
  lab::DeviceArray<unsigned char> deviceText, deviceTable;
};

void judge(const Context& c, lab::Measurement& row, const Table& table) {
  row.bytes = 3.0 * static_cast<double>(c.text.size());
  row.verified = lab::Verified::yes;
  for (std::size_t i = 0; i < c.text.size(); ++i) {
    if (c.result[i] == table[c.text[i]]) continue;
    row.verified = lab::Verified::no;
    row.note = "character " + std::to_string(i) + " is wrong";
    return;
  }
}

void runBranch(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.result = c.text; },
      [&] {
        for (unsigned char& character : c.result) character = upper(character);
      });
  judge(c, row, upperTable());
}

void runTable(Context& c, lab::Measurement& row) {
  const Table table = upperTable();
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.result = c.text; },
      [&] {
        for (unsigned char& character : c.result) character = table[character];
      });
  judge(c, row, table);
}

/// The kernels work in place, so that each round begins with a fresh copy of the text.
template <class Launch>
void measure(Context& c, lab::Measurement& row, const char* kernel, const Table& table, Launch launch) {
  row.kernel = kernel;
  row.grid = dim3(kGrid);
  row.block = dim3(c.options.block);
  c.deviceTable.upload(table.data(), table.size());
  lab::timeRounds(
      c.options.rounds, row, [&] { c.deviceText.upload(c.text.data(), c.text.size()); },
      [&] {
        if (c.text.empty()) return;
        launch(row.grid, row.block);
        lab::launched(kernel);
      },
      [&] { c.deviceText.download(c.result.data(), c.result.size()); });
  judge(c, row, table);
}

void runGpuBranch(Context& c, lab::Measurement& row) {
  measure(c, row, "lookupBranch", upperTable(),
          [&](dim3 grid, dim3 block) { lookupBranch<<<grid, block>>>(c.deviceText.get(), c.n()); });
}

void runGlobal(Context& c, lab::Measurement& row) {
  measure(c, row, "lookupGlobal", upperTable(), [&](dim3 grid, dim3 block) {
    lookupGlobal<<<grid, block>>>(c.deviceText.get(), c.deviceTable.get(), c.n());
  });
}

void measureShared(Context& c, lab::Measurement& row, const Table& table) {
  measure(c, row, "lookupShared", table, [&](dim3 grid, dim3 block) {
    lookupShared<<<grid, block>>>(c.deviceText.get(), c.deviceTable.get(), c.n());
  });
}

void runShared(Context& c, lab::Measurement& row) { measureShared(c, row, upperTable()); }

void runAnyTable(Context& c, lab::Measurement& row) { measureShared(c, row, scrambledTable()); }

void runConstant(Context& c, lab::Measurement& row) {
  const Table table = upperTable();
  LAB_CHECK(cudaMemcpyToSymbol(constantTable, table.data(), table.size()));
  measure(c, row, "lookupConstant", table,
          [&](dim3 grid, dim3 block) { lookupConstant<<<grid, block>>>(c.deviceText.get(), c.n()); });
}

void runSharedWide(Context& c, lab::Measurement& row) {
  measure(c, row, "lookupSharedWide", upperTable(), [&](dim3 grid, dim3 block) {
    lookupSharedWide<<<grid, block>>>(c.deviceText.get(), c.deviceTable.get(), c.n());
  });
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"branch", "lut.branch", "Condition (CPU)", true, runBranch},
    {"table", "lut.cpu", "Table (CPU)", true, runTable},
    {"gpu_branch", "lut.branch", "Condition", true, runGpuBranch},
    {"global", "lut.global", "Table in global memory", true, runGlobal},
    {"constant", "lut.const", "Table in constant memory", true, runConstant},
    {"shared", "lut.shared", "Table in shared memory", true, runShared},
    {"shared_wide", "lut.best", "Table in shared memory, 16 characters at a time", true, runSharedWide},
    {"any_table", "lut.cpu", "Another table, in shared memory", false, runAnyTable},
};

/// 3N/T, with T in milliseconds, gives GB/s. From the published times it must give the published bandwidths.
void noteFormula(lab::Output& output) {
  constexpr double kCharacters = 49175956;
  char line[160];
  std::snprintf(line, sizeof line, "3N/T from the published times: global %.3f, shared %.3f, constant %.3f GB/s",
                3 * kCharacters / 7.787744e6, 3 * kCharacters / 1.810464e6, 3 * kCharacters / 3.275104e6);
  output.note(line);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 49175956;  // the text of the published figures
  options.block = 256;
  options = lab::parse(argc, argv, options, " [--file TEXT]");
  std::vector<unsigned char> text = lab::textFor(options, kLargestSize);
  lab::Output output("lookup", options);
  Context context(options, std::move(text));
  lab::runVariants(kVariants, options, context, output);
  noteFormula(output);
  lab::noteBestBandwidth(output);
  return output.finish("branch");
}
