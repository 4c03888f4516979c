// A signal that ends the process (Ctrl-C, the end of a job's time) ends it with its reports: running grids are stopped
// and say where their blocks stand, listeners write what they know, and then the process dies of that very signal.
#pragma once

namespace ordito::machine {

/// From now on, for those of SIGINT, SIGTERM and SIGHUP that the program has not chosen to handle or ignore. A second
/// signal, a second later or more, ends the process at once.
void reportOnEndingSignals();

}  // namespace ordito::machine
