// The parts of the text of a file (an internal header of the room).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "embed/c_file.h"

namespace svod {

/// An expression over `names`, and the functions it calls, which driverText puts in front.
std::string exprText(const Expr& expr, std::span<const std::string> names);
/// Those of kExprFunctions that `code` calls.
std::string exprFunctions(const std::string& code);

/// The array with the weights; empty where there are none in the file.
std::string weightsText(const Interface& made, std::span<const std::span<const std::byte>> chunks);

/// The macro SVOD_KERNEL, which stands in front of every kernel.
std::string kernelMacro();

/// The functions of the header.
std::string driverText(const Plan& plan, const Interface& made);

/// The declaration of a function of the header, without the semicolon.
std::string signatureOf(const Plan& plan, const Interface& made, const PublicFunction& function);

}  // namespace svod
