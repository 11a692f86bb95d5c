// All barriers.
#pragma once

#include "muster/barrier/counter.hpp"
#include "muster/barrier/credit.hpp"
#include "muster/barrier/epoch.hpp"
#include "muster/barrier/flip.hpp"
