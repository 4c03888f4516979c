// The list of all listeners.
#pragma once

namespace ordito::driver {

/// Lets those listen that the environment asks for. Once, before anything happens.
void addListeners();

}  // namespace ordito::driver
