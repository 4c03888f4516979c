// The part of the driver API about arrays, textures and surfaces. Included by cuda.h.
#ifndef ORDITO_DRIVER_TEXTURES_H
#define ORDITO_DRIVER_TEXTURES_H

#define CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION 0x20
#define CU_TRSF_SEAMLESS_CUBEMAP 0x40

#define cuArrayCreate cuArrayCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyAtoD ORDITO_PTDS(cuMemcpyAtoD_v2)
#define cuMemcpyDtoA ORDITO_PTDS(cuMemcpyDtoA_v2)
#define cuMemcpyAtoH ORDITO_PTDS(cuMemcpyAtoH_v2)
#define cuMemcpyHtoA ORDITO_PTDS(cuMemcpyHtoA_v2)
#define cuMemcpyAtoA ORDITO_PTDS(cuMemcpyAtoA_v2)
#define cuMemcpyAtoHAsync ORDITO_PTSZ(cuMemcpyAtoHAsync_v2)
#define cuMemcpyHtoAAsync ORDITO_PTSZ(cuMemcpyHtoAAsync_v2)
#define cuTexRefSetAddress cuTexRefSetAddress_v2
#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3
#define cuTexRefGetAddress cuTexRefGetAddress_v2

typedef struct CUDA_RESOURCE_DESC_st {
  CUresourcetype resType;
  union {
    struct {
      CUarray hArray;
    } array;
    struct {
      CUmipmappedArray hMipmappedArray;
    } mipmap;
    struct {
      CUdeviceptr devPtr;
      CUarray_format format;
      unsigned int numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      CUdeviceptr devPtr;
      CUarray_format format;
      unsigned int numChannels;
      size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned int flags;
} CUDA_RESOURCE_DESC;

typedef struct CUDA_TEXTURE_DESC_st {
  CUaddress_mode addressMode[3];
  CUfilter_mode filterMode;
  unsigned int flags, maxAnisotropy;
  CUfilter_mode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
  int reserved[12];
} CUDA_TEXTURE_DESC;

typedef struct CUDA_RESOURCE_VIEW_DESC_st {
  CUresourceViewFormat format;
  size_t width, height, depth;
  unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
  unsigned int reserved[16];
} CUDA_RESOURCE_VIEW_DESC;

#ifdef __cplusplus
extern "C" {
#endif

CUresult CUDAAPI cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor);
CUresult CUDAAPI cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array);
CUresult CUDAAPI cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor);
CUresult CUDAAPI cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array);
CUresult CUDAAPI cuArrayDestroy(CUarray array);
CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray* mipmap, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                        unsigned int levels);
CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray mipmap, unsigned int number);
CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray mipmap);

CUresult CUDAAPI cuMemcpyDtoA(CUarray to, size_t to_offset, CUdeviceptr from, size_t bytes);
CUresult CUDAAPI cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t from_offset, size_t bytes);
CUresult CUDAAPI cuMemcpyHtoA(CUarray to, size_t to_offset, const void* from, size_t bytes);
CUresult CUDAAPI cuMemcpyAtoH(void* to, CUarray from, size_t from_offset, size_t bytes);
CUresult CUDAAPI cuMemcpyAtoA(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes);
CUresult CUDAAPI cuMemcpyHtoAAsync(CUarray to, size_t to_offset, const void* from, size_t bytes, CUstream stream);
CUresult CUDAAPI cuMemcpyAtoHAsync(void* to, CUarray from, size_t from_offset, size_t bytes, CUstream stream);

CUresult CUDAAPI cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                                   const CUDA_TEXTURE_DESC* reading, const CUDA_RESOURCE_VIEW_DESC* view);
CUresult CUDAAPI cuTexObjectDestroy(CUtexObject texture);
CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject texture);
CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* reading, CUtexObject texture);
CUresult CUDAAPI cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject texture);
CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource);
CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject surface);
CUresult CUDAAPI cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject surface);

// Texture and surface references, from before CUDA 12.
CUresult CUDAAPI cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name);
CUresult CUDAAPI cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name);
CUresult CUDAAPI cuTexRefCreate(CUtexref* reference);
CUresult CUDAAPI cuTexRefDestroy(CUtexref reference);
CUresult CUDAAPI cuTexRefSetArray(CUtexref reference, CUarray array, unsigned int flags);
CUresult CUDAAPI cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray mipmap, unsigned int flags);
CUresult CUDAAPI cuTexRefSetAddress(size_t* offset, CUtexref reference, CUdeviceptr memory, size_t bytes);
CUresult CUDAAPI cuTexRefSetAddress2D(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* descriptor, CUdeviceptr memory,
                                      size_t pitch);
CUresult CUDAAPI cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels);
CUresult CUDAAPI cuTexRefSetAddressMode(CUtexref reference, int axis, CUaddress_mode mode);
CUresult CUDAAPI cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode);
CUresult CUDAAPI cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode);
CUresult CUDAAPI cuTexRefSetMipmapLevelBias(CUtexref reference, float bias);
CUresult CUDAAPI cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most);
CUresult CUDAAPI cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned int ratio);
CUresult CUDAAPI cuTexRefSetBorderColor(CUtexref reference, float* colour);
CUresult CUDAAPI cuTexRefSetFlags(CUtexref reference, unsigned int flags);
CUresult CUDAAPI cuTexRefGetAddress(CUdeviceptr* memory, CUtexref reference);
CUresult CUDAAPI cuTexRefGetArray(CUarray* array, CUtexref reference);
CUresult CUDAAPI cuTexRefGetMipmappedArray(CUmipmappedArray* mipmap, CUtexref reference);
CUresult CUDAAPI cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref reference, int axis);
CUresult CUDAAPI cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref reference);
CUresult CUDAAPI cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref reference);
CUresult CUDAAPI cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref reference);
CUresult CUDAAPI cuTexRefGetMipmapLevelBias(float* bias, CUtexref reference);
CUresult CUDAAPI cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref reference);
CUresult CUDAAPI cuTexRefGetMaxAnisotropy(int* ratio, CUtexref reference);
CUresult CUDAAPI cuTexRefGetBorderColor(float* colour, CUtexref reference);
CUresult CUDAAPI cuTexRefGetFlags(unsigned int* flags, CUtexref reference);
CUresult CUDAAPI cuParamSetTexRef(CUfunction function, int unit, CUtexref reference);
CUresult CUDAAPI cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned int flags);
CUresult CUDAAPI cuSurfRefGetArray(CUarray* array, CUsurfref reference);

#ifdef __cplusplus
}
#endif

#endif
