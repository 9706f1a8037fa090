#include "replay.h"

TEST_CASE("graph text: seeds and findings") {
  CHECK(svod::replaySeeds({"tests/frontend/values", "tests/errors/graph", "examples"}, ".svod") > 100);
  svod::replaySeeds({SVOD_TEST_DIR "/corpus/graph_text"}, "");
}
