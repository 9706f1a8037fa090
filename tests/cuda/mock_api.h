// How the functions of the mock begin.
#pragma once
#include "cuda/mock.h"

// MOCK_ENTER(name) declares `m`, locked; MOCK_CALL also wants a context, `context`.
#define MOCK_ENTER(name)                   \
  mock::Mock& m = mock::Mock::get();       \
  const std::lock_guard mockLock(m.mutex); \
  if (const auto mockCode = m.enter(name, false)) return *mockCode
#define MOCK_CALL(name)                                            \
  mock::Mock& m = mock::Mock::get();                               \
  const std::lock_guard mockLock(m.mutex);                         \
  if (const auto mockCode = m.enter(name, true)) return *mockCode; \
  [[maybe_unused]] svod::cuda::ContextObject* const context = m.current()

// All functions that the runtime calls, as its table has them.
using namespace svod::cuda;
#define CALL(name, suffix, version, isNeeded, parameters) extern "C" Code name##suffix parameters;
#include "runtime-cuda/driver_calls.def"
#undef CALL
