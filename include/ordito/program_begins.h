// The last header before the program of a compiler at run time (hidden_host/stdint.h).
#undef __ORDITO_PRELUDE__
#undef int8_t
#undef int16_t
#undef int32_t
#undef int64_t
#undef uint8_t
#undef uint16_t
#undef uint32_t
#undef uint64_t
#undef intptr_t
#undef uintptr_t
