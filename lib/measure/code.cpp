#include "measure/code.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/kernel_batch.h"

namespace svod {

namespace {

using Json = nlohmann::json;

}  // namespace

int64_t measuredValue(Interval bounds, int64_t likely, int variablesAt) {
  if (variablesAt == kLikely) return std::clamp(likely, bounds.min, bounds.max);
  const int64_t range = bounds.max - bounds.min;  // times 100 it may not fit
  return bounds.min + range / 100 * variablesAt + range % 100 * variablesAt / 100;
}

CandidateCode describeCode(const CompiledKernel& kernel, int variablesAt) {
  CandidateCode code;
  code.function = kernel.name, code.hash = codeHash(kernel);
  for (UOp v : kernel.linear.variables) code.values.push_back(measuredValue(v.argAs<VarArg>(), variablesAt));
  code.args.assign(kernel.desc.args.begin(), kernel.desc.args.end());
  code.layouts = kernel.layouts;
  code.tiles = kernel.desc.tiles.tryEvaluate(code.values).value_or(0);
  code.scratchBytes = kernel.desc.scratchBytes;
  return code;
}

std::string toText(const CandidateCode& code) {
  Json args = Json::array();
  for (const KernelArg& arg : code.args)
    args.push_back({static_cast<int>(arg.dtype), static_cast<int>(arg.mode), arg.bytes});
  const Json json = {{"library", code.library}, {"function", code.function},
                     {"hash", code.hash},       {"args", args},
                     {"values", code.values},   {"layouts", toText(code.layouts)},
                     {"tiles", code.tiles},     {"scratch", code.scratchBytes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

CandidateCode codeFromText(const std::string& text) {
  const Json json = Json::parse(text);
  CandidateCode code;
  code.library = json.at("library"), code.function = json.at("function"), code.hash = json.at("hash");
  for (const Json& arg : json.at("args"))
    code.args.push_back(
        {static_cast<ElementType>(arg.at(0).get<int>()), static_cast<Mode>(arg.at(1).get<int>()), arg.at(2)});
  code.values = json.at("values").get<std::vector<int64_t>>();
  code.layouts = layoutsFromText(json.at("layouts")).value_or(std::vector<ConstantLayout>());
  code.tiles = json.at("tiles"), code.scratchBytes = json.at("scratch");
  return code;
}

}  // namespace svod
