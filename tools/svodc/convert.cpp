// svodc convert GRAPH -o GRAPH
#include "console/console.h"
#include "options.h"

namespace svod {

namespace {

/// Whether `path` is to hold JSON; stdout gets the format that the input does not have.
Result<bool> wantsJson(const std::string& path, const std::string& input) {
  if (path == "-") return !input.ends_with(".json");
  if (path.ends_with(".json")) return true;
  if (path.ends_with(".svod")) return false;
  return fail(Diag::Usage, "cannot tell the format of '" + path + "'", "name it .svod for text or .json for JSON");
}

}  // namespace

Result<int> runConvert(const Request& request, Console& console) {
  const std::string& output = request.flags.output;
  if (output.empty()) return fail(Diag::Usage, "svodc convert needs -o GRAPH", "svodc convert --help");
  SVOD_TRY(const bool json, wantsJson(output, request.files.at(0)));
  SVOD_TRY(const GraphFile file, readGraph(request.files.at(0)));
  const std::string text = json ? writeGraphJson(file) : writeGraphText(file);
  SVOD_CHECK(writeResult(output, text, request, console));
  return 0;
}

}  // namespace svod
