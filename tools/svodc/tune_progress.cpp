#include "tune_progress.h"

#include "support/suggest.h"

namespace svod {

Result<ProgressForm> progressForm(const std::string& name) {
  if (name == "text") return ProgressForm::Text;
  if (name == "json") return ProgressForm::Json;
  constexpr std::string_view kForms[] = {"text", "json"};
  return fail(Diag::Usage, "there is no form '" + name + "' of progress", choicesFor(name, kForms));
}

TuneProgress::Shows progressOn(Console& console, ProgressForm form) {
  return [&console, form](const TuneProgress& progress, std::string_view event) {
    if (form == ProgressForm::Json)
      console.event(progress.json(event));
    else if (const std::string line = progress.text(console.progressWidth()); !line.empty())
      console.progress(line);
    if (event == "end") console.clearProgress();
  };
}

}  // namespace svod
