#include "target/opencl/print_opencl.h"

namespace svod::opencl {

namespace {

constexpr OpText kOps[] = {
    {Op::Round, OnFloat, "rint($0)"},
};

std::string_view typeName(DType d) {
  switch (d) {
    case DType::Bool: return "bool";
    case DType::I8: return "char";
    case DType::I16: return "short";
    case DType::I32: return "int";
    case DType::I64: return "long";
    case DType::U8: return "uchar";
    case DType::U16: return "ushort";
    case DType::U32: return "uint";
    case DType::U64: return "ulong";
    case DType::F32: return "float";
    case DType::F64: return "double";
    default: return {};
  }
}

/// Functions of OpenCL C are overloaded: they have no suffix.
constinit const CDialect kOpenClC{"opencl-c", kOps, typeName, "", &kC11};

constinit const GridDialect kOpenCl{
    .ops = kOpenClC,
    .head = "__kernel __attribute__((reqd_work_group_size($x, $y, $z))) void",
    .restricted = "restrict",
    .shared = "__local uchar svod_shared[$n] __attribute__((aligned(64)));",
    .rounds = "",
    .inDevice = "__global ",
    .inShared = "__local ",
    .hasOffsets = true,
    .hasWarps = false,
};

}  // namespace

Result<GridText> printOpenCl(const LinearKernel& kernel, size_t arguments, int64_t threads) {
  return printGrid(kOpenCl, kernel, arguments, threads);
}

}  // namespace svod::opencl
