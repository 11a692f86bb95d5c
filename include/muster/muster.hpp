// Everything that a host program needs.
#pragma once

#include "muster/barrier.hpp"
#include "muster/collective.hpp"
#include "muster/collective/on_team.hpp"
#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/run.hpp"
#include "muster/team.hpp"
#include "muster/types.hpp"
