#pragma once

#include <array>
#include <string>

#include "config/csv.hpp"
#include "model/job.hpp"
#include "replay/workload/readers.hpp"

namespace muster::replay {

/// The columns of Muster's workload CSV, in the order in which they are written.
inline constexpr std::array<CsvColumn, 32> kMusterColumns = {{{"id", true},
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
                                                              {"most_an_instance"},
                                                              {"storage_gib"},
                                                              {"network_gbit_s"},
                                                              {"runtime_hint_s"},
                                                              {"families"},
                                                              {"task_iterations"},
                                                              {"lasts_s"},
                                                              {"performance"},
                                                              {"goal"},
                                                              {"day_load"}}};

/// Reads what belongs to each start and stop of a task, and its image.
void read_steps(CsvReader& row, Delays& delays, std::string& image);

/// Reads the demands: gpu, cpu, memory_gib, storage_gib and network_gbit_s for any family, or those
/// of the `families` column; never both.
Demands read_demands(CsvReader& row);

/// Reads what makes a service of a job, and what is true of it; nothing where it is a batch job.
void read_service(CsvReader& row, JobDraft& draft);

/// Columns that are there when any job of the file needs them.
struct WantedColumns {
  bool distinct_instances = false;
  bool most_an_instance = false;  ///< for those that are above 1
  bool services = false;          ///< the last ones, from lasts_s on
};

/// A job's row of the CSV, in parts: when it is made, some things are not known that depend on all
/// jobs.
struct MusterRow {
  std::string id;
  Instant submit;                      ///< as the trace counts
  std::string middle;                  ///< the fields behind submit_s and before distinct_instances
  std::uint32_t most_an_instance = 0;  ///< of the job; 1 goes into distinct_instances
  std::string rest;                    ///< the fields behind most_an_instance and before lasts_s
  std::string service;                 ///< those from lasts_s on; empty: the job is no service

  std::string line(Duration begin, const WantedColumns& wanted) const;
};

/// The row of a job of `tasks` tasks, of which the first one stands for all.
MusterRow muster_row(const WorkloadJob& job, std::size_t tasks);

/// The line that names the columns.
std::string muster_header(const WantedColumns& wanted);

}  // namespace muster::replay
