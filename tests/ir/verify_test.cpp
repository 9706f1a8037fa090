// Every rule of the specification has a graph that breaks it and nothing else; legal graphs of every stage pass.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "common/uop_text.h"
#include "ir/verify_access.h"

using namespace svod;

namespace {

struct Row {
  const char* rule;
  Stage stage;
  const char* text;
};

constexpr Stage T = Stage::Tensor, K = Stage::Kernel, L = Stage::Lowered, P = Stage::Linear;

constexpr Row kBroken[] = {
    {"stage", T, "%0 = param 4 {0} : i32[4]\n%1 = sink %0"},
    {"root", T, "%0 = buffer 4 {0} : f32[4]"},
    {"elementwise-dtype", T,
     "%0 = buffer 4 {0} : f32[4]\n%1 = add %0, 1:i32 : f32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"elementwise-dtype", T, "%0 = buffer 4 {0} : f32[4]\n%1 = lt %0, %0 : f32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"family", T, "%0 = buffer 4 {0} : i32[4]\n%1 = sqrt %0 : i32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"family", T, "%0 = buffer 4 {0} : f32[4]\n%1 = cmod %0, %0 : f32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"family", T, "%0 = buffer 4 {0} : u32[4]\n%1 = threefry %0, %0 : u32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"computed", T, "%0 = buffer 4 {0} : f8e8m0[4]\n%1 = add %0, %0 : f8e8m0[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"bitcast", T, "%0 = buffer 4 {0} : f32[4]\n%1 = bitcast 1:i64 : f32\n%2 = store %0, %1\n%3 = sink %2"},
    {"condition", T, "%0 = buffer 4 {0} : i32[4]\n%1 = where %0, %0, %0 : i32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"pass-through", T, "%0 = buffer 4 {0} : i32[4]\n%1 = flip %0 {0} : u32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"void", T, "%0 = buffer 4 {0} : i32[4]\n%1 = store %0, 1:i32 : i32\n%2 = sink %1"},
    {"value", T, "%0 = buffer 4 {0}\n%1 = store %0, 1:i32\n%2 = sink %1"},
    {"iota-dtype", T, "%0 = buffer 4 {0} : f32[4]\n%1 = iota 4 : f32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"reduce-op", T,
     "%0 = buffer {0} : i32\n%1 = iota 4 : i32[4]\n%2 = reduce %1 {sub, 0} : i32\n%3 = store %0, %2\n"
     "%4 = sink %3"},
    {"elementwise-shape", T,
     "%0 = buffer 4 {0} : i32[4]\n%1 = iota 3 : i32[3]\n%2 = add %0, %1 : i32[4]\n"
     "%3 = store %0, %2\n%4 = sink %3"},
    {"reshape", T,
     "%0 = buffer 5 {0} : i32[5]\n%1 = iota 4 : i32[4]\n%2 = reshape %1, 5 : i32[5]\n%3 = store %0, %2\n"
     "%4 = sink %3"},
    {"expand", T,
     "%0 = buffer 4 {0} : i32[4]\n%1 = iota 2 : i32[2]\n%2 = expand %1, 4 : i32[4]\n%3 = store %0, %2\n"
     "%4 = sink %3"},
    {"pad", T,
     "%0 = buffer 4 {0} : i32[4]\n%1 = iota 2 : i32[2]\n%2 = pad %1, 0:i64, 1, 1 : i32[4]\n%3 = store %0, %2\n"
     "%4 = sink %3"},
    {"pad", T,
     "%0 = buffer 4 {0} : i32[4]\n%1 = iota 2 : i32[2]\n%2 = pad %1, 0:i32, -1, 3 : i32[4]\n%3 = store %0, %2\n"
     "%4 = sink %3"},
    {"shrink", T,
     "%0 = buffer 4 {0} : i32[4]\n%1 = iota 5 : i32[5]\n%2 = shrink %1, 2, -1 : i32[-1]\n%3 = store %0, %2\n"
     "%4 = sink %3"},
    {"indices", T, "%0 = buffer 4 {0} : i32[4]\n%1 = gather %0, %0, %0 : i32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"indices", T, "%0 = buffer 4 {0} : f32[4]\n%1 = gather %0, %0 : f32[4]\n%2 = store %0, %1\n%3 = sink %2"},
    {"stack", T, "%0 = buffer 2 {0} : i32[2]\n%1 = stack 1:i32, 2:i64 : i32[2]\n%2 = store %0, %1\n%3 = sink %2"},
    {"tensor-buffer", T, "%0 = buffer 4 {0, local} : i32[4]\n%1 = store %0, 1:i32\n%2 = sink %1"},
    {"tensor-store", T, "%0 = buffer 4 {0} : i32[4]\n%1 = neg %0 : i32[4]\n%2 = store %1, 1:i32\n%3 = sink %2"},
    {"tensor-store", T, "%0 = buffer 4 {0} : i32[4]\n%1 = iota 3 : i32[3]\n%2 = store %0, %1\n%3 = sink %2"},
    {"tensor-reduce", T, "%0 = buffer 4 {0} : i32[4]\n%1 = reduce %0 {add} : i32\n%2 = store %0, %1\n%3 = sink %2"},
    {"tensor-sink", T, "%0 = buffer 4 {0} : i32[4]\n%1 = sink %0"},
    {"tensor-end", T,
     "%0 = buffer {0} : i32\n%1 = range 4 {0, loop} : index\n%2 = store %0, 1:i32\n%3 = group %2\n"
     "%4 = end %3, %1\n%5 = sink %4"},
    {"tensor-range", T,
     "%0 = buffer {0} : i32\n%1 = range 4 {0, reduce} : index\n%2 = after %0, %1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = group %3\n"
     "%5 = end %4, %1\n%6 = sink %5"},
    {"tensor-range", T,
     "%0 = buffer {0} : i32\n%1 = range 4, %0 {0, loop} : index\n%2 = after %0, %1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = group %3\n"
     "%5 = end %4, %1\n%6 = sink %5"},
    {"kernel-range", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4, true {0, loop} : index\n%2 = index %0, %1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = end %3, %1\n"
     "%5 = sink %4"},
    {"vector", K,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = neg %0 : i32[4]\n%3 = store %1, %2\n"
     "%4 = sink %3"},
    {"vector", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4 {0, loop} : index\n%2 = buffer 4 {0, reg} : i32[4]\n"
     "%3 = index %2, %1 : i32\n"
     "%4 = store %3, 1:i32\n%5 = fill %4, %1 {store} : i32[4]\n%6 = index %0, 0 : i32\n%7 = store %6, %5\n"
     "%8 = sink %7"},
    {"kernel-buffer", K, "%0 = buffer 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = store %1, 1:i32\n%3 = sink %2"},
    {"const-size", K,
     "%0 = var {\"n\", 1, 4} : index\n%1 = buffer %0 {0, local} : i32[n]\n%2 = index %1, 0 : i32\n"
     "%3 = store %2, 1:i32\n%4 = sink %3"},
    {"code-size", P,
     "%0 = var {\"n\", 1, 4} : i64\n%1 = param %0 {0} : i32[n]\n%2 = index %1, 0:i64 : i32\n"
     "%3 = store %2, 1:i32\n%4 = sink %3"},
    {"bounds", K,
     "%0 = var {\"n\", 1, 4} : index\n%1 = param %0 {0} : i32[n]\n%2 = index %1, 1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = sink %3"},
    {"fill", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4 {0, loop} : index\n%2 = index %0, %1 : i32\n%3 = store %2, 1:i32\n"
     "%4 = fill %3, %1 {store} : i32[4]\n%5 = index %4, 0 : i32\n%6 = load %5 : i32\n%7 = index %0, 0 : i32\n"
     "%8 = store %7, %6\n%9 = sink %8"},
    {"index", K, "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0.0:f32 : i32\n%2 = store %1, 1:i32\n%3 = sink %2"},
    {"prefetch", K,
     "%0 = param 4 {0} : i32[4]\n%1 = prefetch %0 {0} : i32[4]\n%2 = index %1, 1 : i32\n%3 = load %2 : i32\n"
     "%4 = index %0, 0 : i32\n%5 = store %4, %3\n%6 = sink %5"},
    {"index-per-dim", K,
     "%0 = buffer 4, 4 {0, local} : i32[4,4]\n%1 = index %0, 0 : i32\n%2 = store %1, 1:i32\n"
     "%3 = sink %2"},
    {"flat-index", L,
     "%0 = buffer 4, 4 {0, local} : i32[4,4]\n%1 = index %0, 0, 0 : i32\n%2 = store %1, 1:i32\n"
     "%3 = sink %2"},
    {"load", K,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = load %1, 1:i64, true : i32\n%3 = store %1, %2\n"
     "%4 = sink %3"},
    {"load", K,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = load %1, 1:i32, 1 : i32\n%3 = store %1, %2\n"
     "%4 = sink %3"},
    {"load", K,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = load %1, 1:i32 : i32\n%3 = store %1, %2\n"
     "%4 = sink %3"},
    {"store", K, "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = store %1, 1:i64\n%3 = sink %2"},
    {"store", L,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = stack 1:i32, 2:i32 : i32[2]\n%3 = store %1, %2\n"
     "%4 = sink %3"},
    {"kernel-sink", K, "%0 = sink 4"},
    {"closed-ranges", K,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = store %1, 1:i32\n%3 = end %2, 4\n"
     "%4 = sink %3"},
    {"kernel-reduce", L,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = stack 1:i32, 2:i32, 3:i32 : i32[3]\n"
     "%3 = reduce %2 {add} : i32\n%4 = store %1, %3\n%5 = sink %4"},
    {"dot", L,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = stack 1:i8, 2:i8, 3:i8 : i8[3]\n"
     "%3 = dot %2, %2, 1:i32 {4} : i32\n"
     "%4 = store %1, %3\n%5 = sink %4"},
    {"dot", L,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = stack 1:i32, 2:i32 : i32[2]\n"
     "%3 = dot %2, %2, 1:i32 {2} : i32\n"
     "%4 = store %1, %3\n%5 = sink %4"},
    {"dot", L,
     "%0 = param 4 {0} : i64[4]\n%1 = index %0, 0 : i64\n%2 = stack 1:i8, 2:i8 : i8[2]\n"
     "%3 = dot %2, %2, 1:i64 {2} : i64\n"
     "%4 = store %1, %3\n%5 = sink %4"},
    {"wmma", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = stack 1.0:f32, 2.0:f32 : f32[2]\n"
     "%3 = wmma %2, %2, %2 {\"m8n8k9-f32-f32\"} : f32[2]\n"
     "%4 = lane %3 {0} : f32\n%5 = store %1, %4\n%6 = sink %5"},
    {"wmma", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = stack 1.0:f32, 2.0:f32 : f32[2]\n"
     "%3 = wmma %2, %2, %2 {\"m8n8k8-f16-f32\"} : f32[2]\n"
     "%4 = lane %3 {0} : f32\n%5 = store %1, %4\n%6 = sink %5"},
    {"wmma", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = stack 1.0:f32, 2.0:f32 : f32[2]\n"
     "%3 = wmma %2, %2, 1.0:f32 {\"m8n8k8-f32-f32\"} : f32\n"
     "%4 = store %1, %3\n%5 = sink %4"},
    {"dot", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = stack 1:bf16, 2:bf16 : bf16[2]\n"
     "%3 = stack 1:f32, 2:f32 : f32[2]\n%4 = dot %2, %3, 1:f32 {2} : f32\n"
     "%5 = store %1, %4\n%6 = sink %5"},
    {"dot", L,
     "%0 = param 4 {0} : i32[4]\n%1 = index %0, 0 : i32\n%2 = stack 1:bf16, 2:bf16 : bf16[2]\n"
     "%3 = dot %2, %2, 1:i32 {2} : i32\n"
     "%4 = store %1, %3\n%5 = sink %4"},
    {"tile-dot", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = stack 1:bf16, 2:bf16 : bf16[2]\n"
     "%3 = stack 1:f32, 2:f32 : f32[2]\n%4 = tiledot %2, %2, %3 {\"amx-bf16-f32\"} : f32[2]\n"
     "%5 = lane %4 {0} : f32\n%6 = store %1, %5\n%7 = sink %6"},
    {"gpu", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = gpu 1.0:f32, 1 {\"shuffle_yor\"} : f32\n"
     "%3 = store %1, %2\n%4 = sink %3"},
    {"gpu", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = gpu 1.0:f32 {\"shuffle_xor\"} : f32\n"
     "%3 = store %1, %2\n%4 = sink %3"},
    {"gpu", L, "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = gpu %1, %1 {\"cp_async4\"}\n%3 = sink %2"},
    {"gpu", L,
     "%0 = param 4 {0} : f32[4]\n%1 = buffer 4 {0, local} : f16[4]\n%2 = index %0, 0 : f32\n%3 = index %1, 0 : f16\n"
     "%4 = gpu %3, %2 {\"cp_async4\"}\n%5 = sink %4"},
    {"gpu", L,
     "%0 = param 4 {0} : u32[4]\n%1 = buffer 64 {0, local} : f32[64]\n%2 = index %1, 0 : f32\n"
     "%3 = gpu %2 {\"ldmatrix_x2\"} : u32[2]\n%4 = lane %3 {0} : u32\n%5 = index %0, 0 : u32\n%6 = store %5, %4\n"
     "%7 = sink %6"},
    {"gpu", L,
     "%0 = param 4 {0} : f32[4]\n%1 = index %0, 0 : f32\n%2 = load %1 : f32\n%3 = gpu %2 {\"cp_commit\"}\n"
     "%4 = sink %3"},
    {"gpu", L,
     "%0 = param 32 {0} : f32[32]\n%1 = buffer 4096 {0, local} : f16[4096]\n%2 = buffer 32 {0, reg} : f32[32]\n"
     "%3 = index %2, 0 : f32\n%4 = index %1, 0 : f16\n"
     "%5 = gpu %3, %4, %4, 0, 0 {\"m64n64k16-bf16-f32\"}\n%6 = sink %5"},
    {"gpu", L,
     "%0 = param 32 {0} : f32[32]\n%1 = buffer 4096 {0, local} : f16[4096]\n%2 = buffer 64 {0, reg} : f32[64]\n"
     "%3 = index %2, 0 : f32\n%4 = index %1, 0 : f16\n"
     "%5 = gpu %3, %4, %4, 0, 0 {\"m64n64k16-f16-f32\"}\n%6 = sink %5"},
    {"gpu", L,
     "%0 = param 32 {0} : f32[32]\n%1 = buffer 4096 {0, local} : f16[4096]\n%2 = buffer 32 {0, reg} : f32[32]\n"
     "%3 = index %2, 0 : f32\n%4 = index %1, 0 : f16\n"
     "%5 = gpu %3, %4, %4, 0, 64 {\"m64n64k16-f16-f32\"}\n%6 = sink %5"},
    {"gpu", L,
     "%0 = param 32 {0} : f32[32]\n%1 = buffer 4096 {0, local, swizzle 64} : f16[4096]\n%2 = buffer 32 {0, reg} : "
     "f32[32]\n"
     "%3 = index %2, 0 : f32\n%4 = index %1, 0 : f16\n"
     "%5 = gpu %3, %4, %4, 0, 0 {\"m64n64k16-f16-f32\"}\n%6 = sink %5"},
    {"bounds", L,
     "%0 = param 32 {0} : f32[32]\n%1 = buffer 2048 {0, local} : f16[2048]\n%2 = buffer 32 {0, reg} : f32[32]\n"
     "%3 = index %2, 0 : f32\n%4 = index %1, 0 : f16\n"
     "%5 = gpu %3, %4, %4, 0, 0 {\"m64n64k16-f16-f32\"}\n%6 = sink %5"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 30 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 16, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 32 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 8 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %4 {\"bulk_load\"}\n%11 = sink %10"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, 0, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 2 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"gpu", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 256 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"bounds", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 64 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"bounds", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 288 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"sums-in-flight", L,
     "%0 = param 32 {0} : f32[32]\n%1 = buffer 4096 {0, local} : f16[4096]\n%2 = buffer 32 {0, reg} : f32[32]\n"
     "%3 = index %2, 0 : f32\n%4 = index %1, 0 : f16\n"
     "%5 = gpu %3, %4, %4, 0, 0 {\"m64n64k16-f16-f32\"}\n%6 = after %2, %5 : f32[32]\n%7 = index %6, 0 : f32\n"
     "%8 = load %7 : f32\n%9 = index %0, 0 : f32\n%10 = store %9, %8\n%11 = sink %10"},
    {"sync-in-loop", L,
     "%0 = param 4 {0} : f32[4]\n%1 = range 4 {0, loop} : index\n%2 = index %0, %1 : f32\n%3 = store %2, 1.0:f32\n"
     "%4 = gpu {\"cp_commit\"}\n%5 = group %3, %4\n%6 = end %5, %1\n%7 = sink %6"},
    {"sync-in-loop", L,
     "%0 = param 4 {0} : f32[4]\n%1 = range 4 {0, loop} : index\n%2 = index %0, %1 : f32\n%3 = store %2, 1.0:f32\n"
     "%4 = barrier\n%5 = group %3, %4\n%6 = end %5, %1\n%7 = sink %6"},
    {"uniform-loops", L,
     "%0 = special 4 {\"lidx0\", 0, 3} : index\n%1 = param 4 {0} : f32[4]\n%2 = range %0 {0, loop} : index\n"
     "%3 = index %1, %2 : f32\n%4 = store %3, 1.0:f32\n%5 = barrier %4\n%6 = group %4, %5\n%7 = end %6, %2\n"
     "%8 = sink %7"},
    {"lone-fill", L,
     "%0 = special 64 {\"lidx0\", 0, 63} : index\n%1 = buffer 16 {0, local} : f32[16]\n%2 = range 16 {0, loop} : "
     "index\n"
     "%3 = index %1, %2 : f32\n%4 = eq %0, 0 : bool\n%5 = store %3, 1.0:f32, %4\n%6 = end %5, %2\n%7 = sink %6"},
    {"bounds", L,
     "%0 = param 4 {0} : f32[4]\n%1 = buffer 4 {0, local} : f32[4]\n%2 = index %0, 0 : f32\n%3 = index %1, 1 : f32\n"
     "%4 = gpu %3, %2 {\"cp_async16\"}\n%5 = sink %4"},
    {"lane-fold", P,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4:i64 {0, loop} : i64\n%2 = index %0, %1 : i32\n"
     "%3 = load %2 : i32\n%4 = reduce %3, %1 {add} : i32\n"
     "%5 = index %0, 0:i64 : i32\n%6 = store %5, %4\n%7 = sink %6"},
    {"no-index-dtype", P,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4 {0, loop} : index\n%2 = index %0, %1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = end %3, %1\n%5 = sink %4"},
    {"no-bool-storage", P,
     "%0 = param 4 {0} : bool[4]\n%1 = index %0, 0:i64 : bool\n%2 = store %1, true\n%3 = sink %2"},
    {"open-range", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4 {0, loop} : index\n%2 = index %0, %1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = sink %3"},
    {"bounds", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 5 {0, loop} : index\n%2 = index %0, %1 : i32\n"
     "%3 = store %2, 1:i32\n%4 = end %3, %1\n%5 = sink %4"},
    {"bounds", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 6 {0, loop} : index\n%2 = index %0, %1 : i32\n"
     "%3 = lt %1, 5 : bool\n%4 = load %2, 0:i32, %3 : i32\n"
     "%5 = lt %1, 4 : bool\n%6 = store %2, %4, %5\n%7 = end %6, %1\n%8 = sink %7"},
};

constexpr Row kLegal[] = {
    {"symbolic shapes", T,
     "%0 = var {\"n\", 1, 8} : index\n%1 = buffer %0, 4 {0} : f32[n,4]\n%2 = mul %0, 4 : index\n"
     "%3 = reshape %1, %2 : f32[n*4]\n"
     "%4 = add %3, %3 : f32[n*4]\n%5 = reshape %4, %0, 4 : f32[n,4]\n%6 = store %1, %5\n%7 = sink %6"},
    {"equal dims written differently", T,
     "%0 = var {\"n\", 1, 8} : index\n%1 = add %0, %0 : index\n%2 = mul %0, 2 : index\n%3 = iota %1 : i32[n + n]\n"
     "%4 = iota %2 : i32[n*2]\n"
     "%5 = add %3, %4 : i32[n + n]\n%6 = buffer %1 {0} : i32[n + n]\n%7 = store %6, %5\n%8 = sink %7"},
    {"store to a view", T,
     "%0 = buffer 4 {0} : i32[4]\n%1 = shrink %0, 1, 2 : i32[2]\n%2 = store %1, 7:i32\n%3 = sink %2"},
    {"loop", T,
     "%0 = buffer {0} : i32\n%1 = range 4 {0, loop} : index\n%2 = after %0, %1 : i32\n%3 = store %2, 1:i32\n"
     "%4 = group %3\n%5 = end %4, %1\n"
     "%6 = after %0, %5 : i32\n%7 = buffer {1} : i32\n%8 = store %7, %6\n%9 = sink %5, %8"},
    {"gated access", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 6 {0, loop} : index\n%2 = index %0, %1 : i32\n"
     "%3 = lt %1, 4 : bool\n%4 = load %2, 0:i32, %3 : i32\n"
     "%5 = store %2, %4, %3\n%6 = end %5, %1\n%7 = sink %6"},
    {"inside by correlation", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4 {0, loop} : index\n%2 = sub %1, %1 : index\n"
     "%3 = index %0, %2 : i32\n%4 = store %3, 1:i32\n"
     "%5 = end %4, %1\n%6 = sink %5"},
    {"triangular loop", K,
     "%0 = param 4 {0} : i32[4]\n%1 = range 4 {0, loop} : index\n%2 = range %1 {1, loop} : index\n"
     "%3 = add %2, 1 : index\n%4 = index %0, %3 : i32\n"
     "%5 = store %4, 1:i32\n%6 = end %5, %1, %2\n%7 = sink %6"},
    {"vectors", L,
     "%0 = param 8 {0} : f32[8]\n%1 = ramp 4 {4} : index[4]\n%2 = index %0, %1 : f32[4]\n"
     "%3 = load %2 : f32[4]\n%4 = add %3, 1.0:f32 : f32[4]\n"
     "%5 = reduce %4 {max} : f32\n%6 = add %4, %5 : f32[4]\n%7 = store %2, %6\n%8 = sink %7"},
    {"copies under way", L,
     "%0 = param 4 {0} : f32[4]\n%1 = buffer 4 {0, local} : f32[4]\n%2 = index %0, 0 : f32\n%3 = index %1, 0 : f32\n"
     "%4 = gpu %3, %2, false {\"cp_async16\"}\n%5 = gpu %4 {\"cp_commit\"}\n%6 = gpu 0, %5 {\"cp_wait\"}\n"
     "%7 = barrier %6\n%8 = after %1, %7 : f32[4]\n%9 = index %8, 3 : f32\n%10 = load %9 : f32\n"
     "%11 = gpu %10, 4 {\"shuffle_xor\"} : f32\n%12 = store %2, %11\n%13 = sink %12"},
    {"bulk copies", L,
     "%0 = param 1024 {0} : f32[1024]\n%1 = buffer 512 {0, local} : f32[512]\n%2 = buffer 1 {1, local} : u64[1]\n"
     "%3 = index %0, 0 : f32\n%4 = index %1, 0 : f32\n%5 = index %2, 0 : u64\n%6 = stack 30, 32 : index[2]\n"
     "%7 = stack 1, 32 : index[2]\n%8 = stack 32, 8 : index[2]\n%9 = gpu %3, %6, %7, %8, 128 {\"tensor_map\"}\n"
     "%10 = gpu %4, %9, %6, %5 {\"bulk_load\"}\n%11 = sink %10"},
    {"linear", P,
     "%0 = param 8 {0} : u8[8]\n%1 = range 8:i32 {0, loop} : i32\n%2 = index %0, %1 : u8\n%3 = store %2, 1:u8\n"
     "%4 = end %3, %1\n%5 = sink %4"},
};

}  // namespace

TEST_CASE("each rule rejects a graph that breaks it") {
  for (const Row& row : kBroken) {
    INFO(row.rule << "\n" << row.text);
    Graph graph;
    Status status = verify(parse(graph, row.text), row.stage);
    REQUIRE_FALSE(status.has_value());
    CAPTURE(toText(status.error()));
    CHECK(status.error()->diag == Diag::Verify);
    CHECK(status.error()->message.find("rule " + std::string(row.rule) + ":") != std::string::npos);
    CHECK_FALSE(status.error()->notes.empty());
  }
}

TEST_CASE("every rule is exercised and has a unique name") {
  std::set<std::string_view> covered, names;
  for (const Row& row : kBroken) covered.insert(row.rule);
  for (std::span<const SpecRule> table : {structuralRules(), valueRules(), storageRules(), gpuRules()})
    for (const SpecRule& rule : table) {
      INFO(rule.name);
      CHECK(names.insert(rule.name).second);
      CHECK_FALSE(rule.what.empty());
    }
  for (std::span<const SpecRule> table : {valueRules(), storageRules(), gpuRules()})
    for (const SpecRule& rule : table) {
      INFO(rule.name);
      CHECK(covered.contains(rule.name));
    }
}

TEST_CASE("who fills memory of a workgroup alone is told which, and nobody else is") {
  const auto faultOf = [](const char* threads, const char* gate) {
    Graph graph;
    const std::string text = "%0 = special " + std::string(threads) + " {\"lidx0\", 0, " +
                             std::to_string(std::stoi(threads) - 1) +
                             "} : index\n%1 = buffer 16 {7, local} : f32[16]\n%2 = range 16 {0, loop} : index\n"
                             "%3 = index %1, %2 : f32\n%4 = eq " +
                             gate +
                             ", 0 : bool\n%5 = store %3, 1.0:f32, %4\n"
                             "%6 = end %5, %2\n%7 = sink %6";
    const Status status = checkFills(parse(graph, text));
    return status ? std::string() : status.error()->message;
  };
  CHECK(faultOf("128", "%0").find("one of 128 threads fills local7 alone") != std::string::npos);
  CHECK(faultOf("32", "%0") == "");
  CHECK(faultOf("128", "%2") == "");
}

TEST_CASE("legal graphs of every stage pass") {
  for (const Row& row : kLegal) {
    INFO(row.rule << "\n" << row.text);
    Graph graph;
    Status status = verify(parse(graph, row.text), row.stage);
    if (!status) FAIL_CHECK(toText(status.error()));
  }
}

TEST_CASE("structural rules catch what cannot become a node") {
  Graph g;
  UOp b = g.buffer(DType::F32, std::vector<UOp>{g.index(2), g.index(3)}, {0});
  UOp one = g.index(1), f = g.constant(Scalar::ofFloat(DType::F32, 0));
  UOp vector = g.make(Op::Stack, DType::Index, {one, one});
  std::vector<int32_t> twice{0, 0}, outside{2}, single{0};
  struct Bad {
    Op op;
    DType dtype;
    std::vector<UOp> src;
    Arg arg;
    const char* rule;
  };
  const Bad kBad[] = {
      {Op::Add, DType::F32, {b}, {}, "arity"},
      {Op::Neg, DType::F32, {b, b}, {}, "arity"},
      {Op::Neg, DType::F32, {b}, SlotArg{}, "arg-kind"},
      {Op::Range, DType::Index, {one}, SlotArg{}, "arg-kind"},
      {Op::Flip, DType::F32, {b}, AxesArg{twice}, "axes"},
      {Op::Reduce, DType::F32, {b}, ReduceArg{Op::Add, outside}, "axes"},
      {Op::Reduce, DType::F32, {b, one}, ReduceArg{Op::Add, single}, "axes"},
      {Op::Permute, DType::F32, {b}, AxesArg{single}, "axes"},
      {Op::Pad, DType::F32, {b, f, one}, {}, "dim-count"},
      {Op::Shrink, DType::F32, {b, one, one}, {}, "dim-count"},
      {Op::Custom, DType::F32, {b}, CustomArg{"f", 2}, "dim-count"},
      {Op::Custom, DType::F32, {b}, CustomArg{"f", -1}, "dim-count"},
      {Op::Reshape, DType::F32, {b, f}, {}, "dims"},
      {Op::Iota, DType::I32, {vector}, {}, "dims"},
      {Op::Ramp, DType::Index, {one}, SlotArg{0}, "lanes"},
      {Op::Rows, DType::Index, {one, one, one}, SlotArg{0}, "lanes"},
      {Op::Lane, DType::Index, {vector}, SlotArg{2}, "lanes"},
      {Op::Var, DType::Index, {}, VarArg{"n", 3, 2}, "var-bounds"},
      {Op::Var, DType::Index, {}, VarArg{"n", 1, 8, 9}, "var-bounds"},
      {Op::Const, DType::F32, {}, Scalar::ofInt(DType::I32, 1), "leaf-dtype"},
      {Op::Range, DType::F32, {one}, AxisArg{}, "leaf-dtype"},
  };
  std::set<std::string_view> covered;
  for (const Bad& bad : kBad) {
    INFO(toText(bad.op) << " " << bad.rule);
    NodeView view{bad.op, bad.dtype, bad.src, bad.arg};
    CHECK_FALSE(checkStructure(view).empty());
    for (const SpecRule& rule : structuralRules())
      if (rule.name == bad.rule) {
        CHECK(rule.covers(bad.op));
        CHECK_FALSE(rule.check(view).empty());
      }
    covered.insert(bad.rule);
  }
  CHECK(covered.size() == structuralRules().size());
}

// Too many iterations to try them all: the ends of every counter and variable are enough for these.
