// Keeps the library non-empty and its headers self-contained.
#include "base/error.hpp"
