// Loads and stores with a cache operator (__ldcg, __stcs ...), and integer dot products.
#ifndef ORDITO_MEMORY_FUNCTIONS_H
#define ORDITO_MEMORY_FUNCTIONS_H

#define ORDITO_LOAD(name, op, type, register_type, ptx, constraint)                                       \
  ORDITO_DEVICE type name(const type* pointer) {                                                          \
    register_type value;                                                                                  \
    asm volatile("ld.global." op "." ptx " %0, [%1];" : "=" constraint(value) : "l"(pointer) : "memory"); \
    return (type)value;                                                                                   \
  }
#define ORDITO_LOAD2(name, op, type, register_type, ptx, constraint) \
  ORDITO_DEVICE type name(const type* pointer) {                     \
    register_type x, y;                                              \
    asm volatile("ld.global." op ".v2." ptx " {%0, %1}, [%2];"       \
                 : "=" constraint(x), "=" constraint(y)              \
                 : "l"(pointer)                                      \
                 : "memory");                                        \
    return make_##type(x, y);                                        \
  }
#define ORDITO_LOAD4(name, op, type, register_type, ptx, constraint)                          \
  ORDITO_DEVICE type name(const type* pointer) {                                              \
    register_type x, y, z, w;                                                                 \
    asm volatile("ld.global." op ".v4." ptx " {%0, %1, %2, %3}, [%4];"                        \
                 : "=" constraint(x), "=" constraint(y), "=" constraint(z), "=" constraint(w) \
                 : "l"(pointer)                                                               \
                 : "memory");                                                                 \
    return make_##type(x, y, z, w);                                                           \
  }
#define ORDITO_STORE(name, op, type, register_type, ptx, constraint)                                                \
  ORDITO_DEVICE void name(type* pointer, type value) {                                                              \
    asm volatile("st.global." op "." ptx " [%0], %1;" ::"l"(pointer), constraint((register_type)value) : "memory"); \
  }
#define ORDITO_STORE2(name, op, type, register_type, ptx, constraint)                                              \
  ORDITO_DEVICE void name(type* pointer, type value) {                                                             \
    asm volatile("st.global." op ".v2." ptx " [%0], {%1, %2};" ::"l"(pointer), constraint((register_type)value.x), \
                 constraint((register_type)value.y)                                                                \
                 : "memory");                                                                                      \
  }
#define ORDITO_STORE4(name, op, type, register_type, ptx, constraint)                    \
  ORDITO_DEVICE void name(type* pointer, type value) {                                   \
    asm volatile("st.global." op ".v4." ptx " [%0], {%1, %2, %3, %4};" ::"l"(pointer),   \
                 constraint((register_type)value.x), constraint((register_type)value.y), \
                 constraint((register_type)value.z), constraint((register_type)value.w)  \
                 : "memory");                                                            \
  }

// Every type that a cache operator takes. Asm has no eight-bit registers: bytes travel in sixteen bits.
#define ORDITO_EACH_TYPE(ONE, TWO, FOUR, name, op)                  \
  ONE(name, op, char, short, "s8", "h")                             \
  ONE(name, op, signed char, short, "s8", "h")                      \
  ONE(name, op, unsigned char, unsigned short, "u8", "h")           \
  ONE(name, op, short, short, "s16", "h")                           \
  ONE(name, op, unsigned short, unsigned short, "u16", "h")         \
  ONE(name, op, int, int, "s32", "r")                               \
  ONE(name, op, unsigned int, unsigned int, "u32", "r")             \
  ONE(name, op, long, long, "s64", "l")                             \
  ONE(name, op, unsigned long, unsigned long, "u64", "l")           \
  ONE(name, op, long long, long long, "s64", "l")                   \
  ONE(name, op, unsigned long long, unsigned long long, "u64", "l") \
  ONE(name, op, float, float, "f32", "f")                           \
  ONE(name, op, double, double, "f64", "d")                         \
  TWO(name, op, char2, short, "s8", "h")                            \
  TWO(name, op, uchar2, unsigned short, "u8", "h")                  \
  TWO(name, op, short2, short, "s16", "h")                          \
  TWO(name, op, ushort2, unsigned short, "u16", "h")                \
  TWO(name, op, int2, int, "s32", "r")                              \
  TWO(name, op, uint2, unsigned int, "u32", "r")                    \
  TWO(name, op, longlong2, long long, "s64", "l")                   \
  TWO(name, op, ulonglong2, unsigned long long, "u64", "l")         \
  TWO(name, op, float2, float, "f32", "f")                          \
  TWO(name, op, double2, double, "f64", "d")                        \
  FOUR(name, op, char4, short, "s8", "h")                           \
  FOUR(name, op, uchar4, unsigned short, "u8", "h")                 \
  FOUR(name, op, short4, short, "s16", "h")                         \
  FOUR(name, op, ushort4, unsigned short, "u16", "h")               \
  FOUR(name, op, int4, int, "s32", "r")                             \
  FOUR(name, op, uint4, unsigned int, "u32", "r")                   \
  FOUR(name, op, float4, float, "f32", "f")

ORDITO_EACH_TYPE(ORDITO_LOAD, ORDITO_LOAD2, ORDITO_LOAD4, __ldca, "ca")
ORDITO_EACH_TYPE(ORDITO_LOAD, ORDITO_LOAD2, ORDITO_LOAD4, __ldcg, "cg")
ORDITO_EACH_TYPE(ORDITO_LOAD, ORDITO_LOAD2, ORDITO_LOAD4, __ldcs, "cs")
ORDITO_EACH_TYPE(ORDITO_LOAD, ORDITO_LOAD2, ORDITO_LOAD4, __ldlu, "lu")
ORDITO_EACH_TYPE(ORDITO_LOAD, ORDITO_LOAD2, ORDITO_LOAD4, __ldcv, "cv")
ORDITO_EACH_TYPE(ORDITO_STORE, ORDITO_STORE2, ORDITO_STORE4, __stwb, "wb")
ORDITO_EACH_TYPE(ORDITO_STORE, ORDITO_STORE2, ORDITO_STORE4, __stcg, "cg")
ORDITO_EACH_TYPE(ORDITO_STORE, ORDITO_STORE2, ORDITO_STORE4, __stcs, "cs")
ORDITO_EACH_TYPE(ORDITO_STORE, ORDITO_STORE2, ORDITO_STORE4, __stwt, "wt")

#undef ORDITO_EACH_TYPE
#undef ORDITO_LOAD
#undef ORDITO_LOAD2
#undef ORDITO_LOAD4
#undef ORDITO_STORE
#undef ORDITO_STORE2
#undef ORDITO_STORE4

// Dot products of four bytes, or of two halves with two of four bytes, added to c.
#define ORDITO_DOT(name, instruction, a_type, b_type, c_type, constraint)                   \
  ORDITO_DEVICE c_type name(a_type a, b_type b, c_type c) {                                 \
    c_type sum;                                                                             \
    asm(instruction " %0, %1, %2, %3;" : "=r"(sum) : constraint(a), constraint(b), "r"(c)); \
    return sum;                                                                             \
  }
ORDITO_DOT(__dp4a, "dp4a.s32.s32", int, int, int, "r")
ORDITO_DOT(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int, "r")
ORDITO_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int, "r")
ORDITO_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int, "r")
ORDITO_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int, "r")
ORDITO_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int, "r")
#undef ORDITO_DOT
ORDITO_DEVICE int __dp4a(char4 a, char4 b, int c) {
  int x, y;
  memcpy(&x, &a, 4), memcpy(&y, &b, 4);
  return __dp4a(x, y, c);
}
ORDITO_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  unsigned int x, y;
  memcpy(&x, &a, 4), memcpy(&y, &b, 4);
  return __dp4a(x, y, c);
}

// Does a pointer lead to the kernel's parameters? clang knows the other spaces.
ORDITO_DEVICE unsigned int __isGridConstant(const void* pointer) {
  unsigned int result;
  asm("{\n\t.reg .pred p;\n\tisspacep.param p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(result) : "l"(pointer));
  return result;
}

// Bytes in reverse order.
ORDITO_DEVICE unsigned short __nv_bswap16(unsigned short value) { return __builtin_bswap16(value); }
ORDITO_DEVICE unsigned int __nv_bswap32(unsigned int value) { return __builtin_bswap32(value); }
ORDITO_DEVICE unsigned long long __nv_bswap64(unsigned long long value) { return __builtin_bswap64(value); }

#endif
