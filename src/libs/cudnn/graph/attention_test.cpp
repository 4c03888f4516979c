// Attention as one operation in double against the sums that define it, forwards and back, and plans as text.
#include <cmath>

#include "libs/cudnn/graph/test_graph.hpp"

namespace ordito::libs::cudnn::graph_test {
namespace {

/// Two images with four heads, of which two share keys and values; 70 queries are more than are taken together.
constexpr int64_t kImages = 2, kHeads = 4, kShared = 2, kQueries = 70, kKeys = 9, kDepth = 5, kWidth = 3;
constexpr double kScale = 0.7;

struct Attention : testing::Test {
  Attention()
      : q({kImages, kHeads, kQueries, kDepth}),
        k({kImages, kShared, kKeys, kDepth}, false, {kKeys * kShared * kDepth, kDepth, kShared * kDepth, 1}),
        v({kImages, kShared, kKeys, kWidth}),
        o({kImages, kHeads, kQueries, kWidth}),
        stats({kImages, kHeads, kQueries, 1}),
        scale({1, 1, 1, 1}),
        queries({kImages, 1, 1, 1}),
        keys({kImages, 1, 1, 1}) {
    scale.data[0] = kScale;
    for (int64_t i = 0; i < kImages; ++i)
      queries.data[i] = static_cast<double>(kQueries - 6 * i), keys.data[i] = static_cast<double>(kKeys - 4 * i);
  }

  double score(int64_t image, int64_t head, int64_t query, int64_t key) const {
    double sum = 0;
    for (int64_t d = 0; d < kDepth; ++d)
      sum += q.at({image, head, query, d}) * k.at({image, head / (kHeads / kShared), key, d});
    return kScale * sum;
  }
  double logarithm(int64_t image, int64_t head, int64_t query) const {
    double sum = 0;
    for (int64_t key = 0; key < keysOf(image); ++key) sum += std::exp(score(image, head, query, key));
    return std::log(sum);
  }
  double output(const Sizes& at) const {
    if (at[2] >= queriesOf(at[0])) return 0;
    double sum = 0;
    for (int64_t key = 0; key < keysOf(at[0]); ++key)
      sum += std::exp(score(at[0], at[1], at[2], key) - logarithm(at[0], at[1], at[2])) *
             v.at({at[0], at[1] / (kHeads / kShared), key, at[3]});
    return sum;
  }
  int64_t queriesOf(int64_t image) const { return hasLengths ? static_cast<int64_t>(queries.data[image]) : kQueries; }
  int64_t keysOf(int64_t image) const { return hasLengths ? static_cast<int64_t>(keys.data[image]) : kKeys; }

  void setForward(Said& said) const {
    said.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, k)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, v)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, o)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, stats)
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, scale);
    if (hasLengths)
      said.set(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, queries)
          .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, keys);
    said.finalize();
  }
  void expectOutputs() const {
    o.expect([&](const Sizes& at) { return output(at); });
    for (int64_t i = 0; i < stats.count(); ++i) {
      const Sizes at = stats.indices(i);
      if (at[2] < queriesOf(at[0])) {
        ASSERT_NEAR(stats.at(at), logarithm(at[0], at[1], at[2]), 1e-10);
      }
    }
  }

  GraphTensor q, k, v, o, stats, scale, queries, keys;
  bool hasLengths = false;
};

TEST_F(Attention, Forwards) {
  for (const bool lengths : {false, true}) {
    hasLengths = lengths;
    Said said(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    setForward(said);
    run({&said}, {&q, &k, &v, &o, &stats, &scale, &queries, &keys});
    expectOutputs();
  }
}

TEST_F(Attention, KeysInPages) {
  // Pages of four keys, in an order that the table tells; the last one is not full.
  constexpr int64_t kPerPage = 4, kPages = 3;
  const GraphTensor pagedK({kImages * kPages, kShared, kPerPage, kDepth}), table({kImages, 1, kPages, 1});
  const GraphTensor pagedV({kImages * kPages, kShared, kPerPage, kWidth});
  hasLengths = true;
  for (int64_t i = 0; i < kImages * kPages; ++i) table.data[i] = static_cast<double>(kImages * kPages - 1 - i);
  const auto fill = [&](const GraphTensor& pages, const GraphTensor& from) {
    for (int64_t i = 0; i < from.count(); ++i) {
      const Sizes at = from.indices(i);
      const auto page = static_cast<int64_t>(table.at({at[0], 0, at[2] / kPerPage, 0}));
      pages.at({page, at[1], at[2] % kPerPage, at[3]}) = from.at(at);
    }
  };
  fill(pagedK, k), fill(pagedV, v);
  Said said(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
  said.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, pagedK)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, pagedV)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, o)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, scale)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC, table)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC, table)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, queries)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, keys)
      .finalize();
  run({&said}, {&q, &pagedK, &pagedV, &o, &scale, &table, &queries, &keys});
  o.expect([&](const Sizes& at) { return output(at); });
}

/// The change of the sum of dO O when an element moves, from both sides.
TEST_F(Attention, Backwards) {
  const GraphTensor dq(q.size), dk(k.size), dv(v.size), dO(o.size);
  hasLengths = true;
  Said forward(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR), said(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR);
  setForward(forward);
  run({&forward}, {&q, &k, &v, &o, &stats, &scale, &queries, &keys});
  said.set(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, q)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, k)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, v)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, o)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, stats)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, scale)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC, queries)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC, keys)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, dO)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, dq)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, dk)
      .set(CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, dv)
      .finalize();
  run({&said}, {&q, &k, &v, &o, &stats, &scale, &queries, &keys, &dO, &dq, &dk, &dv});
  const auto loss = [&] {
    double sum = 0;
    for (int64_t i = 0; i < o.count(); ++i) sum += output(o.indices(i)) * dO.at(o.indices(i));
    return sum;
  };
  const auto expectChanges = [&](const GraphTensor& of, const GraphTensor& changes) {
    for (int64_t i = 0; i < of.count(); i += of.count() / 7) {
      double& element = of.at(of.indices(i));
      const double before = element, step = 1e-5;
      element = before + step;
      const double above = loss();
      element = before - step;
      const double below = loss();
      element = before;
      ASSERT_NEAR(changes.at(of.indices(i)), (above - below) / (2 * step), 1e-6) << i;
    }
  };
  expectChanges(q, dq), expectChanges(k, dk), expectChanges(v, dv);
}

TEST_F(Attention, BadArguments) {
  const GraphTensor wrong({kImages, 3, kKeys, kDepth});
  Said heads(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR), none(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
  heads.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, wrong)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, v)
      .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, o)
      .finalize(CUDNN_STATUS_BAD_PARAM);
  none.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q).finalize(CUDNN_STATUS_BAD_PARAM);
}

/// What a plan tells of itself makes the same plan, also when the descriptors that it was made of are gone.
TEST_F(Attention, PlansAsText) {
  std::vector<char> text;
  {
    Said said(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR), planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    setForward(said);
    plan({&said}, planned);
    int64_t size = 0;
    ASSERT_EQ(cudnnBackendGetAttribute(planned.descriptor, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                       CUDNN_TYPE_CHAR, 0, &size, nullptr),
              kGood);
    text.resize(static_cast<size_t>(size));
    ASSERT_EQ(cudnnBackendGetAttribute(planned.descriptor, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                       CUDNN_TYPE_CHAR, size, &size, text.data()),
              kGood);
  }
  const cudnnHandle_t own = handle();
  Said again(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  again
      .set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<int64_t>(text.size()),
           text.data())
      .set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &own)
      .finalize();
  execute(again, {{q.uid, q.data},
                  {k.uid, k.data},
                  {v.uid, v.data},
                  {o.uid, o.data},
                  {stats.uid, stats.data},
                  {scale.uid, scale.data}});
  finish();
  expectOutputs();
}

TEST_F(Attention, TextThatIsNoPlan) {
  for (const std::string text : {"", "{}", "{\"format\": \"Ordito's plan, 1\", \"descriptors\": [{\"type\": 15}]}",
                                 "{\"format\": \"Ordito's plan, 1\", \"descriptors\": [{\"type\": 15, \"attributes\": "
                                 "[{\"name\": 801, \"type\": 15, \"of\": [7]}]}]}"}) {
    Said planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    planned
        .set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<int64_t>(text.size()),
             text.data())
        .finalize(CUDNN_STATUS_NOT_SUPPORTED);
  }
}

}  // namespace
}  // namespace ordito::libs::cudnn::graph_test
