// Driver API: CUDA arrays, plain and mipmapped. A GPU stores them in an order of its own for the sake of its texture
// caches; here rows are plain, so copies are copies of rows (copy.cpp).
#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "driver/api.hpp"
#include "driver/array.hpp"

using namespace ordito::driver;

namespace {

template <class T>
class Live {
 public:
  T* add(std::unique_ptr<T> object) {
    const std::scoped_lock lock(mutex_);
    return *all_.insert(object.release()).first;
  }
  bool has(const T* object) const {
    const std::scoped_lock lock(mutex_);
    return all_.contains(const_cast<T*>(object));
  }
  /// Null if there is none.
  std::unique_ptr<T> take(T* object) {
    const std::scoped_lock lock(mutex_);
    return std::unique_ptr<T>(all_.erase(object) ? object : nullptr);
  }
  template <class Predicate>
  void endIf(const Predicate& isWanted) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(all_, [&](T* each) {
      const std::unique_ptr<T> ended(isWanted(*each) ? each : nullptr);
      return ended != nullptr;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::set<T*> all_;
};

Live<CUarray_st>& arrays() {
  static auto& all = *new Live<CUarray_st>;
  return all;
}
Live<CUmipmappedArray_st>& mipmaps() {
  static auto& all = *new Live<CUmipmappedArray_st>;
  return all;
}

constexpr unsigned kFlags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                            CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_COLOR_ATTACHMENT;

CUresult check(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  const bool isFormat = channelBytes(d.Format) != 0 && (d.NumChannels == 1 || d.NumChannels == 2 || d.NumChannels == 4);
  if (!isFormat || d.Width == 0) return CUDA_ERROR_INVALID_VALUE;
  if (d.Flags & ~kFlags)
    return remember(CUDA_ERROR_NOT_SUPPORTED,
                    "sparse arrays, arrays of depths and deferred mappings are not supported");
  if (isLayered(d) ? d.Depth == 0 : d.Depth != 0 && d.Height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!(d.Flags & CUDA_ARRAY3D_CUBEMAP)) return CUDA_SUCCESS;
  const bool areFaces = d.Flags & CUDA_ARRAY3D_LAYERED ? d.Depth % 6 == 0 : d.Depth == 6;
  return d.Width == d.Height && areFaces ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult make(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::unique_ptr<CUarray_st>& array) {
  constexpr unsigned kPitchElement = 16;
  array = std::make_unique<CUarray_st>(CUarray_st{0, 0, descriptor});
  const size_t allRows = rows(*array) * slices(*array);
  return cuMemAllocPitch(&array->memory, &array->pitch, rowBytes(*array), allRows, kPitchElement);
}

CUDA_ARRAY3D_DESCRIPTOR levelOf(CUDA_ARRAY3D_DESCRIPTOR d, unsigned level) {
  const auto shrink = [&](size_t& size) { size = size == 0 ? 0 : std::max<size_t>(size >> level, 1); };
  shrink(d.Width), shrink(d.Height);
  if (!isLayered(d)) shrink(d.Depth);
  return d;
}

/// The levels from the whole image down to one texel.
unsigned mostLevels(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return unsigned(std::bit_width(std::max({d.Width, d.Height, isLayered(d) ? 0 : d.Depth})));
}

}  // namespace

unsigned ordito::driver::channelBytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

bool ordito::driver::isLive(const CUarray_st* array) { return arrays().has(array); }
bool ordito::driver::isLive(const CUmipmappedArray_st* mipmap) { return mipmaps().has(mipmap); }

void ordito::driver::endArraysOf(const Context& context) {
  const auto isOf = [&](const CUarray_st& array) {
    const auto found = ordito::machine::allocations().find(array.memory);
    return found && found->owner == &context;
  };
  // The levels tell whose a mipmapped array is: they end behind it.
  mipmaps().endIf([&](const CUmipmappedArray_st& mipmap) { return isOf(*mipmap.levels.front()); });
  arrays().endIf(isOf);
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  if (!array || !descriptor) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = check(*descriptor)) return bad;
  std::unique_ptr<CUarray_st> made;
  if (CUresult failed = make(*descriptor, made)) return failed;
  *array = arrays().add(std::move(made));
  return CUDA_SUCCESS;
}

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR whole{d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
  return cuArray3DCreate(array, &whole);
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
  if (!isLive(array)) return CUDA_ERROR_INVALID_HANDLE;
  *descriptor = array->descriptor;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
  if (!isLive(array)) return CUDA_ERROR_INVALID_HANDLE;
  const CUDA_ARRAY3D_DESCRIPTOR& d = array->descriptor;
  *descriptor = {d.Width, d.Height, d.Format, d.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) {
  // Levels go with the mipmapped array that they belong to.
  if (isLive(array) && array->isLevel) return CUDA_ERROR_INVALID_VALUE;
  const auto taken = arrays().take(array);
  return taken ? cuMemFree(taken->memory) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* mipmap, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int levels) {
  if (!mipmap || !descriptor || levels == 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = check(*descriptor)) return bad;
  auto all = std::make_unique<CUmipmappedArray_st>();
  for (unsigned k = 0; k < std::min(levels, mostLevels(*descriptor)); ++k) {
    std::unique_ptr<CUarray_st> level;
    if (CUresult failed = make(levelOf(*descriptor, k), level)) {
      for (CUarray made : all->levels) cuMemFree(arrays().take(made)->memory);
      return failed;
    }
    level->isLevel = true;
    all->levels.push_back(arrays().add(std::move(level)));
  }
  *mipmap = mipmaps().add(std::move(all));
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray mipmap, unsigned int number) {
  if (!level) return CUDA_ERROR_INVALID_VALUE;
  if (!isLive(mipmap)) return CUDA_ERROR_INVALID_HANDLE;
  if (number >= mipmap->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *level = mipmap->levels[number];
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
  const auto taken = mipmaps().take(mipmap);
  if (!taken) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = CUDA_SUCCESS;
  for (CUarray level : taken->levels)
    if (CUresult failed = cuMemFree(arrays().take(level)->memory)) result = failed;
  return result;
}
