// Programs of some years include this by name.
#include <stdint.h>
