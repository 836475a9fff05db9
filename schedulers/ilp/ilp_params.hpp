#pragma once

#include <chrono>
#include <cstdint>

#include "model/time.hpp"
#include "schedulers/market_view.hpp"

namespace muster::ilp {

/// In the choice of each round in which the solver failed; reports count these rounds.
inline constexpr const char* kSolverFailed = "the solver failed";

/// How the question is put to the solver.
enum class Form : std::uint8_t {
  patterns,  ///< how many instances with each set of alike tasks
  paper      ///< each task in one of as many slots, each slot of one type (Eva 4.1)
};

/// The parameters of ilp.
struct IlpParams {
  Form form = Form::patterns;
  std::uint32_t tasks = 200;  ///< laid out in a round, at most
  std::uint32_t nodes = 50;   ///< of the solver's search in a replay
  double seconds = 10;        ///< of the solver's search where somebody waits
  double gap_share = 0.001;
  Duration period{std::chrono::seconds{300}};
  bool eager = false;  ///< rounds at once on arrivals and on resources that come free, too
  SpotUse spot = SpotUse::asked;
};

}  // namespace muster::ilp
