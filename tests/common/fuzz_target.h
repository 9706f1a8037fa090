// A fuzz target: one function for libFuzzer, which tests also run on the seed corpus (common/replay_corpus.cpp).
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// The folder of the target's seeds, from the repository root.
extern const char* const kSeedCorpus;
