#include "actors/task_ends.hpp"

#include <algorithm>

#include "actors/task_runs.hpp"

namespace muster {
namespace {

constexpr auto kLastKind = static_cast<unsigned char>(TaskEnd::Kind::failed);

bool is_for(std::uint32_t count, const std::vector<std::uint32_t>& steps) {
  return count <= 1 ? steps.size() == count : steps.size() == 2 || steps.size() == count;
}

}  // namespace

std::vector<std::uint32_t> steps_of(const std::vector<TaskEnd>& ends,
                                    std::uint32_t TaskEnd::*member) {
  std::vector<std::uint32_t> steps;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    steps.push_back(i == 0 ? ends[i].*member : ends[i].*member - ends[i - 1].*member);
  }
  const auto differs = [&](std::uint32_t step) { return step != steps[1]; };
  if (steps.size() > 2 && std::none_of(steps.begin() + 1, steps.end(), differs)) steps.resize(2);
  return steps;
}

std::string kinds_of(const std::vector<TaskEnd>& ends) {
  std::string kinds;
  for (const TaskEnd& end : ends) kinds += static_cast<char>(end.kind);
  if (kinds.find_first_not_of(kinds.substr(0, 1)) == std::string::npos) kinds.resize(!ends.empty());
  return kinds;
}

bool put_ends(std::vector<TaskEnd>& ends, std::uint32_t count, const PackedEnds& packed) {
  const auto& [positions, indices, kinds] = packed;
  const bool kinds_fit = kinds.size() == count || (count > 0 && kinds.size() == 1);
  const auto wrong = [](char kind) { return static_cast<unsigned char>(kind) > kLastKind; };
  if (count > kMostTasksInMessage || !is_for(count, positions) || !is_for(count, indices) ||
      !kinds_fit || std::any_of(kinds.begin(), kinds.end(), wrong)) {
    return false;
  }
  ends.clear();
  ends.reserve(count);
  const auto step = [](const std::vector<std::uint32_t>& steps, std::size_t i) {
    return steps[i < steps.size() ? i : 1];
  };
  TaskEnd end;
  for (std::size_t i = 0; i < count; ++i) {
    end.position += step(positions, i);
    end.index += step(indices, i);
    end.kind = static_cast<TaskEnd::Kind>(kinds[i < kinds.size() ? i : 0]);
    ends.push_back(end);
  }
  return true;
}

}  // namespace muster
