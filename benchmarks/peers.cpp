// What Python cannot call directly: oneDNN primitives in the layouts they choose themselves. Built by peers.py. Every
// maker returns a handle for peer_run and peer_free, or null.
#include <cstddef>
#include <dnnl.hpp>
#include <exception>
#include <memory>
#include <unordered_map>

using namespace dnnl;

namespace {

struct Job {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  primitive work;
  std::unordered_map<int, memory> arguments;
  memory result;  // where `work` writes, in its own layout
};

memory::desc plain(const memory::dims& dims, memory::data_type type = memory::data_type::f32) {
  memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  return {dims, type, strides};
}

memory::desc chosen(const memory::dims& dims, memory::data_type type = memory::data_type::f32) {
  return {dims, type, memory::format_tag::any};
}

// `data` in the layout the primitive wants; a copy unless it is the same already.
memory placed(Job& job, const memory::desc& from, const memory::desc& to, void* data) {
  memory given(from, job.cpu, data);
  if (from == to) return given;
  memory moved(to, job.cpu);
  reorder(given, moved).execute(job.queue, given, moved);
  job.queue.wait();
  return moved;
}

template <class Make>
Job* guarded(Make make) {
  try {
    auto job = std::make_unique<Job>();
    make(*job);
    return job.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Of both factors of a product: 4 f32, 2 bf16, 1 i8, 0 u8 and i8.
memory::data_type typeOf(long kind, bool isLeft) {
  if (kind == 0 && isLeft) return memory::data_type::u8;
  return kind == 4 ? memory::data_type::f32 : kind == 2 ? memory::data_type::bf16 : memory::data_type::s8;
}

}  // namespace

extern "C" {

// c[m,n] = a[m,k] b[k,n]; b may be kept in the layout of the primitive (a constant weight). Sums of bytes are i32.
void* peer_matmul(long m, long n, long k, long kind, long packed, void* a, void* b, void* c) {
  return guarded([&](Job& job) {
    memory::desc ad = plain({m, k}, typeOf(kind, true)), bd = plain({k, n}, typeOf(kind, false));
    memory::desc cd = plain({m, n}, kind < 2 ? memory::data_type::s32 : memory::data_type::f32);
    matmul::desc desc(ad, packed ? chosen({k, n}, typeOf(kind, false)) : bd, cd);
    matmul::primitive_desc pd(desc, job.cpu);
    job.work = matmul(pd);
    job.result = memory(cd, job.cpu, c);
    job.arguments = {{DNNL_ARG_SRC, memory(ad, job.cpu, a)},
                     {DNNL_ARG_WEIGHTS, placed(job, bd, pd.weights_desc(), b)},
                     {DNNL_ARG_DST, job.result}};
  });
}

// NCHW sizes; groups == channels is a depthwise convolution.
void* peer_conv(long channels, long filters, long size, long kernel, long stride, long pad, long groups, void* x,
                void* w) {
  return guarded([&](Job& job) {
    long out = (size + 2 * pad - kernel) / stride + 1;
    memory::dims xs{1, channels, size, size}, ys{1, filters, out, out}, ws{filters, channels, kernel, kernel};
    if (groups > 1) ws = {groups, filters / groups, channels / groups, kernel, kernel};
    convolution_forward::desc desc(prop_kind::forward_inference, algorithm::convolution_direct, chosen(xs), chosen(ws),
                                   chosen(ys), {stride, stride}, {pad, pad}, {pad, pad});
    convolution_forward::primitive_desc pd(desc, job.cpu);
    job.work = convolution_forward(pd);
    job.result = memory(pd.dst_desc(), job.cpu);
    job.arguments = {{DNNL_ARG_SRC, placed(job, plain(xs), pd.src_desc(), x)},
                     {DNNL_ARG_WEIGHTS, placed(job, plain(ws), pd.weights_desc(), w)},
                     {DNNL_ARG_DST, job.result}};
  });
}

void* peer_softmax(long rows, long columns, void* x, void* y) {
  return guarded([&](Job& job) {
    memory::desc d = plain({rows, columns});
    softmax_forward::primitive_desc pd({prop_kind::forward_inference, d, 1}, job.cpu);
    job.work = softmax_forward(pd);
    job.result = memory(d, job.cpu, y);
    job.arguments = {{DNNL_ARG_SRC, memory(d, job.cpu, x)}, {DNNL_ARG_DST, job.result}};
  });
}

void* peer_layernorm(long rows, long columns, void* x, void* y) {
  return guarded([&](Job& job) {
    memory::desc d = plain({rows, columns});
    layer_normalization_forward::primitive_desc pd({prop_kind::forward_inference, d, 1e-5F, normalization_flags::none},
                                                   job.cpu);
    job.work = layer_normalization_forward(pd);
    job.result = memory(d, job.cpu, y);
    job.arguments = {{DNNL_ARG_SRC, memory(d, job.cpu, x)}, {DNNL_ARG_DST, job.result}};
  });
}

void* peer_transpose(long rows, long columns, void* x, void* y) {
  return guarded([&](Job& job) {
    memory from({{rows, columns}, memory::data_type::f32, memory::format_tag::ab}, job.cpu, x);
    job.result = memory({{rows, columns}, memory::data_type::f32, memory::format_tag::ba}, job.cpu, y);
    job.work = reorder(from, job.result);
    job.arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, job.result}};
  });
}

void* peer_gelu(long count, void* x, void* y) {
  return guarded([&](Job& job) {
    memory::desc d = plain({count});
    eltwise_forward::primitive_desc pd({prop_kind::forward_inference, algorithm::eltwise_gelu_erf, d, 0.F, 0.F},
                                       job.cpu);
    job.work = eltwise_forward(pd);
    job.result = memory(d, job.cpu, y);
    job.arguments = {{DNNL_ARG_SRC, memory(d, job.cpu, x)}, {DNNL_ARG_DST, job.result}};
  });
}

void peer_run(void* handle) {
  auto* job = static_cast<Job*>(handle);
  job->work.execute(job->queue, job->arguments);
  job->queue.wait();
}

// The result as dense f32 in the order of its dims.
void peer_result(void* handle, float* data) {
  auto* job = static_cast<Job*>(handle);
  memory dense(plain(job->result.get_desc().dims()), job->cpu, data);
  reorder(job->result, dense).execute(job->queue, job->result, dense);
  job->queue.wait();
}

void peer_free(void* handle) { delete static_cast<Job*>(handle); }
}
