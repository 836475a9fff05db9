#pragma once

#include <array>
#include <string>

#include "config/csv.hpp"
#include "model/job.hpp"

namespace muster::replay {

/// The columns of Muster's workload CSV, in the order in which they are written.
inline constexpr std::array<CsvColumn, 27> kMusterColumns = {{{"id", true},
                                                              {"submit_s", true},
                                                              {"user", true},
                                                              {"name", true},
                                                              {"tasks", true},
                                                              {"gpu", true},
                                                              {"cpu", true},
                                                              {"memory_gib", true},
                                                              {"duration_s", true},
                                                              {"class", true},
                                                              {"interference"},
                                                              {"iterations"},
                                                              {"iterations_per_s"},
                                                              {"image"},
                                                              {"fetch_s"},
                                                              {"build_s"},
                                                              {"init_s"},
                                                              {"stop_s"},
                                                              {"upload_s"},
                                                              {"priority"},
                                                              {"gang"},
                                                              {"distinct_instances"},
                                                              {"storage_gib"},
                                                              {"network_gbit_s"},
                                                              {"runtime_hint_s"},
                                                              {"families"},
                                                              {"task_iterations"}}};

/// Reads what belongs to each start and stop of a task, and its image.
void read_steps(CsvReader& row, Delays& delays, std::string& image);

/// Reads the demands: gpu, cpu, memory_gib, storage_gib and network_gbit_s for any family, or those
/// of the `families` column; never both.
Demands read_demands(CsvReader& row);

}  // namespace muster::replay
