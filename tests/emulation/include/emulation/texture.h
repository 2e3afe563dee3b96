/* CUDA emulation: fetches from textures. */
#ifndef EMULATION_TEXTURE_H
#define EMULATION_TEXTURE_H

#include "../cuda_runtime_api.h"

/* The element whose cell the point lies in. */
float emulation_fetch(cudaTextureObject_t texture, float x, float y);

template <class T> T tex2D(cudaTextureObject_t texture, float x, float y) {
    static_assert(sizeof(T) == sizeof(float) && (T)0.5f == 0.5f, "textures of floats alone");
    return emulation_fetch(texture, x, y);
}

/* Element i of linear memory, of four integers; beyond its end zeros. */
int4 emulation_fetch_linear(cudaTextureObject_t texture, int i);

template <class T> T tex1Dfetch(cudaTextureObject_t texture, int i) { return emulation_fetch_linear(texture, i); }

#endif
