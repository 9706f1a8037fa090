// A model that is refused for some of its sizes is taken with others: which ones, to be typed.
#pragma once
#include <memory>
#include <vector>

#include "frontend/frontend.h"
#include "onnx/importer.h"

namespace svod {

/// The errors of `refused`, the first of which also says for which sizes the model can be read, where these are found
/// by a few readings: "--var n=SIZE" where all that were tried work, else "--var n=1". Sizes that options bound, and
/// models with states, stay as they are.
std::vector<Error> errorsWithSizes(const std::shared_ptr<const OnnxFile>& file, const LoadOptions& options,
                                   const OnnxImporter& refused);

}  // namespace svod
