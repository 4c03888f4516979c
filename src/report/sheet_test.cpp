// The three prints of one sheet, and the units.
#include "report/sheet.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/units.hpp"

namespace ordito::report {
namespace {

Sheet sample() {
  Sheet sheet({{.key = "name", .title = "variant"},
               {.key = "smsp__inst_executed.sum", .title = "instructions\nM", .scale = 1e-6, .digits = 1},
               {.key = "", .title = "note", .audience = Audience::People},
               {.key = "grid", .title = "grid", .audience = Audience::Programs},
               {.key = "ok", .title = "ok"}});
  sheet.add({std::string("neighbored"), std::int64_t{612100000}, std::string("slow"), std::int64_t{131072}, true});
  sheet.add({std::string("a,\"b\""), {}, {}, std::int64_t{1}, false});
  return sheet;
}

TEST(Sheet, PlainTableAlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(sample().table(Style::Plain),
            "            instructions\n"
            "variant                M  note   ok\n"
            "----------  ------------  ----  ---\n"
            "neighbored         612.1  slow  yes\n"
            "a,\"b\"                            NO\n");
}

TEST(Sheet, BoxTableHasAFrame) {
  Sheet sheet({{.key = "x", .title = "x"}});
  sheet.add({std::string("naïve")});
  EXPECT_EQ(sheet.table(Style::Box),
            "┌───────┐\n"
            "│ x     │\n"
            "├───────┤\n"
            "│ naïve │\n"
            "└───────┘\n");
}

TEST(Sheet, CsvQuotesOnlyWhereNeededAndNeverScales) {
  EXPECT_EQ(sample().csv(),
            "name,smsp__inst_executed.sum,grid,ok\n"
            "neighbored,612100000,131072,true\n"
            "\"a,\"\"b\"\"\",,1,false\n");
}

TEST(Sheet, JsonHasNullForNothing) {
  const nlohmann::ordered_json json = sample().json();
  EXPECT_EQ(json.dump(), R"([{"name":"neighbored","smsp__inst_executed.sum":612100000,"grid":131072,"ok":true},)"
                         R"({"name":"a,\"b\"","smsp__inst_executed.sum":null,"grid":1,"ok":false}])");
}

TEST(Sheet, EmptySheetIsHeadingsOnly) {
  const Sheet sheet({{.key = "a", .title = "a"}, {.key = "b", .title = "b"}});
  EXPECT_EQ(sheet.table(Style::Plain), "a  b\n-  -\n");
  EXPECT_EQ(sheet.csv(), "a,b\n");
  EXPECT_EQ(sheet.json().dump(), "[]");
}

TEST(Sheet, NumbersThatAreNotFiniteAreNoNumbersForPrograms) {
  Sheet sheet({{.key = "x", .title = "x"}});
  sheet.add({std::numeric_limits<double>::infinity()});
  EXPECT_EQ(sheet.csv(), "x\n\n");
  EXPECT_EQ(sheet.table(Style::Plain), "x\n-\n-\n");
}

TEST(Units, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(855638016), "855,638,016");
}

TEST(Units, FittingUnit) {
  EXPECT_EQ(count(304), "304");
  EXPECT_EQ(count(855638016), "855.64 M");
  EXPECT_EQ(bytes(512), "512 B");
  EXPECT_EQ(bytes(268435456.0), "256.00 MiB");
  EXPECT_EQ(seconds(1.325e-3), "1.325 ms");
  EXPECT_EQ(seconds(12e-6), "12.000 us");
  EXPECT_EQ(seconds(0), "0.000 ns");
}

TEST(Units, DisplayWidthCountsCodePoints) {
  EXPECT_EQ(displayWidth("abc"), 3U);
  EXPECT_EQ(displayWidth("naïve"), 5U);
  EXPECT_EQ(displayWidth("│"), 1U);
}

}  // namespace
}  // namespace ordito::report
