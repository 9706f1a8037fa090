// C to machine code with Clang, in process. It sees no compiler, header or library of the system: <math.h>, <string.h>
// and the headers of a freestanding C come with svod.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "toolchain/object.h"

namespace svod {

/// A file of C11.
struct CFile {
  std::string name;  // as errors show it
  std::string text = {};
  /// Where the files that it includes lie, or below (data/inside_folder.h), regular ones: it is a stranger's. Empty: it
  /// includes none.
  std::vector<std::string> folders = {};
  /// Whether names that say nothing of their visibility stay inside of what the object is linked to.
  bool hidesNames = false;
};

/// What a parameter or a result is: a pointer to a scalar, or a scalar.
struct CType {
  enum class Kind : uint8_t { Void, Bool, Signed, Unsigned, Float, Other };
  Kind kind = Kind::Other;
  int bits = 0;
  bool isPointer = false, isConst = false;  // what is pointed to is const
  std::string text;                         // as C writes it
};

struct CFunction {
  CType result;
  std::vector<CType> parameters;
  SourceLoc place;
  bool isDefined = false;
  bool isStatic = false;
};

/// Compiles `file` for `cpu` to a relocatable object, using only `cpu.features`. Its bytes depend on the arguments, and
/// on the files it includes, alone. Float expressions are not contracted. Thread-safe. Errors: CompileFailed, the first
/// of Clang's errors with its place, more of them as notes.
Result<std::string> compileC(const CFile& file, const CpuTarget& cpu, OptLevel level);

/// What compiled C may call without its knowledge, such as memcpy, as an object with hidden symbols: for any processor
/// of the architecture, as kernels that several processors share may call them.
Result<std::string> compileMemoryFunctions(const CpuTarget& cpu);

/// What code for `cpu` may call where the processor has no instruction, such as conversions of 64-bit integers on
/// ARMv7, as objects with hidden symbols: none, or one.
Result<std::vector<std::string>> compileArithmetic(const CpuTarget& cpu);

/// What a file has to say of a function; nothing where it names none so. Adds the files that it includes to
/// `filesRead`. Errors as those of compileC.
Result<std::optional<CFunction>> findFunction(const CFile& file, const std::string& function, const CpuTarget& cpu,
                                              std::set<std::string>* filesRead = nullptr);

}  // namespace svod
