// Small kernels the tests of opts and choices work on, and running them.
#pragma once
#include <string_view>
#include <vector>

#include "interp/interp.h"
#include "ir/graph.h"

namespace svod {

/// Extents of a test kernel; each builder uses what it needs.
struct Sizes {
  int64_t m = 4, n = 6, k = 5;
};

struct TestKernel {
  std::string_view name;
  UOp (*build)(Graph& graph, const Sizes& sizes);
};

/// Parameter 0 is the output; ranges are numbered in nest order.
std::span<const TestKernel> testKernels();

UOp buildMatmul(Graph& graph, const Sizes& sizes);        // out[m,n] = sum over k of a[m,k] * b[k,n]
UOp buildMatmulAcross(Graph& graph, const Sizes& sizes);  // the same with a[k,m]
UOp buildMatmulBias(Graph& graph, const Sizes& sizes);    // the first, plus an element for each column
UOp buildPointwise(Graph& graph, const Sizes& sizes);     // 8 images of k channels and n elements, m filters of one tap
UOp buildGroups(Graph& graph,
                const Sizes& sizes);  // 2 groups of m rows, each of them times a matrix [k,n] of the group
/// Factors of a product of bytes, summed in i32, each less a zero point per row or column where asked for.
struct Bytes {
  DType a = DType::U8, b = DType::I8;
  bool rowZeros = false, columnZeros = false;
};
UOp buildByteMatmul(Graph& graph, const Sizes& sizes, const Bytes& bytes);
/// out[m,n] = sum over k blocks of scale[n,k] times the sum of 16 products of bytes: those of b [n,k,8] are the lower
/// and then the upper halves of bytes in memory, in the order in which a [m,k,2,8] lies.
UOp buildByteBlocks(Graph& graph, const Sizes& sizes);
/// out[m,n] = sum over k of f32(a[m,k]) * f32(b) of bf16, b as [k,n] or by rows as [n,k].
UOp buildBf16Matmul(Graph& graph, const Sizes& sizes, bool byRows);
template <bool byRows>
UOp buildBf16(Graph& graph, const Sizes& sizes) {
  return buildBf16Matmul(graph, sizes, byRows);
}
UOp buildMatvec(Graph& graph, const Sizes& sizes);     // out[n] = sum over k of a[k] * b[k,n]
UOp buildSoftmax(Graph& graph, const Sizes& sizes);    // rows m, columns n
UOp buildAttention(Graph& graph, const Sizes& sizes);  // queries m, n + 3 keys of k, magnitudes of n values
UOp buildAdd(Graph& graph, const Sizes& sizes);        // out[m,n] = a[m,n] + b[m,n]
UOp buildTranspose(Graph& graph, const Sizes& sizes);
UOp buildRowSum(Graph& graph, const Sizes& sizes);     // out[m] = sum over n
UOp buildColumnSum(Graph& graph, const Sizes& sizes);  // out[n] = sum over m
UOp buildFullMax(Graph& graph, const Sizes& sizes);
UOp buildConv1d(Graph& graph, const Sizes& sizes);            // m channels, n positions, k taps, zero padding
UOp buildConv2d(Graph& graph, const Sizes& sizes);            // m filters of 3 x 3, 2 channels of k x n, zero padding
UOp buildDeepConv2d(Graph& graph, const Sizes& sizes);        // the same of 16 channels
UOp buildDilatedConv2d(Graph& graph, const Sizes& sizes);     // as buildConv2d, taps 3 elements apart
UOp buildColumnConv2d(Graph& graph, const Sizes& sizes);      // taps of 3 x 1: lines of results are longer
UOp buildConv2dStep2(Graph& graph, const Sizes& sizes);       // k x n results; windows move by 2, zero padding
UOp buildConv2dStep2Valid(Graph& graph, const Sizes& sizes);  // the same without padding
UOp buildByteConv2d(Graph& graph, const Sizes& sizes);        // 8 channels of u8 times i8, padded by 7
UOp buildDeepByteConv2d(Graph& graph, const Sizes& sizes);    // the same of 64 channels
UOp buildByteConv2dStep2(Graph& graph, const Sizes& sizes);   // windows move by 2 over 6 channels of i8 read as u8

UOp buildSerial(Graph& graph, const Sizes& sizes);  // running sums along n

using Buffers = std::vector<HostTensor>;  // by parameter slot

/// Every parameter filled with small numbers that depend on slot and position only.
Buffers makeBuffers(UOp sink);
/// Every variable of the kernel at 3, or at its maximum if that is less.
VariableValues valuesOf(UOp sink);
/// The buffers after running a kernel of any stage on makeBuffers() with valuesOf(). A
/// failure of the interpreter, such as an access outside of a buffer, ends the test case.
Buffers resultOf(UOp sink);
/// Equal elements; floats may differ by `relative` of the expected value.
bool sameBuffers(const Buffers& expected, const Buffers& got, double relative);

}  // namespace svod
