// A library that the dynamic linker asks where to find others (rtld-audit(7)), in programs that bring NVIDIA's
// libraries with them: Python's wheels have a path to their own copies (DT_RPATH) or load them by absolute names, so
// that no LD_LIBRARY_PATH leads elsewhere. What Ordito has under the same name is loaded instead, and of a library that
// it lacks one line says that NVIDIA's is used. It costs nothing until a library is looked for.
//
// The linker gives it a namespace of its own, with a C library of its own: it must need nothing else.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostPath = PATH_MAX };

static char ownFolder[kMostPath];   // <toolkit>/lib64/, where this library lies
static char nvvmFolder[kMostPath];  // <toolkit>/nvvm/lib64/

static const char* baseName(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int isInOwnFolder(const char* path) {
  return strncmp(path, ownFolder, strlen(ownFolder)) == 0 || strncmp(path, nvvmFolder, strlen(nvvmFolder)) == 0;
}

/// NVIDIA's libraries that need a GPU's machine code, or a driver of theirs, for what they compute.
static int isOfNvidia(const char* name) {
  static const char* const kNames[] = {"libcublas",   "libcuda.so", "libcudart", "libcudnn",     "libcufft",
                                       "libcufile",   "libcupti",   "libcurand", "libcusolver",  "libcusparse",
                                       "libcutensor", "libnccl",    "libnpp",    "libnvJitLink", "libnvjpeg",
                                       "libnvrtc.so", "libnvshmem", "libnvvm.so"};
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i)
    if (strncmp(name, kNames[i], strlen(kNames[i])) == 0) return 1;
  return 0;
}

/// One line for each library: the linker opens a library once.
static void tell(const char* path) {
  const char* quiet = getenv("ORDITO_QUIET");
  if (quiet && strcmp(quiet, "1") == 0) return;
  char line[kMostPath + 200];
  const int length = snprintf(line, sizeof line,
                              "ordito: %s is NVIDIA's: Ordito has no library of this name, and calls of it that need "
                              "a GPU will fail\n",
                              path);
  if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

__attribute__((visibility("default"))) unsigned int la_version(unsigned int version) {
  Dl_info info;
  if (!dladdr((void*)&la_version, &info) || !info.dli_fname) return 0;
  const size_t length = (size_t)(baseName(info.dli_fname) - info.dli_fname);
  if (length == 0 || length + 32 > sizeof ownFolder) return 0;
  memcpy(ownFolder, info.dli_fname, length);
  snprintf(nvvmFolder, sizeof nvvmFolder, "%.*s", (int)(length - strlen("lib64/")), ownFolder);
  strcat(nvvmFolder, "nvvm/lib64/");
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/// How much of a library's name says which interface it has: libnvvm.so.4 of libnvvm.so.4.0.0.
static int lengthOfSoname(const char* name) {
  const char* suffix = strstr(name, ".so.");
  const char* second = suffix ? strchr(suffix + strlen(".so."), '.') : NULL;
  return second ? (int)(second - name) : (int)strlen(name);
}

__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int flag) {
  (void)cookie, (void)flag;
  static __thread char ours[kMostPath];
  const char* folders[] = {ownFolder, nvvmFolder};
  const char* base = baseName(name);
  if (strncmp(base, "lib", 3) != 0) return (char*)name;
  for (size_t i = 0; i < 2; ++i) {
    if (snprintf(ours, sizeof ours, "%s%.*s", folders[i], lengthOfSoname(base), base) >= (int)sizeof ours) break;
    if (access(ours, R_OK) == 0) return ours;
  }
  return (char*)name;
}

__attribute__((visibility("default"))) unsigned int la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) {
  (void)space, (void)cookie;
  if (map->l_name && isOfNvidia(baseName(map->l_name)) && !isInOwnFolder(map->l_name)) tell(map->l_name);
  return 0;
}
