#include <cmath>
#include <limits>

#include "common/random_graph.h"
#include "ir/evaluate.h"

namespace svod {

namespace {

constexpr int kEdgePercent = 25;

Scalar specialFloat(DType d, Draw& draw) {
  double tiny = Scalar::fromBits(d, 1).asFloat();
  const double kValues[] = {std::nan(""), HUGE_VAL,     -HUGE_VAL,     -0.0, 0.0, tiny,
                            -tiny,        maxFinite(d), -maxFinite(d), 0.5,  -1.5};
  return Scalar::ofFloat(d, draw.of(kValues));
}

// Multiples of 1/64 in [-4, 4): exact in most dtypes, with ties when rounded.
Scalar plainFloat(DType d, Draw& draw) {
  int64_t steps = draw.between(-256, 255);
  return Scalar::ofFloat(d, static_cast<double>(steps) / 64);
}

// All bits of the fraction in use, magnitude from 2^-4 to 2^4.
Scalar denseFloat(DType d, Draw& draw) {
  auto fraction = static_cast<double>(draw.below(int64_t{1} << 52)) * 0x1p-52 + 1;
  int64_t exponent = draw.between(-4, 3);
  bool negative = draw.chance(50);
  return Scalar::ofFloat(d, std::ldexp(negative ? -fraction : fraction, static_cast<int>(exponent)));
}

Scalar randomElement(DType d, Draw& draw, bool special, int percent) {
  bool takeSpecial = draw.chance(percent) && special, plain = draw.chance(50);
  if (isFloat(d)) return takeSpecial ? specialFloat(d, draw) : plain ? plainFloat(d, draw) : denseFloat(d, draw);
  if (takeSpecial) {
    const int64_t kValues[] = {minInt(d), maxInt(d), -1, minInt(d) + 1, 0, 64};
    return Scalar::ofInt(d, draw.of(kValues));
  }
  if (!plain && special) return Scalar::ofInt(d, static_cast<int64_t>(draw.bits()));
  return Scalar::ofInt(d, draw.between(-9, 12));
}

std::vector<int64_t> dimsAt(std::span<const UOp> dims, const VariableValues& variables) {
  std::vector<int64_t> out;
  for (UOp d : dims) {
    std::optional<Scalar> v = evaluate(d, [&](UOp leaf) -> std::optional<Scalar> {
      return Scalar::ofInt(leaf.dtype(), variables.at(std::string(leaf.argAs<VarArg>().name)));
    });
    out.push_back(v->asInt());
  }
  return out;
}

/// The least, the greatest, the largest prime between, or any value.
int64_t edgeValue(int64_t min, int64_t max, Draw& draw) {
  auto isPrime = [](int64_t v) {
    for (int64_t d = 2; d * d <= v; ++d)
      if (v % d == 0) return false;
    return v > 1;
  };
  int64_t prime = max, any = draw.between(min, max);
  while (prime > min && !isPrime(prime)) --prime;
  const int64_t kValues[] = {min, max, prime, any};
  return draw.of(kValues);
}

}  // namespace

HostTensor randomTensor(DType dtype, std::vector<int64_t> dims, uint64_t seed, bool special, int percent) {
  Draw draw(seed);
  HostTensor out = HostTensor::zeros(dtype, std::move(dims));
  for (int64_t i = 0, n = out.numel(); i < n; ++i) out.set(i, randomElement(dtype, draw, special, percent));
  return out;
}

ModelBindings randomBindings(const Model& model, uint64_t seed, const RandomOptions& options) {
  Draw draw(seed);
  ModelBindings out;
  for (UOp v : model.variables) {
    const VarArg& arg = v.argAs<VarArg>();
    out.variables[std::string(arg.name)] =
        options.edges ? edgeValue(arg.min, arg.max, draw) : draw.between(arg.min, arg.max);
  }
  for (const ModelPort& port : model.ports) {
    HostTensor& t = out.ports.emplace_back();
    uint64_t portSeed = draw.bits();
    if (port.kind != PortKind::Input && port.kind != PortKind::State) continue;
    t = randomTensor(port.buffer.dtype(), dimsAt(port.buffer.shape(), out.variables), portSeed, !options.contract,
                     options.edges ? kEdgePercent : 8);
  }
  return out;
}

}  // namespace svod
