// Two models that are to be the same in all that a plan depends on.
#pragma once
#include <catch2/catch.hpp>
#include <cstring>

#include "data/atomic_write.h"
#include "data/safetensors.h"
#include "frontend/frontend.h"
#include "frontend/model_writer.h"

namespace svod {

inline void checkSameModel(const Model& want, const Model& got) {
  CHECK(got.sink.hash() == want.sink.hash());
  CHECK(got.loops == want.loops);
  CHECK(got.labels == want.labels);
  REQUIRE(got.variables.size() == want.variables.size());
  for (size_t i = 0; i < want.variables.size(); ++i) CHECK(got.variables[i].hash() == want.variables[i].hash());
  REQUIRE(got.ports.size() == want.ports.size());
  for (size_t i = 0; i < want.ports.size(); ++i) {
    const ModelPort &a = want.ports[i], &b = got.ports[i];
    INFO("port " << a.name);
    CHECK(b.kind == a.kind);
    CHECK(b.name == a.name);
    CHECK(b.expectation == a.expectation);
    CHECK(b.buffer.hash() == a.buffer.hash());
    REQUIRE(b.data.bytes == a.data.bytes);
    CHECK((a.data.bytes == 0 || std::memcmp(a.data.data, b.data.data, a.data.bytes) == 0));
  }
}

/// Writes text and weights into the folder, as svodc convert does, and reads them back.
inline Result<Model> readBack(const WrittenModel& model, const std::string& folder, const std::string& weightFile) {
  std::vector<NewSafeTensor> tensors;
  for (const WrittenWeight& w : model.weights)
    tensors.push_back(
        {w.name, *elementTypeFromName(toText(w.dtype)), {w.dims.begin(), w.dims.end()}, {w.data.data, w.data.bytes}});
  NewSafetensors weights = layOutSafetensors(std::move(tensors));
  SVOD_CHECK(writeChunksAtomic(folder + "/" + weightFile, weights.chunks()));
  SVOD_CHECK(writeFileAtomic(folder + "/graph.svod", writeGraphText(model.file)));
  return loadModel(folder + "/graph.svod");
}

/// The text is the same after a detour through JSON, and no line is hard to read.
inline void checkText(const WrittenModel& model) {
  std::string text = writeGraphText(model.file);
  Result<GraphFile> read = parseGraphText(text, "a.svod");
  REQUIRE(read);
  CHECK(writeGraphText(*read) == text);
  Result<GraphFile> json = parseGraphJson(writeGraphJson(*read), "a.json");
  REQUIRE(json);
  CHECK(writeGraphText(*json) == text);
}

}  // namespace svod
