// The system's assert.h. Its function is for both sides where clang's own for the device had to give way
// (ordito/before_device_functions.h). No include guard: the macro follows NDEBUG each time.
#ifdef ORDITO_ASSERT_ON_BOTH_SIDES
#pragma clang force_cuda_host_device begin
#include_next <assert.h>
#pragma clang force_cuda_host_device end
#else
#include_next <assert.h>
#endif
