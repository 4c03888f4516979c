// The catalogue as it is shipped, and the merging of times, counters and published figures.
#include "cli/lab_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "cli/lab_explain.hpp"
#include "cli/lab_order.hpp"
#include "cli/lab_plot.hpp"
#include "cli/lab_study.hpp"

namespace ordito::cli {
namespace {

using nlohmann::json;

constexpr const char* kEfficiency = "smsp__sass_average_branch_targets_threads_uniform.pct";
constexpr const char* kBarrierStall = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";

LabCatalogue shipped() {
  auto catalogue = LabCatalogue::load(LAB_FOLDER);
  if (!catalogue) throw std::runtime_error(catalogue.error().message);
  return *catalogue;
}

const LabColumn& column(const LabProgram& program, const std::string& key) {
  for (const LabColumn& candidate : program.columns) {
    if (candidate.key == key) return candidate;
  }
  throw std::runtime_error("no column " + key);
}

TEST(LabCatalogue, SourcesExist) {
  const LabCatalogue catalogue = shipped();
  for (const LabProgram& program : catalogue.programs()) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(LAB_FOLDER) / program.source)) << program.name;
  }
}

/// A query of the catalogue that finds no figure is a typing mistake.
TEST(LabCatalogue, EveryVariantWithFiguresHasOne) {
  const LabCatalogue catalogue = shipped();
  for (const LabProgram& program : catalogue.programs()) {
    for (const auto& [variant, queries] : program.figures) {
      std::vector<LabColumn> columns = program.columns;
      if (program.study) columns.insert(columns.end(), program.study->rows.begin(), program.study->rows.end());
      const bool found = std::ranges::any_of(columns, [&](const LabColumn& candidate) {
        return catalogue.published(program, variant, candidate).has_value();
      });
      EXPECT_TRUE(found) << program.name << " " << variant;
    }
  }
}

TEST(LabCatalogue, FindsTheBranchEfficienciesOfTheLadder) {
  const LabCatalogue catalogue = shipped();
  const LabProgram* reduction = catalogue.find("reduction");
  ASSERT_NE(reduction, nullptr);
  const std::pair<const char*, double> expected[] = {
      {"neighbored", 68.75}, {"neighbored_less", 98.36}, {"interleaved", 98.36}, {"unroll2", 98.36},
      {"unroll4", 98.36},    {"unroll8", 98.44},         {"unroll8_warp", 100},  {"unroll8_full", 100},
      {"template", 100},     {"template_smem", 100}};
  for (const auto& [variant, efficiency] : expected) {
    const auto figure = catalogue.published(*reduction, variant, column(*reduction, kEfficiency));
    ASSERT_TRUE(figure) << variant;
    EXPECT_EQ(figure->value, efficiency) << variant;
  }
}

TEST(LabCatalogue, FindsTheBankConflictsOfTheMatrixReport) {
  const LabCatalogue catalogue = shipped();
  const LabProgram* matmul = catalogue.find("matmul");
  ASSERT_NE(matmul, nullptr);
  const LabColumn& conflicts = column(*matmul, "bank_conflicts");
  EXPECT_EQ(catalogue.published(*matmul, "study_8", conflicts)->value, 855638016);
  EXPECT_EQ(catalogue.published(*matmul, "study_16", conflicts)->value, 285212672);
  EXPECT_EQ(catalogue.published(*matmul, "study_32", conflicts)->value, 0);
  EXPECT_FALSE(catalogue.published(*matmul, "tiled_8", conflicts));
}

TEST(LabCatalogue, MissingFolderIsNamed) {
  const auto catalogue = LabCatalogue::load("/no/such/folder");
  ASSERT_FALSE(catalogue);
  EXPECT_NE(catalogue.error().message.find("/no/such/folder"), std::string::npos);
}

json document() {
  return json::parse(R"({"program":"reduction","device":"x","size":1024,"verified":true,"notes":[],"variants":[
    {"name":"rec_interleaved","kernel":"","grid":[0,0,0],"launch_first":0,"launch_count":0,"kernel_ms":8,"total_ms":8,
     "bytes":4096,"flops":0,"verified":true,"note":"","metrics":{}},
    {"name":"neighbored","kernel":"reduceNeighbored","grid":[2,1,1],"launch_first":0,"launch_count":2,"kernel_ms":1,
     "total_ms":2,"bytes":4096,"flops":0,"verified":true,"note":"","metrics":{}},
    {"name":"template","kernel":"reduceTemplate","grid":[0,0,0],"launch_first":2,"launch_count":0,"kernel_ms":0,
     "total_ms":0,"bytes":0,"flops":0,"verified":null,"note":"skipped","metrics":{}}]})");
}

json launch(const char* kernel) {
  return {{"kernel", kernel},
          {"metrics",
           {{"smsp__sass_branch_targets.sum", 304},
            {"smsp__sass_branch_targets_threads_divergent.sum", 95},
            {kEfficiency, 12.5}}}};
}

TEST(LabReport, AddsTheLaunchesOfAVariantAndWorksOutRatiosAgain) {
  json ours = document();
  const json profile = {
      {"launches", {launch("reduceNeighbored(int*, int*, unsigned int)"), launch("reduceNeighbored(int*)")}}};
  ASSERT_TRUE(addMetrics(ours, document(), profile));
  const json& metrics = ours["variants"][1]["metrics"];
  EXPECT_EQ(metrics["smsp__sass_branch_targets.sum"], 608);
  EXPECT_EQ(metrics[kEfficiency], 68.75);
  EXPECT_TRUE(ours["variants"][0]["metrics"].empty());
}

TEST(LabReport, CountsTheLaunchesOfKernelsWithTheHostsLaunch) {
  json ours = document();
  json child = launch("nestedByBlock");
  child["launched_by"] = "reduceNeighbored";
  ASSERT_TRUE(
      addMetrics(ours, document(), json::array({launch("reduceNeighbored"), child, launch("reduceNeighbored")})));
  EXPECT_EQ(ours["variants"][1]["metrics"]["smsp__sass_branch_targets.sum"], 912);
  EXPECT_EQ(ours["variants"][1]["child_launches"], 1);
}

TEST(LabReport, RefusesAProfileOfSomethingElse) {
  json ours = document();
  const auto other = addMetrics(ours, document(), json::array({launch("saxpy"), launch("saxpy")}));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("saxpy"), std::string::npos);
  const auto shorter = addMetrics(ours, document(), json::array({launch("reduceNeighbored")}));
  ASSERT_FALSE(shorter);
  EXPECT_FALSE(addMetrics(ours, document(), json("text")));
}

TEST(LabReport, SetsOursBesideThePublished) {
  const LabCatalogue catalogue = shipped();
  json ours = document();
  ASSERT_TRUE(addMetrics(ours, document(), json::array({launch("reduceNeighbored"), launch("reduceNeighbored")})));
  const report::Sheet sheet = labSheet(catalogue, *catalogue.find("reduction"), ours);
  const json rows = json::parse(sheet.json().dump());
  EXPECT_EQ(rows[1][kEfficiency], 68.75);
  EXPECT_EQ(rows[1][std::string("published ") + kEfficiency], 68.75);
  EXPECT_EQ(rows[1]["grid"], 2);
  EXPECT_EQ(rows[1]["published grid"], 131072);
  EXPECT_EQ(rows[1]["published smsp__inst_executed.sum"], 612100000);
  EXPECT_EQ(rows[1]["speedup"], 4.0);
  EXPECT_EQ(rows[0]["published total_ms"], 130.888);
  EXPECT_EQ(rows[0]["verified"], true);
  EXPECT_TRUE(rows[2]["verified"].is_null());
  EXPECT_TRUE(rows[2]["total_ms"].is_null());
  EXPECT_EQ(rows[2]["note"], "skipped");
}

TEST(LabReport, ComparesEachRungWithTheOneBefore) {
  const LabCatalogue catalogue = shipped();
  const json rows = json::parse(labSheet(catalogue, *catalogue.find("reduction"), document()).json().dump());
  EXPECT_TRUE(rows[0]["step"].is_null());
  EXPECT_EQ(rows[1]["step"], 4.0);
  EXPECT_TRUE(rows[2]["step"].is_null());  // skipped
}

/// A folder with the shipped catalogue and a recording of one variant.
std::filesystem::path recordedFolder() {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "lab_recorded";
  std::filesystem::create_directories(folder);
  for (const char* name : {"catalogue.json", "figures.json"}) {
    std::filesystem::copy_file(std::filesystem::path(LAB_FOLDER) / name, folder / name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  std::ofstream(folder / "recorded.json") << R"({"device":"NVIDIA H200","date":"2026-01-02","programs":{"reduction":
    {"size":1024,"variants":{"neighbored":{"kernel_ms":0.25,"total_ms":0.5,"verified":true}}}}})";
  return folder;
}

TEST(LabReport, ShowsTheRecordedTimeAtItsSizeOnly) {
  const auto catalogue = LabCatalogue::load(recordedFolder());
  ASSERT_TRUE(catalogue);
  const LabProgram& reduction = *catalogue->find("reduction");
  EXPECT_EQ(catalogue->recording().date, "2026-01-02");
  EXPECT_EQ(catalogue->recorded(reduction, 1024, "neighbored", "kernel_ms"), 0.25);
  EXPECT_FALSE(catalogue->recorded(reduction, 2048, "neighbored", "kernel_ms"));
  EXPECT_FALSE(catalogue->recorded(reduction, 1024, "unroll2", "kernel_ms"));
  const json rows = json::parse(labSheet(*catalogue, reduction, document()).json().dump());
  EXPECT_EQ(rows[1]["recorded total_ms"], 0.5);
}

/// Two rungs of which the second takes half the time.
json ladder(const json& first, const json& second) {
  return {{"variants",
           {{{"name", "slow"}, {"total_ms", 4}, {"launch_count", 1}, {"verified", true}, {"metrics", first}},
            {{"name", "fast"}, {"total_ms", 2}, {"launch_count", 1}, {"verified", true}, {"metrics", second}}}}};
}

TEST(LabExplain, NamesWhatFell) {
  const std::string text = explainLadder(ladder({{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100},
                                                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 3200}},
                                                {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100},
                                                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 400}}));
  EXPECT_NE(text.find("fast is 2.00 times as fast as slow."), std::string::npos) << text;
  EXPECT_NE(text.find("What fell most is global load sectors."), std::string::npos) << text;
  EXPECT_NE(text.find("touches 4.0 sectors"), std::string::npos) << text;
}

TEST(LabExplain, AdmitsWhatTheCountersDoNotShow) {
  const json same = {{"smsp__inst_executed.sum", 1000}};
  const std::string text = explainLadder(ladder(same, same));
  EXPECT_NE(text.find("the counters do not explain it"), std::string::npos) << text;
  EXPECT_NE(text.find("All counters are the same."), std::string::npos) << text;
  EXPECT_NE(explainLadder(ladder(json::object(), same)).find("no two rungs"), std::string::npos);
}

TEST(LabExplain, ComparesNothingWithAVariantThatIsNotJudged) {
  const json same = {{"smsp__inst_executed.sum", 1000}};
  json three = ladder(same, same);
  json racy = three["variants"][1];
  racy["name"] = "racy";
  racy["verified"] = nullptr;
  three["variants"].insert(three["variants"].begin() + 1, racy);
  const std::string text = explainLadder(three);
  EXPECT_NE(text.find("racy is 2.00 times as fast as slow."), std::string::npos) << text;
  EXPECT_NE(text.find("fast is 2.00 times as fast as slow."), std::string::npos) << text;
}

TEST(LabReport, WorksOutRates) {
  const LabCatalogue catalogue = shipped();
  json ours = document();
  ours["variants"][1]["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = 1000000;
  const json rows = json::parse(labSheet(catalogue, *catalogue.find("reduction"), ours).json().dump());
  EXPECT_EQ(rows[1]["load_throughput"], 32.0);  // 32 MB in 1 ms
  EXPECT_TRUE(rows[0]["load_throughput"].is_null());

  ours["variants"][1]["flops"] = 2.0 * 2048 * 2048 * 2048;
  ours["variants"][1]["kernel_ms"] = 45.19;
  const json products = json::parse(labSheet(catalogue, *catalogue.find("matmul"), ours).json().dump());
  EXPECT_NEAR(products[1]["gflops"].get<double>(), 380.17, 0.005);
}

TEST(LabReport, ShowsWhatOnlyACoursePrints) {
  const LabCatalogue catalogue = shipped();
  json ours = document();
  ours["variants"][1]["name"] = "unroll8";
  const json rows = json::parse(labSheet(catalogue, *catalogue.find("reduction"), ours).json().dump());
  EXPECT_EQ(rows[1][std::string("published ") + kBarrierStall], 9.29);
  EXPECT_FALSE(rows[1].contains(kBarrierStall));
}

TEST(LabCatalogue, KnowsWhereAGpuCountsOtherwise) {
  const LabCatalogue catalogue = shipped();
  for (const LabProgram& program : catalogue.programs()) {
    for (const LabDifference& difference : catalogue.differences(program)) {
      EXPECT_FALSE(difference.variants.empty() || difference.metrics.empty() || difference.why.empty()) << program.name;
    }
  }
  EXPECT_FALSE(catalogue.differences(*catalogue.find("matmul")).empty());
}

TEST(LabPlot, DrawsARowForEachVariantThatRan) {
  const LabCatalogue catalogue = shipped();
  json ours = document();
  ours["variants"][1]["title"] = "a < b & c";
  const std::string picture = plotLadder(catalogue, *catalogue.find("reduction"), ours);
  EXPECT_TRUE(picture.starts_with("<svg ")) << picture;
  EXPECT_NE(picture.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(picture.find("4.00x"), std::string::npos);
  EXPECT_NE(picture.find(">Published<"), std::string::npos);
  EXPECT_EQ(picture.find(">template<"), std::string::npos);  // it was skipped
}

TEST(LabPlot, DrawsResultsOfProgramsWhoseTimesSayNothing) {
  const LabCatalogue catalogue = shipped();
  json document = {{"size", 15}, {"variants", json::array()}};
  for (const auto& [name, makespan] : {std::pair("a_first", "5"), std::pair("b_second", "4")})
    document["variants"].push_back({{"name", name}, {"total_ms", 0.003}, {"result", makespan}});
  const std::string picture = plotLadder(catalogue, *catalogue.find("queues"), document);
  EXPECT_NE(picture.find(">makespan<"), std::string::npos) << picture;
  EXPECT_NE(picture.find(">5.00<"), std::string::npos) << picture;
  EXPECT_EQ(picture.find("speed-up"), std::string::npos) << picture;
}

json twoLookups() {
  json document = {{"size", 49175956}, {"variants", json::array()}};
  for (const char* name : {"global", "constant", "shared"}) document["variants"].push_back({{"name", name}});
  return document;
}

/// The one published order that the recorded GPU contradicts beyond noise: constant memory before global memory.
TEST(LabOrder, SaysWhereAGpuContradictsThePublishedOrder) {
  const LabCatalogue catalogue = shipped();
  const std::string text = orderRemarks(catalogue, *catalogue.find("lookup"), twoLookups());
  EXPECT_NE(text.find("constant is slower than global"), std::string::npos) << text;
  EXPECT_EQ(text.find("shared is"), std::string::npos) << text;
  json small = twoLookups();
  small["size"] = 1000;
  EXPECT_EQ(orderRemarks(catalogue, *catalogue.find("lookup"), small), "");
}

json studyDocument(const LabStudy& study) {
  json document = {{"size", 2048}, {"device", "NVIDIA GeForce GTX 1060 6GB"}, {"variants", json::array()}};
  for (const LabStudy::Launch& launch : study.launches) {
    document["variants"].push_back({{"name", launch.variant},
                                    {"kernel_ms", 1000},
                                    {"total_ms", 1000},
                                    {"flops", 2.0 * 2048 * 2048 * 2048},
                                    {"metrics", {{"smsp__inst_executed.sum", 5000000}}}});
  }
  return document;
}

/// Every metric that the report prints is there with its six numbers (three where only tiles have it), and with the
/// GPU's.
TEST(LabStudy, HasEveryRowOfTheReport) {
  const LabCatalogue catalogue = shipped();
  const LabProgram& matmul = *catalogue.find("matmul");
  ASSERT_TRUE(matmul.study);
  const json rows = json::parse(studySheet(catalogue, matmul, studyDocument(*matmul.study)).json().dump());
  std::map<std::string, std::map<std::string, int>> filled;
  for (const json& row : rows) {
    for (const LabStudy::Launch& launch : matmul.study->launches) {
      filled[row.at("source")][row.at("metric")] += row.at(launch.variant).is_number() ? 1 : 0;
    }
  }
  EXPECT_EQ(filled["published"].size(), 23);
  for (const auto& [metric, count] : filled["published"]) EXPECT_TRUE(count == 6 || count == 3) << metric << count;
  EXPECT_EQ(filled["H200"].size(), matmul.study->rows.size());
  for (const auto& [metric, count] : filled["H200"]) EXPECT_EQ(count, 6) << metric;
}

/// What nothing of ours counts or models is empty and says why; it is never made up.
TEST(LabStudy, SaysWhatWeDoNotKnow) {
  const LabCatalogue catalogue = shipped();
  const LabProgram& matmul = *catalogue.find("matmul");
  const json rows = json::parse(studySheet(catalogue, matmul, studyDocument(*matmul.study)).json().dump());
  int unknown = 0;
  for (const json& row : rows) {
    if (row.at("source") != "ours" || row.at("note").get<std::string>().empty()) continue;
    ++unknown;
    EXPECT_TRUE(row.at("zero_copy_shared").is_null()) << row.at("metric");
  }
  EXPECT_EQ(unknown, 7);
}

}  // namespace
}  // namespace ordito::cli
