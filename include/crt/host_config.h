// The toolkit has this header in two places.
#include "../host_config.h"
