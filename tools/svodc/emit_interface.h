// The C interface of an embedded plan, with the tag that tells its functions from those of others.
#pragma once
#include "emit.h"

namespace svod {

/// A digest of everything that decides what the functions of a plan compute: the manifest, code and weights.
std::string contentOf(const Compilation& compilation);

/// What the header and the objects of one command agree on. Errors: as those of interfaceOf.
Result<Interface> taggedInterface(const EmitSource& from);

}  // namespace svod
