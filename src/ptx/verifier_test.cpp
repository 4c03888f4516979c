// The verifier: instructions that are right, instructions that are wrong and why. Both lists were shown to ptxas, which
// agrees.
#include "ptx/verifier.hpp"

#include <gtest/gtest.h>

#include "ptx/parser.hpp"
#include "ptx/test_text.hpp"

namespace ordito::ptx {
namespace {

std::string verdict(const std::string& text) {
  auto m = parse(text, "t.ptx");
  if (!m) return m.error().message;
  auto result = verify(*m);
  return result ? "" : result.error().message;
}

const std::string kFunctions = ".func (.param .b32 r) f(.param .b32 a) { ret; }\n";

TEST(Verifier, AcceptsTheInputs) {
  for (const char* name : test::kInputs) EXPECT_EQ(verdict(test::input(name)), "") << name;
}

void expectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
}

/// A kernel with one line, for a version and a target.
std::string verdictFor(const std::string& version, const std::string& target, const std::string& line) {
  return verdict(".version " + version + "\n.target " + target +
                 "\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; "
                 ".reg .b64 %rd<9>; .reg .f32 %f<9>;\n" +
                 line + "\n}\n");
}

TEST(Verifier, AsksForTheVersionAndTheTargetOfARow) {
  EXPECT_EQ(verdictFor("7.0", "sm_80", "redux.sync.add.u32 %r1, %r2, -1;"), "");
  expectContains(verdictFor("7.0", "sm_75", "redux.sync.add.u32 %r1, %r2, -1;"),
                 "line 6: this needs .target sm_80 or later, and the module's is sm_75; compile it with -arch=sm_80");
  expectContains(verdictFor("6.5", "sm_75", "redux.sync.add.u32 %r1, %r2, -1;"), "this needs PTX 7.0");
  expectContains(verdictFor("8.8", "sm_90", "setmaxnreg.inc.sync.aligned.u32 64;"), "this needs .target sm_90a");
  EXPECT_EQ(verdictFor("8.8", "sm_90a", "setmaxnreg.inc.sync.aligned.u32 64;"), "");
  EXPECT_EQ(verdictFor("8.8", "sm_100f", "cvt.rz.ue8m0x2.f32 %h1, %f1, %f2;"), "");
  expectContains(verdictFor("8.8", "sm_100", "cvt.rz.ue8m0x2.f32 %h1, %f1, %f2;"), "this needs .target sm_100a");
  EXPECT_EQ(verdictFor("1.4", "sm_13", "add.u32 %r1, %r2, %r3;"), "");
}

TEST(Verifier, AsksForTheVersionAndTheTargetOfModifiersAndTypes) {
  EXPECT_EQ(verdictFor("7.0", "sm_80", "fma.rn.bf16 %h1, %h2, %h3, %h4;"), "");
  expectContains(verdictFor("8.8", "sm_80", "add.rn.bf16 %h1, %h2, %h3;"), "this needs .target sm_90");
  expectContains(verdictFor("8.8", "sm_80", "cvt.rn.bf16.u32 %h1, %r1;"), "this needs .target sm_90");
  EXPECT_EQ(verdictFor("7.1", "sm_80", "cvt.f32.bf16 %f1, %h1;"), "");
  expectContains(verdictFor("8.8", "sm_60", "ld.relaxed.gpu.global.u32 %r1, [%rd1];"), "this needs .target sm_70");
  expectContains(verdictFor("8.8", "sm_80", "ld.relaxed.cluster.global.u32 %r1, [%rd1];"), "this needs .target sm_90");
  expectContains(verdictFor("6.0", "sm_53", "set.lt.u32.f16 %r1, %h1, %h2;"), "this needs PTX 6.5");
  EXPECT_EQ(verdictFor("6.0", "sm_53", "set.lt.f32.f16 %f1, %h1, %h2;").find("this needs"), std::string::npos);
}

TEST(Verifier, AsksForTheVersionAndTheTargetOfOperands) {
  const std::string plain = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];";
  EXPECT_EQ(verdictFor("3.1", "sm_30", plain), "");
  const std::string resident = "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f1, %f2}];";
  EXPECT_EQ(verdictFor("7.1", "sm_60", resident), "");
  expectContains(verdictFor("7.1", "sm_53", resident), "this needs .target sm_60");
  expectContains(
      verdictFor("8.8", "sm_90", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%r1, %r2}, %f5;"),
      "comparison with a depth is not supported");
  expectContains(verdictFor("8.8", "sm_90", "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r4}];"),
                 "multi-sample");
}

TEST(Verifier, AcceptsWhatIsLegal) {
  for (const char* line :
       {"mov.b32 %r1, %f1;",
        "mov.f32 %f1, %r1;",
        "add.f32 %f1, %r1, %r2;",
        "ld.global.f32 %r1, [%rd1];",
        "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd1];",
        "ld.global.f32 %rd2, [%rd1];",
        "ld.global.b16 %f1, [%rd1];",
        "st.global.f32 [%rd1], %r1;",
        "ld.shared.u32 %r1, [%r2];",
        "ld.const.u32 %r1, [%r2];",
        "atom.global.add.u32 _, [%rd1], 1;",
        "ld.global.v2.u32 {%r1, _}, [%rd1];",
        "mov.b64 {%r1, _}, %rd1;",
        "mov.b32 %r1, {%rs1, 5};",
        "mov.u16 %rs1, %tid.x;",
        "mov.u32 %r1, %gridid;",
        "mov.pred %p1, 1;",
        "selp.b32 %r1, 1, 0, !%p1;",
        "setp.lt.s32 %p1|_, %r1, 1;",
        "shfl.sync.idx.b32 %f1, %f2, 1, 31, -1;",
        "vote.sync.any.pred %p1, !%p2, -1;",
        "cvt.u32.u16 %r1, %r2;",
        "cvt.u64.u32 %rd1, %rd2;",
        "cvt.f32.f16 %f1, %rs1;",
        "popc.b64 %r1, 5;",
        "ld.global.u32 %r1, [%rd1].unified;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.release.sync_restrict::shared::cta.cluster;",
        "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f1, %f2}];",
        "tex.level.2d.v2.f16x2.f32 {%r1, %r2}, [%rd1, {%f1, %f2}], %f3;",
        "mul.wide.s32 %rd1, %r1, 5;",
        "cvta.global.u64 %rd1, gv+4;",
        "div.full.ftz.f32 %f1, %f2, %f3;",
        "rcp.approx.ftz.f64 %fd1, %fd2;",
        "cvt.rni.sat.u8.f32 %rs1, %f1;",
        "set.lt.u32.f32 %r1, %f1, %f2;",
        "vadd.u32.u32.u32 %r1.b2, %r2.h1, %r3, %r4;",
        "vadd4.u32.u32.u32 %r1.b20, %r2.b3210, %r3.b7654, %r4;",
        "cp.async.ca.shared.global [%r1], [%rd1], 8, 3;",
        "cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r3, [%r2];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%rd1], 32, [%r2], %rd2;",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r3], 16, [%r2];",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [%r1], 16, %rd2;",
        "cp.async.bulk.prefetch.L2.global [%rd1], 64;",
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group.read 1;",
        "mbarrier.arrive.shared.b64 _, [sv];",
        "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4},{%r1,%r2},{%r3},{%f5,%f6,%f7,%f8};",
        "tex.2d.v4.f32.f32 {%f1, _, _, _}, [%rd1, {%f5, %f6}];",
        "tex.a2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5, %f5, %f6, %f6}];",
        "tex.level.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}], %f6;",
        "suld.b.2d.v2.b8.trap {%rs1, %rs2}, [%rd1, {%r1, %r2}];",
        "sust.p.1d.b32.clamp [%rd1, {%r1}], %r2;",
        "elect.sync _|%p1, -1;"}) {
    EXPECT_EQ(verdict(test::kernel(line)), "") << line;
  }
}

TEST(Verifier, RefusesWhatIsNot) {
  struct Case {
    const char* line;
    const char* why;
  } cases[] = {
      {"mov.f32 %f1, 1;", "an integer constant where .f32"},
      {"mov.u32 %r1, 1.0;", "a floating-point constant where .u32"},
      {"add.s32 %f1, %r1, %r2;", "register '%f1' of type .f32 where .s32"},
      {"add.s16 %r1, %rs1, %rs2;", "register '%r1' of type .b32 where .s16"},
      {"mul.wide.s32 %r1, %r1, 5;", "where .s64"},
      {"popc.b64 %rd1, %rd2;", "where .u32"},
      {"shl.b32 %r1, %r2, %rs1;", "where .u32"},
      {"@%r1 ret;", "no predicate"},
      {"add.s32 _, %r1, 1;", "'_' cannot be the destination"},
      {"st.global.v2.u32 [%rd1], {%r1, _};", "must be a register"},
      {"add.u64 %rd1, %rd1, gv;", "moved to a register first"},
      {"add.u32 %r1, %tid.x, 1;", "can only be read by mov"},
      {"mov.u32 %r1, %clock64;", "where .u32"},
      {"ld.global.u32 %r1, [%r2];", "cannot be an address"},
      {"ld.shared.u32 %r1, [gv];", "another state space"},
      {"ld.u32 %r1, [cv];", "another state space"},
      {"st.const.b32 [%rd1], %r1;", ".const cannot be stored to"},
      {"st.param.b32 [p], %r1;", "a parameter cannot be written"},
      {"ld.global.v2.u32 %r1, [%rd1];", ".v2 needs a vector of 2"},
      {"vset4.u32.u32.num %r1, %r2, %r3, %r4;", "vset compares"},
      {"vadd4.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;", "exclude each other"},
      {"add.u32 %r1.b0, %r2, %r3;", "only video instructions select"},
      {"cp.async.cg.shared.global [%r1], [%rd1], 8;", ".cg copies 16 bytes"},
      {"cp.async.ca.shared.global [%r1], [%rd1], 12;", "4, 8 or 16 bytes"},
      {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 24;", "multiple of 16"},
      {"cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r3], 16, [%r2];",
       "shared::cluster"},
      {"cp.async.bulk.prefetch.L1.global [%rd1], 64;", "to .L2"},
      {"mbarrier.arrive.global.b64 %rd2, [%rd1];", "found '.global'"},
      {"mbarrier.arrive.cluster.shared.b64 %rd2, [%rd1];", "go together"},
      {"mbarrier.arrive.shared::cluster.b64 %rd2, [%rd1];", "its destination is '_'"},
      {"ld.global.nc.cv.u32 %r1, [%rd1];", ".nc takes"},
      {"ld.weak.global.nc.u32 %r1, [%rd1];", ".nc does not go"},
      {"ld.volatile.local.u32 %r1, [%rd1];", "need .global, .shared or generic"},
      {"ld.shared.L1::evict_last.u32 %r1, [%rd1];", "hints for the caches need"},
      {"ld.cg.L1::evict_last.u32 %r1, [%rd1];", "exclude each other"},
      {"ld.mmio.relaxed.gpu.u32 %r1, [%rd1];", ".relaxed.sys"},
      {"ld.global.v8.b8 {%rs1, %rs2, %rs1, %rs2, _, _, _, _}, [%rd1];", "a GPU younger"},
      {"atom.volatile.add.u32 %r1, [%rd1], 1;", "found '.volatile'"},
      {"tex.grad.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1}], %f2, %f3;", "a vector of 1 register is needed"},
      {"tex.cube.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2,%r3,%r4}];", "coordinates of type .f32"},
      {"sured.b.and.1d.s32.trap [%rd1, {%r1}], %r2;", "need type .b32"},
      {"wmma.mma.sync.aligned.row.col.m8n8k4.rna.f64.f64.f64.f64 {%fd1,%fd2}, {%fd1}, {%fd1}, {%fd1,%fd2};",
       "found '.rna'"},
      {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};", "a and b must be"},
      {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2}, "
       "{%f1,%f2,%f3,%f4,%f1,%f2,%f3,%f4};",
       ".f32 for d"},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%r5];", "2 registers where 4"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f5,%f6,%f7,%f8};",
       "2 registers where 1"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%r5,%r6};",
       "types of c and d must be equal"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %f5];", "2 coordinates are needed"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [gv, {%f5, %f6}];", "a texture, sampler or surface is"},
      {"tex.2d.v4.f32.f32 {%f1, %f2}, [%rd1, {%f5, %f6}];", ".v4 needs a vector of 4"},
      {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%rd1], 32;", "less than 8 bits"},
      {"ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];", "at most 128 bits"},
      {"mov.u32 %r1, {%rs1, %rs2};", "type of bits"},
      {"bar.sync 99;", "barrier 99"},
      {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", "must be a constant"},
      {"div.f32 %f1, %f2, %f3;", "exactly one of"},
      {"cvt.f32.s32 %f1, %r1;", "a rounding modifier is required"},
      {"cvt.rn.s32.f32 %r1, %f1;", ".rni, .rzi"},
      {"cvt.rn.f32.f16 %f1, %rs1;", "exact"},
      {"setp.lo.s32 %p1, %r1, %r2;", "unsigned type"},
      {"setp.lt.b32 %p1, %r1, %r2;", ".eq and .ne only"},
      {"mad.f32 %f1, %f1, %f1, %f1;", "rounding modifier is required"},
      {"atom.global.add.f16 %rs1, [%rd1], %rs2;", ".noftz"},
      {"atom.global.inc.s32 %r1, [%rd1], %r2;", ".u32"},
      {"vote.sync.ballot.pred %p1, %p2, -1;", ".ballot needs type .b32"},
      {"match.any.sync.b32 %r1|%p1, %r2, -1;", "no predicate result"},
      {"ld.relaxed.global.u32 %r1, [%rd1];", "a scope goes with"},
  };
  for (const Case& c : cases) {
    std::string message = verdict(test::kernel(c.line));
    EXPECT_NE(message.find(c.why), std::string::npos) << c.line << "\n" << message;
  }
}

TEST(Verifier, NamesKernelLineAndInstruction) {
  EXPECT_EQ(verdict(test::kernel("\nadd.s32 %f1, %r1, %r2;")),
            "kernel 'foo', line 9: register '%f1' of type .f32 where .s32 is expected, in 'add.s32 %f1, %r1, %r2;'");
}

TEST(Verifier, RefusesMoreThan64KilobytesOfConstants) {
  const std::string kernel = ".entry k() { ret; }";
  EXPECT_EQ(verdict(test::module(".const .b8 a[65535];\n.const .b8 b[1];\n" + kernel)), "");
  expectContains(verdict(test::module(".const .b8 a[65535];\n.const .align 4 .b8 b[1];\n" + kernel)),
                 "with 'b' the variables in constant memory take 65537 bytes, and there are 65536");
}

TEST(Verifier, ChecksCalls) {
  auto call = [](const char* body) {
    return verdict(test::module(
        kFunctions + ".entry k() { .reg .b32 %r<3>; .reg .b64 %rd; .param .b32 a; .param .b64 b; " + body + " }"));
  };
  EXPECT_EQ(call("call (a), f, (a);"), "");
  EXPECT_EQ(call("call (%r1), f, (5);"), "");
  EXPECT_NE(call("call f, (a);").find("0 returned values where the function has 1"), std::string::npos);
  EXPECT_NE(call("call (a), f, (b);").find("argument of 8 bytes"), std::string::npos);
  EXPECT_NE(call("call (%r1), f, (%rd);").find("where .b32"), std::string::npos);
  EXPECT_NE(call("mov.b64 %rd, a;").find("the address of 'a', a .param variable of a call"), std::string::npos);
  EXPECT_NE(call("call k;").find("a kernel cannot be called"), std::string::npos);
}

}  // namespace
}  // namespace ordito::ptx
