// Attention as one operation, forwards and back: O = softmax(scale Q K') V for each image and head. Several
// neighbouring heads of Q may share one of K and V. With lengths an image has fewer queries or keys than there is room
// for: the keys behind count for nothing, the outputs behind are 0. K and V may lie in pages, whose order tables tell.
//
// Rows of scores are made for a few queries at a time, so that they stay in a core's cache.
#include <algorithm>
#include <cmath>
#include <limits>

#include "libs/cublas/gemm.hpp"
#include "libs/cublas/openblas.hpp"
#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

using cublas::multiplyHere;
using cublas::Product;

/// How many queries are taken together.
constexpr int64_t kTogether = 64;

/// C = alpha A B' (by rows) + beta C.
template <class T>
void timesTransposed(int64_t m, int64_t n, int64_t k, T alpha, const T* a, const T* b, T beta, T* c) {
  if (m > 0 && n > 0) multiplyHere<T>(Product{CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, k, k, n}, alpha, b, a, beta, c);
}
/// C = alpha A B + beta C.
template <class T>
void times(int64_t m, int64_t n, int64_t k, T alpha, const T* a, const T* b, T beta, T* c) {
  if (m > 0 && n > 0) multiplyHere<T>(Product{CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, n, k, n}, alpha, b, a, beta, c);
}
/// C = alpha A' B + beta C, where A has `k` rows.
template <class T>
void transposedTimes(int64_t m, int64_t n, int64_t k, T alpha, const T* a, const T* b, T beta, T* c) {
  if (m > 0 && n > 0) multiplyHere<T>(Product{CUBLAS_OP_N, CUBLAS_OP_T, n, m, k, n, m, n}, alpha, b, a, beta, c);
}

/// What both directions have.
struct Attention {
  Tensor q, k, v, o;
  std::optional<Tensor> stats, scale, queryLengths, keyLengths, pagesOfK, pagesOfV;

  int64_t images() const { return q.size[0]; }
  int64_t heads() const { return q.size[1]; }
  int64_t queries() const { return q.size[2]; }
  int64_t depth() const { return q.size[3]; }
  int64_t width() const { return v.size[3]; }
  /// Elements for keys: of pages as many as the table has room for.
  int64_t keys() const { return pagesOfK ? pagesOfK->size[2] * k.size[2] : k.size[2]; }

  bool fits() const {
    for (const Tensor* one : {&q, &k, &v, &o})
      if (one->size.size() != 4) return false;
    const bool areTogether = o.size == std::vector<int64_t>{images(), heads(), queries(), width()} &&
                             k.size[3] == depth() && heads() % k.size[1] == 0 && heads() % v.size[1] == 0;
    const bool haveImages = (pagesOfK || k.size[0] == images()) && (pagesOfV || v.size[0] == images());
    const int64_t ofV = pagesOfV ? pagesOfV->size[2] * v.size[2] : v.size[2];
    return areTogether && haveImages && ofV == keys();
  }
  /// Whether tensors that may be missing have their sizes.
  bool fitsOthers() const {
    if (stats && stats->size != std::vector<int64_t>{images(), heads(), queries(), 1}) return false;
    if (scale && scale->count() != 1) return false;
    for (const auto* lengths : {&queryLengths, &keyLengths})
      if (*lengths && (*lengths)->count() != images()) return false;
    for (const auto* pages : {&pagesOfK, &pagesOfV})
      if (*pages && ((*pages)->size.size() != 4 || (*pages)->size[0] != images() || (*pages)->size[1] != 1))
        return false;
    return true;
  }

  template <class T>
  T factor(const Arrays<T>& arrays) const {
    return scale ? arrays[*scale].data[0] : T(1);
  }
  template <class T>
  static int64_t length(const Arrays<T>& arrays, const std::optional<Tensor>& of, int64_t image, int64_t most) {
    return of ? std::clamp<int64_t>(static_cast<int64_t>(arrays[*of].data[static_cast<size_t>(image)]), 0, most) : most;
  }
};

/// The `count` rows of K or V that an image's head has, one behind the other: in place, or gathered from pages.
template <class T>
class Rows {
 public:
  Rows(const Arrays<T>& arrays, const Tensor& of, const std::optional<Tensor>& pages, int64_t image, int64_t head,
       int64_t count) {
    const int64_t perPage = of.size[2], width = of.size[3];
    const T* all = arrays[of].data.data();
    if (!pages) {
      data_ = all + (image * of.size[1] + head) * perPage * width;
      return;
    }
    own_.resize(static_cast<size_t>(count * width));
    const T* table = arrays[*pages].data.data() + image * pages->size[2];
    for (int64_t row = 0; row < count; ++row) {
      const auto page = std::clamp<int64_t>(static_cast<int64_t>(table[row / perPage]), 0, of.size[0] - 1);
      std::copy_n(all + ((page * of.size[1] + head) * perPage + row % perPage) * width, width,
                  own_.data() + row * width);
    }
    data_ = own_.data();
  }
  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  std::vector<T> own_;
};

/// A row of scores becomes the exponentials of their distances from the largest; answers the logarithm of the scores'
/// exponentials' sum, which they are divided by.
template <class T>
T softmax(T* row, int64_t count) {
  const T most = *std::max_element(row, row + count);
  T sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - most);
  for (int64_t i = 0; i < count; ++i) row[i] /= sum;
  return most + std::log(sum);
}

struct AttentionForward : OperationOf<AttentionForward>, Attention {
  double operations() const override {
    return 2 * static_cast<double>(images() * heads() * queries()) * static_cast<double>(keys()) *
           static_cast<double>(depth() + width());
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    std::vector<T> outputs(static_cast<size_t>(o.count()));
    std::vector<T> logarithms(static_cast<size_t>(images() * heads() * queries()), -std::numeric_limits<T>::infinity());
    const int64_t blocks = (queries() + kTogether - 1) / kTogether;
    const T alpha = factor(arrays);
    parallelFor(static_cast<unsigned>(images() * heads()), [&](unsigned index) {
      const int64_t image = index / heads(), head = index % heads();
      const int64_t keysHere = length(arrays, keyLengths, image, keys());
      const int64_t queriesHere = length(arrays, queryLengths, image, queries());
      if (keysHere == 0) return;
      const Rows<T> ks(arrays, k, pagesOfK, image, head / (heads() / k.size[1]), keysHere);
      const Rows<T> vs(arrays, v, pagesOfV, image, head / (heads() / v.size[1]), keysHere);
      std::vector<T> scores(static_cast<size_t>(kTogether * keysHere));
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t first = block * kTogether, count = std::min(kTogether, queriesHere - first);
        if (count <= 0) break;
        const int64_t row = index * queries() + first;
        timesTransposed(count, keysHere, depth(), alpha, arrays[q].data.data() + row * depth(), ks.data(), T(0),
                        scores.data());
        for (int64_t i = 0; i < count; ++i)
          logarithms[static_cast<size_t>(row + i)] = softmax(scores.data() + i * keysHere, keysHere);
        times(count, width(), keysHere, T(1), scores.data(), vs.data(), T(0), outputs.data() + row * width());
      }
    });
    arrays.put(o, std::move(outputs));
    if (stats) arrays.put(*stats, std::move(logarithms));
  }
};

/// With P the softmax and D the sum of dO O of a query: dV = P' dO, dS = P (dO V' - D), dQ = scale dS K and
/// dK = scale dS' Q.
struct AttentionBackward : OperationOf<AttentionBackward>, Attention {
  Tensor changeOfO, changeOfQ, changeOfK, changeOfV;

  bool fitsChanges() const {
    return changeOfO.size == o.size && changeOfQ.size == q.size && changeOfK.size == k.size &&
           changeOfV.size == v.size && k.size[1] == v.size[1];
  }
  double operations() const override {
    return 2 * static_cast<double>(images() * heads() * queries()) * static_cast<double>(keys()) *
           static_cast<double>(3 * depth() + 2 * width());
  }

  template <class T>
  struct Changes {
    std::vector<T> q, k, v;
  };

  /// What one head of Q adds.
  template <class T>
  void addHead(const Arrays<T>& arrays, int64_t image, int64_t head, Changes<T>& changes) const {
    const int64_t keysHere = length(arrays, keyLengths, image, keys());
    const int64_t queriesHere = length(arrays, queryLengths, image, queries());
    if (keysHere == 0) return;
    const T alpha = factor(arrays);
    const int64_t shared = image * k.size[1] + head / (heads() / k.size[1]);
    const T* ks = arrays[k].data.data() + shared * keys() * depth();
    const T* vs = arrays[v].data.data() + shared * keys() * width();
    std::vector<T> p(static_cast<size_t>(kTogether * keysHere)), ds(p.size());
    for (int64_t first = 0; first < queriesHere; first += kTogether) {
      const int64_t count = std::min(kTogether, queriesHere - first);
      const int64_t row = (image * heads() + head) * queries() + first;
      const T* qs = arrays[q].data.data() + row * depth();
      const T *os = arrays[o].data.data() + row * width(), *dos = arrays[changeOfO].data.data() + row * width();
      timesTransposed(count, keysHere, depth(), alpha, qs, ks, T(0), p.data());
      timesTransposed(count, keysHere, width(), T(1), dos, vs, T(0), ds.data());
      for (int64_t i = 0; i < count; ++i) {
        const T logarithm = arrays[*stats].data[static_cast<size_t>(row + i)];
        T sum = 0;
        for (int64_t j = 0; j < width(); ++j) sum += os[i * width() + j] * dos[i * width() + j];
        for (int64_t at = i * keysHere; at < (i + 1) * keysHere; ++at) {
          T& probability = p[static_cast<size_t>(at)];
          probability = std::exp(probability - logarithm);
          ds[static_cast<size_t>(at)] = probability * (ds[static_cast<size_t>(at)] - sum);
        }
      }
      transposedTimes(keysHere, width(), count, T(1), p.data(), dos, T(1),
                      changes.v.data() + shared * keys() * width());
      times(count, depth(), keysHere, alpha, ds.data(), ks, T(0), changes.q.data() + row * depth());
      transposedTimes(keysHere, depth(), count, alpha, ds.data(), qs, T(1),
                      changes.k.data() + shared * keys() * depth());
    }
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    Changes<T> changes;
    changes.q.resize(static_cast<size_t>(q.count())), changes.k.resize(static_cast<size_t>(k.count()));
    changes.v.resize(static_cast<size_t>(v.count()));
    // Heads that share keys come one after another, so that sums do not depend on the threads.
    const int64_t together = heads() / k.size[1];
    parallelFor(static_cast<unsigned>(images() * k.size[1]), [&](unsigned index) {
      for (int64_t i = 0; i < together; ++i)
        addHead(arrays, index / k.size[1], index % k.size[1] * together + i, changes);
    });
    arrays.put(changeOfQ, std::move(changes.q));
    arrays.put(changeOfK, std::move(changes.k));
    arrays.put(changeOfV, std::move(changes.v));
  }
};

}  // namespace

cudnnStatus_t makeAttention(const Descriptor& said, Made& made) {
  if (said.has(CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC)) return refuse("attention with a mask of blocks");
  for (const auto& [name, values] : said.values())
    if (name > CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC)
      return refuse("an attribute of attention of a later cuDNN");
  const auto operation = std::make_shared<AttentionForward>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, operation->q},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, operation->k},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, operation->v},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, operation->scale},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, operation->queryLengths},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, operation->keyLengths},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC, operation->pagesOfK},
                          {CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC, operation->pagesOfV}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, operation->o},
                           {CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, operation->stats}}));
  CUDNN_CHECK(operation->fitsOthers() && operation->fits());
  if (!ordito::cublas::loadOpenBlas()) return notInitialized();
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeAttentionBackward(const Descriptor& said, Made& made) {
  for (const auto& [name, values] : said.values())
    if (name > CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC) return refuse("an attribute of attention of a later cuDNN");
  const auto operation = std::make_shared<AttentionBackward>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, operation->q},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, operation->k},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, operation->v},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, operation->o},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, operation->changeOfO},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, operation->stats},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, operation->scale},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC, operation->queryLengths},
                          {CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC, operation->keyLengths}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, operation->changeOfQ},
                           {CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, operation->changeOfK},
                           {CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, operation->changeOfV}}));
  CUDNN_CHECK(operation->stats && operation->fitsOthers() && operation->fits() && operation->fitsChanges());
  if (!ordito::cublas::loadOpenBlas()) return notInitialized();
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
