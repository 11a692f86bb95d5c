// All barriers.
#pragma once

#include "muster/barrier/automatic.hpp"
#include "muster/barrier/counter.hpp"
#include "muster/barrier/credit.hpp"
#include "muster/barrier/dissemination.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/barrier/flip.hpp"
#include "muster/barrier/grid.hpp"
#include "muster/barrier/system.hpp"
