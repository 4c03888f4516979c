// NVTX: marks and ranges that a program names for a timeline, here that of `ordito run --timeline`. Without one, and
// without Ordito's driver in the process, every call does nothing.
//
// The functions are in this header alone: each asks the driver, if that is loaded, for the call's address by the
// numbers that NVTX's own tools know it by. So nothing is linked, and C and C++ may both include it.
#ifndef NVTOOLSEXT_H_
#define NVTOOLSEXT_H_
#pragma GCC system_header

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 2
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))
#define NVTX_RESOURCE_MAKE_TYPE(CLASS, INDEX) ((((uint32_t)(NVTX_RESOURCE_CLASS_##CLASS)) << 16) | ((uint32_t)(INDEX)))
#define NVTX_RESOURCE_CLASS_GENERIC 1

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;
typedef struct nvtxResourceHandle* nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef enum nvtxResourceGenericType_t {
  NVTX_RESOURCE_TYPE_UNKNOWN = 0,
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 1),
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 2),
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 3),
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 4)
} nvtxResourceGenericType_t;

typedef union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxInitializationAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t reserved0;
} nvtxInitializationAttributes_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_t;

typedef struct nvtxResourceAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t identifierType;
  union identifier_t {
    const void* pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_t;

/* A library of NVTX's names defines it as nothing. */
#ifndef NVTX_ORDITO_LINKAGE
#define NVTX_ORDITO_LINKAGE static inline
#endif

/* The address of a call by its module (1 core, 2 driver, 4 runtime, 5 domains, 6 synchronisation) and number. */
NVTX_ORDITO_LINKAGE void* nvtxOrditoCall(unsigned module, unsigned number) {
  static void* (*find)(unsigned, unsigned);
  if (!find) *(void**)&find = dlsym((void*)0, "orditoAnnotationCall");
  return find ? find(module, number) : (void*)0;
}

#define NVTX_ORDITO_CALL(result, otherwise, name, module, number, parameters, arguments) \
  NVTX_ORDITO_LINKAGE result name parameters {                                           \
    result(*call) parameters;                                                            \
    *(void**)&call = nvtxOrditoCall(module, number);                                     \
    return call ? call arguments : otherwise;                                            \
  }
#define NVTX_ORDITO_TELL(name, module, number, parameters, arguments) \
  NVTX_ORDITO_LINKAGE void name parameters {                          \
    void(*call) parameters;                                           \
    *(void**)&call = nvtxOrditoCall(module, number);                  \
    if (call) call arguments;                                         \
  }

#define NVTX_ORDITO_ATTRIBUTES const nvtxEventAttributes_t* attributes
NVTX_ORDITO_TELL(nvtxMarkEx, 1, 1, (NVTX_ORDITO_ATTRIBUTES), (attributes))
NVTX_ORDITO_TELL(nvtxMarkA, 1, 2, (const char* message), (message))
NVTX_ORDITO_TELL(nvtxMarkW, 1, 3, (const wchar_t* message), (message))
NVTX_ORDITO_CALL(nvtxRangeId_t, 0, nvtxRangeStartEx, 1, 4, (NVTX_ORDITO_ATTRIBUTES), (attributes))
NVTX_ORDITO_CALL(nvtxRangeId_t, 0, nvtxRangeStartA, 1, 5, (const char* message), (message))
NVTX_ORDITO_CALL(nvtxRangeId_t, 0, nvtxRangeStartW, 1, 6, (const wchar_t* message), (message))
NVTX_ORDITO_TELL(nvtxRangeEnd, 1, 7, (nvtxRangeId_t id), (id))
NVTX_ORDITO_CALL(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushEx, 1, 8, (NVTX_ORDITO_ATTRIBUTES), (attributes))
NVTX_ORDITO_CALL(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushA, 1, 9, (const char* message), (message))
NVTX_ORDITO_CALL(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushW, 1, 10, (const wchar_t* message), (message))
NVTX_ORDITO_CALL(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePop, 1, 11, (void), ())
NVTX_ORDITO_TELL(nvtxNameCategoryA, 1, 12, (uint32_t category, const char* name), (category, name))
NVTX_ORDITO_TELL(nvtxNameCategoryW, 1, 13, (uint32_t category, const wchar_t* name), (category, name))
NVTX_ORDITO_TELL(nvtxNameOsThreadA, 1, 14, (uint32_t thread, const char* name), (thread, name))
NVTX_ORDITO_TELL(nvtxNameOsThreadW, 1, 15, (uint32_t thread, const wchar_t* name), (thread, name))

#define NVTX_ORDITO_IN_DOMAIN (nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes)
#define NVTX_ORDITO_NAMING(character) (nvtxDomainHandle_t domain, uint32_t category, const character* name)
NVTX_ORDITO_TELL(nvtxDomainMarkEx, 5, 1, NVTX_ORDITO_IN_DOMAIN, (domain, attributes))
NVTX_ORDITO_CALL(nvtxRangeId_t, 0, nvtxDomainRangeStartEx, 5, 2, NVTX_ORDITO_IN_DOMAIN, (domain, attributes))
NVTX_ORDITO_TELL(nvtxDomainRangeEnd, 5, 3, (nvtxDomainHandle_t domain, nvtxRangeId_t id), (domain, id))
NVTX_ORDITO_CALL(int, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainRangePushEx, 5, 4, NVTX_ORDITO_IN_DOMAIN,
                 (domain, attributes))
NVTX_ORDITO_CALL(int, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainRangePop, 5, 5, (nvtxDomainHandle_t domain), (domain))
NVTX_ORDITO_CALL(nvtxResourceHandle_t, (nvtxResourceHandle_t)0, nvtxDomainResourceCreate, 5, 6,
                 (nvtxDomainHandle_t domain, nvtxResourceAttributes_t* attributes), (domain, attributes))
NVTX_ORDITO_TELL(nvtxDomainResourceDestroy, 5, 7, (nvtxResourceHandle_t resource), (resource))
NVTX_ORDITO_TELL(nvtxDomainNameCategoryA, 5, 8, NVTX_ORDITO_NAMING(char), (domain, category, name))
NVTX_ORDITO_TELL(nvtxDomainNameCategoryW, 5, 9, NVTX_ORDITO_NAMING(wchar_t), (domain, category, name))
NVTX_ORDITO_CALL(nvtxStringHandle_t, (nvtxStringHandle_t)0, nvtxDomainRegisterStringA, 5, 10,
                 (nvtxDomainHandle_t domain, const char* string), (domain, string))
NVTX_ORDITO_CALL(nvtxStringHandle_t, (nvtxStringHandle_t)0, nvtxDomainRegisterStringW, 5, 11,
                 (nvtxDomainHandle_t domain, const wchar_t* string), (domain, string))
NVTX_ORDITO_CALL(nvtxDomainHandle_t, (nvtxDomainHandle_t)0, nvtxDomainCreateA, 5, 12, (const char* name), (name))
NVTX_ORDITO_CALL(nvtxDomainHandle_t, (nvtxDomainHandle_t)0, nvtxDomainCreateW, 5, 13, (const wchar_t* name), (name))
NVTX_ORDITO_TELL(nvtxDomainDestroy, 5, 14, (nvtxDomainHandle_t domain), (domain))
NVTX_ORDITO_TELL(nvtxInitialize, 5, 15, (const void* reserved), (reserved))

#ifdef UNICODE
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#endif
