// What a plan has code for: processors, of which one runs it, and architectures of devices, of which each device takes
// one.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace svod {

struct Processor {
  std::string cpu;
  std::vector<std::string> features;
};

/// Variant::cpu of an architecture of a kind of device: "cuda:sm_80".
std::string variantName(std::string_view deviceKind, std::string_view arch);
/// Whether it is for an architecture of a device, not for a processor.
inline bool isForDevice(const Variant& variant) { return variant.cpu.find(':') != std::string::npos; }
/// How many variants are for devices; they stand before those for processors.
size_t deviceVariants(const Plan& plan);

/// That of `target` first, then those of the variants in their order.
std::vector<Processor> processorsOf(const Plan& plan);

/// Their indices, the best first: the one with the most features, the first of equals.
std::vector<size_t> byPreference(std::span<const Processor> processors);

/// Of the processors that lack nothing the best: an index of `missing`, which has what this machine lacks of each.
/// Nothing where all lack something.
std::optional<size_t> bestOf(std::span<const Processor> processors, std::span<const std::vector<std::string>> missing);

/// The plan as it is for processorsOf()[processor]: without variants for processors. It must have passed `check`.
void takeVariant(Plan& plan, size_t processor);

/// The plan as it is where `device` takes images of `arch`; to be called once for a device. It must have passed
/// `check`.
void takeArch(Plan& plan, DeviceId device, std::string_view arch);

}  // namespace svod
