// svodc check GRAPH
#include "console/console.h"
#include "models.h"
#include "options.h"
#include "report/render.h"
#include "support/text.h"

namespace svod {

namespace {

Document summary(const std::string& name, const Checkup& checkup) {
  return {"",
          {{"",
            "",
            {FactList{{"file", "file", name},
                      {"ok", "ok", checkup.errors.empty()},
                      {"errors", "errors", checkup.errors.size()},
                      {"inputs", "inputs", checkup.inputs},
                      {"outputs", "outputs", checkup.outputs},
                      {checkup.unit, checkup.unit, checkup.count}}}}}};
}

}  // namespace

Result<int> runCheck(const Request& request, Console& console) {
  SVOD_TRY(const LoadOptions load, loadOptions(request.flags));
  const std::string& path = request.files.at(0);
  const std::string name = path == "-" ? "stdin" : path;
  SVOD_TRY(const Checkup checkup, checkModel(path, load));
  const std::vector<Error>& errors = checkup.errors;
  for (const Error& error : errors) console.report(error);
  for (const Error& note : checkup.notes) console.note(note);
  if (request.flags.json) {
    SVOD_CHECK(console.print(toJson(summary(name, checkup))));
  } else if (errors.empty()) {
    SVOD_CHECK(console.print(printable(name) + ": ok\n"));
  }
  return errors.empty() ? 0 : info(errors.front()->diag).exitCode;
}

}  // namespace svod
