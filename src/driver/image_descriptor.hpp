// What a program says of a texture or surface, turned into the descriptor that the machine reads.
#pragma once

#include "driver/extensions.hpp"
#include "machine/image.hpp"

namespace ordito::driver {

/// CUDA_ERROR_INVALID_VALUE for what makes no sense, NOT_SUPPORTED (with a message) for what is missing here.
CUresult describeTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& reading,
                         const CUDA_RESOURCE_VIEW_DESC* view, machine::Texture& texture);
CUresult describeSurface(const CUDA_RESOURCE_DESC& resource, machine::Surface& surface);

}  // namespace ordito::driver
