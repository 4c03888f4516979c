// NPP: markers of regions: pixels of one value that touch get one label (union and find), and labels are made to
// follow each other.
#include <unordered_map>
#include <vector>

#include "libs/npp/image.hpp"
#include "nppi_filtering_functions.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

NppStatus tellSize(int* bytes) {
  if (!bytes) return NPP_NULL_POINTER_ERROR;
  *bytes = 1;  // tasks have memory of their own
  return NPP_SUCCESS;
}

/// Sets of pixels, each known by its first one in the order of rows.
class Regions {
 public:
  explicit Regions(size_t count) : parent_(count) {
    for (size_t i = 0; i < count; ++i) parent_[i] = static_cast<Npp32u>(i);
  }

  Npp32u find(Npp32u i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];  // halves the path
    return i;
  }
  void join(Npp32u a, Npp32u b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<Npp32u> parent_;
};

bool areNorms(NppiNorm norm) { return norm == nppiNormInf || norm == nppiNormL1; }

/// The label of a region is the index of its first pixel. Pixels of value 0 are regions like others, as the manual has
/// it, and the images that NVIDIA's sample keeps of a GPU.
void label(Image<const Npp8u> from, Image<Npp32u> to, NppiSize size, bool isWithDiagonals) {
  Regions regions(static_cast<size_t>(size.width) * static_cast<size_t>(size.height));
  const auto index = [&](int x, int y) {
    return static_cast<Npp32u>(y) * static_cast<Npp32u>(size.width) + static_cast<Npp32u>(x);
  };
  const auto join = [&](int x, int y, int otherX, int otherY) {
    if (otherX < 0 || otherY < 0 || otherX >= size.width) return;
    if (from.row(y)[x] == from.row(otherY)[otherX]) regions.join(index(x, y), index(otherX, otherY));
  };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      join(x, y, x - 1, y);
      join(x, y, x, y - 1);
      if (isWithDiagonals) join(x, y, x - 1, y - 1);
      if (isWithDiagonals) join(x, y, x + 1, y - 1);
    }
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) to.row(y)[x] = regions.find(index(x, y));
}

/// Labels become 0, 1, ... in the order of their values; how many there are.
int compress(Image<Npp32u> labels, NppiSize size) {
  std::vector<Npp32u> used;
  for (int y = 0; y < size.height; ++y) used.insert(used.end(), labels.row(y), labels.row(y) + size.width);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::unordered_map<Npp32u, Npp32u> place;
  for (const Npp32u label : used) place.emplace(label, static_cast<Npp32u>(place.size()));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) labels.row(y)[x] = place[labels.row(y)[x]];
  return static_cast<int>(used.size());
}

}  // namespace

NppStatus nppiLabelMarkersUFGetBufferSize_32u_C1R(NppiSize size, int* bytes) {
  return size.width < 0 || size.height < 0 ? NPP_SIZE_ERROR : tellSize(bytes);
}

BOTH_FORMS(nppiLabelMarkersUF_8u32u_C1R,
           (Npp8u * from, int fromStep, Npp32u* to, int toStep, NppiSize size, NppiNorm norm, Npp8u* buffer),
           (from, fromStep, to, toStep, size, norm, buffer)) {
  const Image<const Npp8u> source{from, fromStep};
  const Image result{to, toStep};
  if (!buffer) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, source, result)) return bad;
  if (!areNorms(norm)) return NPP_NOT_SUPPORTED_MODE_ERROR;
  return run(context, "nppiLabelMarkersUF_8u32u_C1R", [=] { label(source, result, size, norm == nppiNormInf); });
}

NppStatus nppiCompressMarkerLabelsGetBufferSize_32u_C1R(int start, int* bytes) {
  return start < 1 ? NPP_SIZE_ERROR : tellSize(bytes);
}

// The number of labels is the host's: the call waits for it.
BOTH_FORMS(nppiCompressMarkerLabelsUF_32u_C1IR,
           (Npp32u * labels, int step, NppiSize size, int start, int* count, Npp8u* buffer),
           (labels, step, size, start, count, buffer)) {
  const Image image{labels, step};
  if (!count || !buffer) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, image)) return bad;
  if (start < 1) return NPP_BAD_ARGUMENT_ERROR;
  const NppStatus queued = run(context, "nppiCompressMarkerLabelsUF_32u_C1IR", [=] { *count = compress(image, size); });
  return queued != NPP_SUCCESS ? queued : answer(await(reinterpret_cast<CUstream>(context.hStream)));
}

// Batches are lists in device memory, which the task reads; sizes are those of the labels' images. `NAME_Advanced` is
// told how large the largest image is, so that a GPU need not read the list before.
namespace {

NppStatus checkBatch(int count, NppiSize most) {
  return count < 1 || most.width < 0 || most.height < 0 ? NPP_SIZE_ERROR : NPP_SUCCESS;
}

/// body(number) for each image of a batch.
template <class Body>
NppStatus runBatch(const NppStreamContext& context, const char* name, int count, const Body& body) {
  return run(context, name, [=] { parallelFor(static_cast<unsigned>(count), body); });
}

template <class T>
Image<T> imageOf(const NppiImageDescriptor& descriptor) {
  return {static_cast<T*>(descriptor.pData), descriptor.nStep};
}

}  // namespace

BOTH_FORMS(nppiLabelMarkersUFBatch_8u32u_C1R_Advanced,
           (const NppiImageDescriptor* from, NppiImageDescriptor* to, int count, NppiSize most, NppiNorm norm),
           (from, to, count, most, norm)) {
  if (!from || !to) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = checkBatch(count, most)) return bad;
  if (!areNorms(norm)) return NPP_NOT_SUPPORTED_MODE_ERROR;
  return runBatch(context, "nppiLabelMarkersUFBatch_8u32u_C1R", count, [=](unsigned i) {
    label(imageOf<const Npp8u>(from[i]), imageOf<Npp32u>(to[i]), to[i].oSize, norm == nppiNormInf);
  });
}

BOTH_FORMS(nppiCompressMarkerLabelsUFBatch_32u_C1IR_Advanced,
           (NppiImageDescriptor * labels, NppiBufferDescriptor* buffers, unsigned int* counts, int count, NppiSize most,
            int mostBuffer),
           (labels, buffers, counts, count, most, mostBuffer)) {
  if (!labels || !buffers || !counts) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = checkBatch(count, most)) return bad;
  if (mostBuffer < 0) return NPP_SIZE_ERROR;
  return runBatch(context, "nppiCompressMarkerLabelsUFBatch_32u_C1IR", count, [=](unsigned i) {
    counts[i] = static_cast<Npp32u>(compress(imageOf<Npp32u>(labels[i]), labels[i].oSize));
  });
}
