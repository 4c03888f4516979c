// For tests: what the sanitizers cannot watch.
#pragma once
#include <gtest/gtest.h>

// The thread sanitizer ends the process at the second jump out of a handler of a signal, and keeps a signal of another
// thread until the one that it is for calls something that the sanitizer intercepts, which generated code never does.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
#define SKIP_UNDER_THREAD_SANITIZER(why) GTEST_SKIP() << (why)
#else
#define SKIP_UNDER_THREAD_SANITIZER(why) static_assert(true)
#endif

// LeakSanitizer is part of the address sanitizer, and counts what a test is meant to lose.
#if defined(__has_feature) && __has_feature(address_sanitizer)
#define SKIP_UNDER_LEAK_SANITIZER() GTEST_SKIP() << "something is left behind on purpose"
#else
#define SKIP_UNDER_LEAK_SANITIZER() static_assert(true)
#endif
