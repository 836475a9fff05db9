#pragma once

#include <string_view>

namespace muster::test {

/// A TOML job file with a value for every key that an array of tasks can have.
inline constexpr std::string_view kEveryKeyToml = R"(
name = "sweep"
user = "ann"
class = "cpu-heavy"
priority = -3
command = ["python3", "sweep.py", ""]
work_dir = "/srv/sweep"
array = "1,3,7-9%2"
cpus = 1.5
memory_gib = "512MiB"
gpus = 2
time_limit_s = "5min"
runtime_hint_s = 90
stop_grace_s = "20s"
baseline_rate_per_s = 0.25
market = "spot"
constraint = "zone=a|b,type!=c7i.*"
retries = 2
retry_on = ["signal", 75]
signal = "B:USR1@1min"
done_on_stop = true
from = "35.7,-139.5"
token = "t-1"
movable = false
checkpoints = true
[env]
A = "x y"
B = 7
)";

}  // namespace muster::test
