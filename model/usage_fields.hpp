#pragma once

#include "model/field_key.hpp"
#include "model/usage.hpp"

// Usage of attempts, member by member, for messages between actors.

namespace muster {

void fields(auto& a, Like<Usage> auto& v) {
  a("cpu_s", v.cpu);
  a("peak_bytes", v.peak_bytes);
}

void fields(auto& a, Like<AttemptUsage> auto& v) {
  a("task", v.task);
  a("attempt", v.attempt);
  a("so_far", v.so_far);
  a("memory_bytes", v.memory_bytes);
  a("cores", v.cores);
  a("disk_bytes", v.disk_bytes);
}

void fields(auto& a, Like<UsageRequest> auto& v) {
  a("number", v.number);
}

void fields(auto& a, Like<UsageAnswer> auto& v) {
  a("instance", v.instance);
  a("number", v.number);
  a("attempts", v.attempts);
}

}  // namespace muster
