// What the host sees of texture and surface references, which CUDA had until version 11. Their descriptors are
// variables of the device code, of the same name; binding fills those in.
#ifndef ORDITO_TEXTURE_REFERENCES_H
#define ORDITO_TEXTURE_REFERENCES_H

struct textureReference {
  int normalized;
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureAddressMode addressMode[3];
  struct cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int __cudaReserved[14];
};

struct surfaceReference {
  struct cudaChannelFormatDesc channelDesc;
};

#endif
