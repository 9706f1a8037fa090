// dtypes: names, sizes, the promotion lattice.
#include <catch2/catch.hpp>

#include "ir/dtype.h"

using namespace svod;

TEST_CASE("names are found again") {
  for (DType d : allDTypes()) CHECK(dtypeFromText(toText(d)) == d);
  CHECK_FALSE(dtypeFromText("float").has_value());
}

TEST_CASE("elements of 2 and 4 bits share bytes in memory") {
  CHECK(byteSize(DType::I4) == 1);
  CHECK(memoryBytes(DType::I4, 7) == 4);
  CHECK(memoryBytes(DType::U2, 9) == 3);
  CHECK(memoryBytes(DType::F4E2M1, 0) == 0);
  CHECK(memoryBytes(DType::Bool, 3) == 3);
  CHECK(memoryBytes(DType::F64, 3) == 24);
}

TEST_CASE("limits of integers") {
  CHECK(minInt(DType::I4) == -8);
  CHECK(maxInt(DType::U2) == 3);
  CHECK(minInt(DType::I8) == -128);
  CHECK(maxInt(DType::U8) == 255);
  CHECK(minInt(DType::I64) == INT64_MIN);
  CHECK(maxInt(DType::U32) == 4294967295);
  CHECK(maxInt(DType::Bool) == 1);
}

TEST_CASE("promotion is commutative, associative but for 64-bit mixes, and never loses the kind") {
  for (DType a : allDTypes())
    for (DType b : allDTypes()) {
      INFO(toText(a) << " " << toText(b));
      CHECK(promote(a, b) == promote(b, a));
      CHECK(promote(a, a) == a);
      if (isFloat(a) || isFloat(b)) CHECK(isFloat(promote(a, b)));
    }
  CHECK(promote(DType::U8, DType::I8) == DType::I16);
  CHECK(promote(DType::U32, DType::I32) == DType::I64);
  CHECK(promote(DType::U8, DType::I32) == DType::I32);
  CHECK(promote(DType::U64, DType::I64) == DType::F32);
  CHECK(promote(DType::I64, DType::F16) == DType::F16);
  CHECK(promote(DType::F16, DType::BF16) == DType::F32);
  CHECK(promote(DType::F8E4M3, DType::F8E5M2) == DType::F16);
  CHECK(promote(DType::F4E2M1, DType::F8E5M2FNUZ) == DType::F8E5M2FNUZ);
  CHECK(promote(DType::F8E8M0, DType::F8E4M3) == DType::BF16);
  CHECK(promote(DType::F8E8M0, DType::F16) == DType::F32);
  CHECK(promote(DType::I4, DType::U4) == DType::I8);
  CHECK(promote(DType::I2, DType::U2) == DType::I4);
  CHECK(promote(DType::U2, DType::I4) == DType::I4);
  CHECK(promote(DType::Bool, DType::U8) == DType::U8);
  CHECK(promote(DType::Index, DType::I8) == DType::I8);
}

TEST_CASE("sums accumulate in at least 32 bits") {
  CHECK(sumDType(DType::Bool) == DType::I32);
  CHECK(sumDType(DType::I8) == DType::I32);
  CHECK(sumDType(DType::U8) == DType::U32);
  CHECK(sumDType(DType::U64) == DType::U64);
  CHECK(sumDType(DType::F16) == DType::F32);
  CHECK(sumDType(DType::F64) == DType::F64);
}
