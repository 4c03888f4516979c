# The headers of the C++ library for NVRTC's --device-as-default-execution-space, which makes functions without __host__ or
# __device__ the device's, too: not those of the library, which clang's own headers for CUDA have seen before as the host's.
# Each leaves that mode for the time of the header of its name (libs/nvrtc/program.cpp enters it).
set(names algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable coroutine
    deque exception execution filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream
    iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio
    regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
    string_view system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
    version cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
    cstring ctime cuchar cwchar cwctype)
foreach(name IN LISTS names)
  file(CONFIGURE OUTPUT ${generated}/include/ordito_standard/${name} CONTENT [=[
#ifdef ORDITO_DEFAULT_DEVICE
#undef ORDITO_DEFAULT_DEVICE
#pragma clang force_cuda_host_device end
#include_next <@name@>
#pragma clang force_cuda_host_device begin
#define ORDITO_DEFAULT_DEVICE
#else
#include_next <@name@>
#endif
]=] @ONLY)
endforeach()
