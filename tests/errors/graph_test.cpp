// Broken graphs and what is said about them: for each graph/NAME.svod or .json, graph/NAME.expect holds the
// messages. SVOD_UPDATE=1 rewrites the expectations. A comment `# options:` in a graph gives command-line
// options.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "common/temp_folder.h"
#include "frontend/frontend.h"

using namespace svod;

namespace {

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SVOD_TEST_DIR "/graph"))
    if (entry.path().extension() == ".svod" || entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

LoadOptions optionsOf(const std::string& text) {
  LoadOptions options;
  size_t at = text.find("# options:");
  if (at == std::string::npos) return options;
  std::istringstream words(text.substr(at + 10, text.find('\n', at) - at - 10));
  for (std::string flag, value; words >> flag >> value;) {
    if (flag == "--var") options.variables.push_back(parseVariableOption(value).value());
    if (flag == "--shape") options.shapes.push_back(parseShapeOption(value).value());
    if (flag == "--const") options.constants.push_back(parseConstantOption(value).value());
  }
  return options;
}

std::vector<Error> errorsOf(const std::string& path) {
  Result<GraphFile> file = readGraphFile(path);
  if (!file) return {file.error()};
  return checkGraphFile(*file, optionsOf(readText(path)));
}

}  // namespace

TEST_CASE("every broken graph gets its message") {
  bool update = std::getenv("SVOD_UPDATE") != nullptr;
  for (const std::filesystem::path& path : corpus()) {
    INFO(path.string());
    std::vector<Error> errors = errorsOf(path.string());
    CHECK_FALSE(errors.empty());
    std::string got;
    for (const Error& e : errors) got += toText(e) + "\n";
    std::string expectation = std::filesystem::path(path).replace_extension("").string() + "." +
                              path.extension().string().substr(1) + ".expect";
    if (update) writeText(expectation, got);
    CHECK(got == readText(expectation));
  }
}

TEST_CASE("messages name the file and a line") {
  for (const std::filesystem::path& path : corpus())
    for (const Error& e : errorsOf(path.string())) {
      INFO(toText(e));
      CHECK(e->loc.file == path.string());
      bool isAboutFile = e->diag == Diag::NoOutputs || e->diag == Diag::BindMismatch || e->diag == Diag::UnknownPort ||
                         e->diag == Diag::Io ||
                         (e->diag == Diag::VariableBounds && !optionsOf(readText(path.string())).variables.empty());
      CHECK((e->loc.line > 0 || isAboutFile));
      CHECK(e->message.size() < 400);
      CHECK_FALSE(e->help.empty());
      CHECK((info(e->diag).exitCode == 1 || info(e->diag).exitCode == 3 || info(e->diag).exitCode == 74));
    }
}

TEST_CASE("the corpus covers every diagnostic about graphs") {
  std::set<Diag> seen;
  for (const std::filesystem::path& path : corpus())
    for (const Error& e : errorsOf(path.string())) seen.insert(e->diag);
  for (int d = static_cast<int>(Diag::Syntax); d <= static_cast<int>(Diag::TooLarge); ++d) {
    INFO(info(static_cast<Diag>(d)).code);
    CHECK(seen.count(static_cast<Diag>(d)) == 1);
  }
}

TEST_CASE("options that cannot be read are usage errors") {
  for (const char* text : {"n", "=4", "n=", "n=4:", "n=1:b", "n=2*", "n=a*b", "n=a//2", "n=min(a, b)", "n=1.5"})
    CHECK(parseVariableOption(text).error()->diag == Diag::Usage);
  for (const char* text : {"x", "x=1xx2", "x=-1", "x=a*b", "x=2,,3", "x=\"a\""})
    CHECK(parseShapeOption(text).error()->diag == Diag::Usage);
  CHECK(parseConstantOption("x").error()->diag == Diag::Usage);
  CHECK(parseShapeOption("x=").value().second.empty());
  CHECK(parseShapeOption("x=1x22x3").value().second == std::vector<SizeForm>{{{}, 1}, {{}, 22}, {{}, 3}});
  CHECK(parseVariableOption("n=-2:5").value().min == -2);
  CHECK(parseVariableOption("n=5").value().value == 5);
}
