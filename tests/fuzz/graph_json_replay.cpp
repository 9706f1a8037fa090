#include "replay.h"

TEST_CASE("graph JSON: seeds and findings") {
  CHECK(svod::replaySeeds({"tests/errors/graph", "tests/frontend/graphs", "examples"}, ".json") > 10);
  svod::replaySeeds({SVOD_TEST_DIR "/corpus/graph_json"}, "");
}
