#include "embed/function_table.h"

#include "embed/c_parts.h"

namespace svod {

namespace {

/// The digest in "\nsvod plan DIGEST\n".
std::string_view digestIn(std::string_view record) {
  record = record.substr(record.rfind(' ') + 1);
  return record.substr(0, record.find('\n'));
}

}  // namespace

std::string functionTableText(const Plan& plan, const std::string& prefix, const EmbedParts& parts,
                              std::string_view record) {
  const std::string name = prefix + "_functions";
  std::string kernels, rows;
  for (KernelId id = 0; id < plan.kernels.size(); id++) {
    kernels += "SVOD_KERNEL\n" + parts.kernels[id] + "\n";
    rows += "    {\"" + plan.kernels[id].symbol + "\", " + plan.kernels[id].symbol + "},\n";
  }
  std::string text =
      "/* The kernels of a plan, for svod_plan_load_static. Made by svodc.\n\n"
      "   extern const svod_function_table " +
      name + "; */\n#include <stddef.h>\n#include <svod/runtime.h>\n" + parts.head(kernels) + kernelMacro() + kernels;
  if (!rows.empty()) text += "static const svod_function kFunctions[] = {\n" + rows + "};\n\n";
  return text + "extern const svod_function_table " + name + ";\nconst svod_function_table " + name + " = {\n    \"" +
         std::string(digestIn(record)) + "\", " + (rows.empty() ? "NULL" : "kFunctions") + ", " +
         std::to_string(plan.kernels.size()) + "};\n";
}

}  // namespace svod
