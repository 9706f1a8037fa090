#include "options.h"

#include "console/command_flags.h"
#include "support/suggest.h"
#include "target/target.h"

namespace svod {

namespace {

std::vector<CommandFlag> flagsFor(OptToolOptions& o) {
  return {
      {"all", "", "", "", "", "every pass from the stage of the graph on, in order", &o.all},
      {"output", "o", "FILE", "", "", "file for the result, in place of stdout", &o.output},
      {"emit", "", "FORM", "", "",
       "print code of a legalized kernel, in a form of a target such as c or llvm, in place of the graph", &o.emit},
      {"check", "", "", "", "",
       "differential check: run the graph before and after on random data; exit code 4 when they differ", &o.check},
      {"reduce", "", "", "", "", "test case reduction: print a smaller graph that fails in the same way", &o.reduce},
      {"propose", "", "", "", "", "print the candidate opts of a kernel after those of --opts, one per line",
       &o.propose},
      {"target", "", "NAME", "cpu", "", "backend whose passes run: a name of svodc --list-targets", &o.target},
      {"triple", "", "TRIPLE", "", "", "target triple; default: this system", &o.triple},
      {"cpu", "", "NAME", "", "", "processor to compile for; default: native, this one", &o.cpu},
      {"numerics", "", "MODE", "contract", "", "float arithmetic: strict, contract or fast", &o.numerics},
      {"opt-level", "O", "0|1", "1", "", "0: apply-opts applies nothing by itself", &o.optLevel},
      {"opts", "", "LIST", "", "", "schedule that apply-opts applies, such as 'upcast(0,4) thread(0,1)'", &o.opts},
      {"decide", "", "NAME=VALUE", "", "", "override a decision of a pass over a graph", &o.decide},
      {"disable-rule", "", "RULE", "", "", "disable a rewrite rule", &o.disabledRules},
      {"time-passes", "", "", "", "", "table of the time and nodes of every pass, on stderr", &o.timePasses},
      {"list", "", "", "", "", "list the passes, their stages and what they do", &o.list},
      {"diagnostics", "", "FORM", "text", "SVOD_DIAGNOSTICS", "errors as text or json, one per line", &o.diagnostics},
      {"help", "h", "", "", "", "this text", &o.help},
      {"version", "", "", "", "", "the version of svod-opt", &o.version},
  };
}

bool isFile(const std::string& word) { return word == "-" || word.find_first_of("./") != std::string::npos; }

Status checkChoice(const std::string& flag, const std::string& value, std::span<const std::string_view> choices) {
  if (value.empty() || std::ranges::find(choices, value) != choices.end()) return {};
  return fail(Diag::Usage, flag + " '" + value + "'", choicesFor(value, choices));
}

}  // namespace

Result<OptToolOptions> parseOptToolOptions(const std::vector<std::string>& words) {
  OptToolOptions o;
  std::vector<std::string> names;
  SVOD_CHECK(parseCommandFlags("svod-opt", flagsFor(o), words, names, words.size()));
  if (o.help || o.version || o.list) return o;
  for (const std::string& name : names) {
    if (!isFile(name)) {
      o.passes.push_back(name);
    } else if (o.file.empty()) {
      o.file = name;
    } else {
      return fail(Diag::Usage, "two files, '" + o.file + "' and '" + name + "'", "give one");
    }
  }
  if (o.file.empty()) return fail(Diag::Usage, "no graph to read", "name a .uop file, or - for stdin");
  constexpr std::string_view kDiagnostics[] = {"text", "json"};
  std::vector<std::string_view> forms;
  for (const Target* target : targets())
    if (target->print != nullptr) forms.push_back(target->textForm);
  SVOD_CHECK(checkChoice("--emit", o.emit, forms));
  SVOD_CHECK(checkChoice("--diagnostics", o.diagnostics, kDiagnostics));
  if (o.optLevel != 0 && o.optLevel != 1)
    return fail(Diag::Usage, "there is no -O" + std::to_string(o.optLevel), "-O0 or -O1");
  if (o.all && !o.passes.empty()) return fail(Diag::Usage, "--all together with names of passes", "give one of them");
  if (o.propose && (o.reduce || o.check || !o.emit.empty()))
    return fail(Diag::Usage, "--propose prints opts, and no graph or code", "leave out --reduce, --check and --emit");
  return o;
}

std::string optToolHelp() {
  OptToolOptions presets;
  return "usage: svod-opt [PASS...] FILE.uop [flags]\n\n"
         "Runs passes of the compiler, each verified, on a graph in text form, of tensors or of a kernel, and prints "
         "what\n"
         "they make of it.\n\n" +
         helpEntries(flagsFor(presets)) + std::string(kHelpLegend);
}

Result<Numerics> numericsOf(const OptToolOptions& options) {
  if (auto mode = numericsFromText(options.numerics)) return *mode;
  constexpr std::string_view kModes[] = {"strict", "contract", "fast"};
  return fail(Diag::Usage, "there is no numerics mode '" + options.numerics + "'",
              choicesFor(options.numerics, kModes));
}

Result<KernelJob> kernelJobOf(const OptToolOptions& options) {
  SVOD_TRY(const Target* target, targetByName(options.target));
  SVOD_TRY(const Machine machine, target->machine(options.triple, options.cpu));
  SVOD_TRY(const Numerics numerics, numericsOf(options));
  KernelJob job = kernelJob(*target, machine, numerics, static_cast<int>(options.optLevel));
  if (!options.opts.empty()) {
    SVOD_TRY(job.requested, parseOpts(options.opts));
  }
  return job;
}

}  // namespace svod
