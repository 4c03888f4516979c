// The toolkit has this header in two places.
#include "../host_defines.h"
