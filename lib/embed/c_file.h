// An embedded plan as text in C: a header, and a file that holds all of it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "embed/interface.h"

namespace svod {

/// Declares the function of a plan, for C and C++: names, element types and shapes as comments and constants. It needs
/// no other header but those of a compiler without a C library.
std::string headerText(const Plan& plan, const Interface& made);

/// What a file is made of besides the plan.
struct EmbedParts {
  std::vector<std::string> kernels;                 // a function for each, by KernelId
  std::string (*head)(std::string_view code);       // what functions need in front of them
  std::vector<std::span<const std::byte>> weights;  // weights.bin, in pieces
};

/// One file of C11 with everything: the declarations of the header, kernels, weights and the driver. Nothing but the
/// functions of the header is seen from outside.
std::string fileText(const Plan& plan, const Interface& made, const EmbedParts& parts);

}  // namespace svod
