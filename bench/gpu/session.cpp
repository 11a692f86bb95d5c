#include "bench/gpu/session.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <map>
#include <string_view>

namespace muster::bench_gpu {

namespace {

void must(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  throw Failure(Error{ErrorCode::system, std::string(doing) + ": " + cudaGetErrorString(result)});
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Measured {
  const Contender* contender = nullptr;
  std::vector<double> samples;
  std::string failure;
};

void measure_once(Measured& one, bool keep) {
  if (!one.failure.empty()) return;
  try {
    const double took = one.contender->measure();
    if (keep) one.samples.push_back(took);
  } catch (const std::exception& failure) {
    one.failure = failure.what();
  }
}

const Measured* baseline_of(const std::vector<Measured>& all, const Contender& contender) {
  for (const Measured& other : all)
    if (other.contender->group == contender.group && other.contender->name == contender.baseline &&
        !other.samples.empty())
      return &other;
  return nullptr;
}

// The median of the ratios of samples that were taken one after the other.
std::optional<double> ratio(const Measured& one, const Measured* base) {
  if (base == nullptr || one.samples.size() != base->samples.size()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.samples.size(); ++i)
    ratios.push_back(one.samples[i] / base->samples[i]);
  return median(ratios);
}

void print_line(const Measured& one, const std::vector<Measured>& all) {
  const Contender& contender = *one.contender;
  std::printf("  %-22s %-44s ", contender.group.c_str(), contender.name.c_str());
  if (one.samples.empty()) {
    std::printf("-- %s\n", one.failure.c_str());
    return;
  }
  const auto [low, high] = std::minmax_element(one.samples.begin(), one.samples.end());
  const double middle = median(one.samples);
  std::printf("%9.3f us  [%.3f, %.3f]", middle, *low, *high);
  if (contender.bytes > 0) std::printf("  %7.1f GB/s", contender.bytes / middle / 1e3);
  if (const auto by = ratio(one, baseline_of(all, contender)))
    std::printf("  %.3f of %s", *by, contender.baseline.c_str());
  std::printf("\n");
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string machine() {
  int device_count = 0;
  int driver = 0;
  cudaDeviceProp properties{};
  must(cudaGetDeviceCount(&device_count), "counting GPUs");
  must(cudaDriverGetVersion(&driver), "asking for the driver");
  must(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
  return std::to_string(device_count) + " x " + properties.name + ", CUDA driver " +
         std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

bool write_json(const char* topic, const std::vector<Measured>& all, const std::string& file) {
  std::FILE* const out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return false;
  std::fprintf(out, "{\n  \"topic\": %s,\n  \"date\": %s,\n  \"machine\": %s,\n  \"results\": [",
               quoted(topic).c_str(), quoted(today()).c_str(), quoted(machine()).c_str());
  const char* separator = "\n";
  for (const Measured& one : all) {
    std::fprintf(out, "%s    {\"group\": %s, \"name\": %s", separator,
                 quoted(one.contender->group).c_str(), quoted(one.contender->name).c_str());
    separator = ",\n";
    if (!one.failure.empty()) std::fprintf(out, ", \"failure\": %s", quoted(one.failure).c_str());
    if (!one.samples.empty()) {
      std::fprintf(out, ", \"median_us\": %.4f, \"samples_us\": [", median(one.samples));
      for (std::size_t i = 0; i < one.samples.size(); ++i)
        std::fprintf(out, "%s%.4f", i == 0 ? "" : ", ", one.samples[i]);
      std::fprintf(out, "]");
      if (one.contender->bytes > 0) std::fprintf(out, ", \"bytes\": %.0f", one.contender->bytes);
      if (const auto by = ratio(one, baseline_of(all, *one.contender)))
        std::fprintf(out, ", \"ratio\": %.4f, \"to\": %s", *by,
                     quoted(one.contender->baseline).c_str());
    }
    std::fprintf(out, "}");
  }
  std::fprintf(out, "\n  ]\n}\n");
  return std::fclose(out) == 0;
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool has_value = i + 1 < argc;
    if (name == "--json" && has_value) {
      options.json = argv[++i];
    } else if (name == "--samples" && has_value && std::atoi(argv[i + 1]) >= 5) {
      options.samples = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--json FILE] [--samples N, at least 5]\n", argv[0]);
      std::exit(2);
    }
  }
  return options;
}

int report(const char* topic, const std::vector<Contender>& contenders, const Options& options) {
  std::vector<Measured> all;
  for (const Contender& contender : contenders) all.push_back({&contender, {}, {}});
  for (Measured& one : all) measure_once(one, false);
  for (int sample = 0; sample < options.samples; ++sample)
    for (Measured& one : all) measure_once(one, true);
  std::printf("%s: medians of %d, lowest and highest; ratios of neighbouring samples; %s\n", topic,
              options.samples, machine().c_str());
  bool good = true;
  for (const Measured& one : all) {
    print_line(one, all);
    good = good && one.failure.empty();
  }
  if (!options.json.empty() && !write_json(topic, all, options.json)) {
    std::fprintf(stderr, "cannot write %s\n", options.json.c_str());
    return 1;
  }
  return good ? 0 : 1;
}

int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

struct StreamTimer::Events {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
};

StreamTimer::StreamTimer() : events_(new Events) {
  must(cudaEventCreate(&events_->begin), "making an event");
  must(cudaEventCreate(&events_->end), "making an event");
}

StreamTimer::~StreamTimer() {
  (void)cudaEventDestroy(events_->begin);
  (void)cudaEventDestroy(events_->end);
  delete events_;
}

void StreamTimer::start(gpu::Stream stream) {
  must(cudaEventRecord(events_->begin, stream), "starting a timer");
}

void StreamTimer::stop(gpu::Stream stream) {
  must(cudaEventRecord(events_->end, stream), "stopping a timer");
}

double StreamTimer::microseconds() {
  must(cudaEventSynchronize(events_->end), "waiting for a timer");
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, events_->begin, events_->end), "reading a timer");
  return 1e3 * static_cast<double>(milliseconds);
}

std::uint64_t read_word(const std::uint64_t* on_gpu) {
  std::uint64_t word = 0;
  must(cudaMemcpy(&word, on_gpu, sizeof(word), cudaMemcpyDeviceToHost), "copying to the host");
  return word;
}

}  // namespace muster::bench_gpu
