#include "report/report.h"

namespace svod {

Document describe(const Subject& subject, const ReportOptions& options) {
  const bool brief = !options.any();
  Document document{"plan " + subject.plan->name, {}};
  if (brief || (options.graph && options.kernels)) document.sections.push_back(overviewOf(*subject.plan));
  if (subject.model != nullptr && options.graph) document.sections.push_back(graphOf(*subject.model, true));
  if (options.decisions) document.sections.push_back(decisionsOf(*subject.plan));
  if (brief || options.kernels || options.source)
    document.sections.push_back(kernelsOf(subject, options.kernels, options.source));
  if (brief || options.memory) document.sections.push_back(memoryOf(*subject.plan, options.memory));
  if (brief || options.steps) document.sections.push_back(stepsOf(*subject.plan, options.steps));
  return document;
}

Document pageOf(const Subject& subject) {
  const Plan& plan = *subject.plan;
  Document page{
      "plan " + plan.name,
      {figuresOf(subject), kernelsInShort(subject), flowOf(subject), timeLineOf(subject), memoryAtWork(plan)}};
  Section overview = overviewOf(plan);
  overview.key = "plan", overview.title = "Inputs, outputs and target";
  page.sections.push_back(std::move(overview));
  page.sections.push_back(stepsOf(plan, true));
  page.sections.push_back(kernelDetails(subject));
  page.sections.push_back(decisionsOf(plan));
  if (subject.model != nullptr) page.sections.push_back(graphOf(*subject.model, true));
  page.sections.push_back(weightsOf(plan));
  return page;
}

}  // namespace svod
