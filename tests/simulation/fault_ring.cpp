// Runs whole clusters in virtual time under faults drawn from seeds; README.md beside this file
// says how. Each run is a process of its own, so that one that ends it is a finding like any other.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "tests/simulation/ring.hpp"

namespace muster::ring {
namespace {

constexpr const char* kUsage =
    "Usage: fault_ring [--seeds FIRST-LAST] [--faults COUNT] [--check-every MESSAGES]\n"
    "                  [--without "
    "FAULT|clock_back|cloud_limits|caps|failures|site_disks|bounds|hardships|services|"
    "pipelines|machines]...\n"
    "                  [--with ...]... [--no-shrink] [--trace]\n"
    "Services, pipelines and machines of one's own are a part of some seeds; --with services: of "
    "all.\n";

/// Seeds of a call whose invariants are looked at after every message.
constexpr std::uint64_t kClosely = 20;

struct Call {
  std::uint64_t first = 1, last = 200;
  bool shrink = true;
  bool closely = false;
  std::string options;  ///< as they were given, for the command that repeats a run
  RingOptions ring;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

bool set(ScenarioLimits& limits, std::string_view name, bool in) {
  SeedShare* share = name == "services"    ? &limits.services
                     : name == "pipelines" ? &limits.pipelines
                     : name == "machines"  ? &limits.machines
                                           : nullptr;
  if (share != nullptr) {
    *share = in ? SeedShare::all : SeedShare::none;
    return true;
  }
  bool* flag = name == "clock_back"     ? &limits.clock_back
               : name == "cloud_limits" ? &limits.cloud_limits
               : name == "caps"         ? &limits.caps
               : name == "failures"     ? &limits.failures
               : name == "site_disks"   ? &limits.site_disks
               : name == "bounds"       ? &limits.bounds
               : name == "hardships"    ? &limits.hardships
                                        : nullptr;
  if (flag != nullptr) {
    *flag = in;
    return true;
  }
  const auto kind = named<FaultKind>(name);
  if (!kind) return false;
  std::erase(limits.without, *kind);
  if (!in) limits.without.push_back(*kind);
  return true;
}

bool read_value(Call& call, std::string_view name, std::string_view value) {
  if (name == "--without" || name == "--with") {
    call.options += fmt::format(" {} {}", name, value);
    return set(call.ring.limits, value, name == "--with");
  }
  if (name == "--seeds") {
    const std::size_t dash = value.find('-');
    const auto first = number(value.substr(0, dash));
    const auto last = dash == value.npos ? first : number(value.substr(dash + 1));
    if (!first || !last) return false;
    call.first = *first;
    call.last = *last;
    return true;
  }
  const auto count = number(value);
  if (!count) return false;
  if (name == "--faults") call.ring.faults = *count;
  if (name == "--check-every") call.ring.check_every = std::max<std::uint64_t>(1, *count);
  return name == "--faults" || name == "--check-every";
}

std::optional<Call> read_call(int argc, char** argv) {
  Call call;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--no-shrink") {
      call.shrink = false;
    } else if (word == "--trace") {
      call.ring.trace = true;
    } else if (i + 1 == argc || !read_value(call, word, argv[i + 1])) {
      return std::nullopt;
    } else {
      call.closely = call.closely || word == "--check-every";
      ++i;
    }
  }
  return call;
}

std::string encode(const RingResult& result) {
  std::string text = fmt::format("{} {} {} {} {} {}\n", result.seed, result.faults, result.messages,
                                 result.events, result.drained_s, result.violations.size());
  text += result.policy + "\n";
  for (std::string line : result.violations) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += line + "\n";
  }
  return text;
}

RingResult decode(std::uint64_t seed, const std::string& text, int status) {
  RingResult result;
  result.seed = seed;
  unsigned long long faults = 0, messages = 0, events = 0, violations = 0, of = 0;
  if (std::sscanf(text.c_str(), "%llu %llu %llu %llu %lf %llu", &of, &faults, &messages, &events,
                  &result.drained_s, &violations) != 6) {
    result.violations.push_back(WIFSIGNALED(status)
                                    ? fmt::format("the process ends by signal {}", WTERMSIG(status))
                                    : fmt::format("the process ends with {}", WEXITSTATUS(status)));
    return result;
  }
  result.faults = faults;
  result.messages = messages;
  result.events = events;
  std::size_t at = text.find('\n') + 1;
  const auto line = [&] {
    const std::size_t end = text.find('\n', at);
    std::string one = text.substr(at, end - at);
    at = end + 1;
    return one;
  };
  result.policy = line();
  for (; violations > 0; --violations) result.violations.push_back(line());
  return result;
}

/// Runs the seed in a process of its own.
RingResult run_apart(std::uint64_t seed, const RingOptions& options) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::close(ends[0]);
    const std::string text = encode(run_seed(seed, options));
    std::fflush(stdout);
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t more = ::write(ends[1], text.data() + written, text.size() - written);
      if (more <= 0) break;
      written += static_cast<std::size_t>(more);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return decode(seed, text, status);
}

/// So many of the first faults that the seed still fails: none fewer of those tried, and not always
/// the fewest, for one more fault may mend what others have broken.
std::size_t shrink(std::uint64_t seed, RingOptions options, std::size_t fails_with) {
  std::size_t passes_below = 0;
  while (passes_below < fails_with) {
    options.faults = (passes_below + fails_with) / 2;
    if (run_apart(seed, options).violations.empty()) {
      passes_below = options.faults + 1;
    } else {
      fails_with = options.faults;
    }
  }
  return fails_with;
}

void tell(const Call& call, const RingResult& result, const RingOptions& options) {
  std::printf("seed %llu (%s) fails:\n", static_cast<unsigned long long>(result.seed),
              result.policy.c_str());
  for (const std::string& text : result.violations) std::printf("  %s\n", text.c_str());
  const Scenario scenario = make_scenario(result.seed, options.limits);
  std::size_t faults = std::min(options.faults, scenario.faults.size());
  if (call.shrink) faults = shrink(result.seed, options, faults);
  std::printf("  with %zu of %zu faults:\n", faults, scenario.faults.size());
  for (std::size_t i = 0; i < faults; ++i) {
    std::printf("    %s\n", to_text(scenario.faults[i]).c_str());
  }
  std::printf("  again: fault_ring --seeds %llu --faults %zu --check-every 1%s --trace\n",
              static_cast<unsigned long long>(result.seed), faults, call.options.c_str());
  std::fflush(stdout);
}

double processor_s() {
  rusage own{}, children{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

int run(const Call& call) {
  std::uint64_t failed = 0, faults = 0, messages = 0, events = 0;
  double longest_s = 0;
  for (std::uint64_t seed = call.first; seed <= call.last; ++seed) {
    RingOptions options = call.ring;
    if (!call.closely && seed < call.first + kClosely) options.check_every = 1;
    const RingResult result = run_apart(seed, options);
    faults += result.faults;
    messages += result.messages;
    events += result.events;
    longest_s = std::max(longest_s, result.drained_s);
    if (result.violations.empty()) continue;
    ++failed;
    tell(call, result, options);
  }
  std::printf(
      "seeds %llu, faults %llu, messages %llu, events %llu, longest drain %.0f s, "
      "processor time %.1f s, violations %llu\n",
      static_cast<unsigned long long>(call.last - call.first + 1),
      static_cast<unsigned long long>(faults), static_cast<unsigned long long>(messages),
      static_cast<unsigned long long>(events), longest_s, processor_s(),
      static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace muster::ring

int main(int argc, char** argv) {
  const auto call = muster::ring::read_call(argc, argv);
  if (!call) {
    std::fputs(muster::ring::kUsage, stderr);
    return 2;
  }
  return muster::ring::run(*call);
}
