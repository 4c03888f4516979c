// Addresses that are anywhere, and yet stay as far apart from each other in every lane and every iteration: of
// `values[k]` and `columns[k]` what is known of one is known of the other.
#pragma once

#include "ir/definitions.hpp"
#include "ir/shape.hpp"

namespace ordito::simt {

/// Is `b` less `a`, both of 64 bits, known to be the same for all lanes that have them, whatever it is?
bool haveUniformDistance(const ir::Definitions& definitions, const ir::Function& f, const ir::Shapes& shapes,
                         ir::ValueId a, ir::ValueId b);

/// Is the address `v` computed of what lanes have loaded, as `x[columns[k]]` is?
bool isIndexedByLoad(const ir::Definitions& definitions, const ir::Shapes& shapes, ir::ValueId v);

}  // namespace ordito::simt
