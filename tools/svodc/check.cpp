// svodc check GRAPH
#include "console/console.h"
#include "options.h"

namespace svod {

namespace {

size_t countOf(const GraphFile& file, StatementKind kind) {
  return static_cast<size_t>(std::count_if(file.statements.begin(), file.statements.end(),
                                           [&](const Statement& s) { return s.kind == kind; }));
}

Document summary(const GraphFile& file, const std::vector<Error>& errors) {
  return {"", {{"", "", {FactList{{"file", "file", file.path},
                               {"ok", "ok", errors.empty()},
                               {"errors", "errors", errors.size()},
                               {"inputs", "inputs", countOf(file, StatementKind::Input)},
                               {"outputs", "outputs", countOf(file, StatementKind::Output)},
                               {"statements", "statements", file.statements.size()}}}}}};
}

}  // namespace

Result<int> runCheck(const Request& request, Console& console) {
  SVOD_TRY(const LoadOptions load, loadOptions(request.flags));
  SVOD_TRY(const GraphFile file, readGraph(request.files.at(0)));
  const std::vector<Error> errors = checkGraphFile(file, load);
  for (const Error& error : errors) console.report(error);
  if (request.flags.json) {
    SVOD_CHECK(console.print(toJson(summary(file, errors))));
  } else if (errors.empty()) {
    SVOD_CHECK(console.print(file.path + ": ok\n"));
  }
  return errors.empty() ? 0 : info(errors.front().diag).exitCode;
}

}  // namespace svod
