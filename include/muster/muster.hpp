// Everything that a host program needs.
#pragma once

#include "muster/barrier.hpp"
#include "muster/collective.hpp"
#include "muster/expect.hpp"
#include "muster/fabric.hpp"
#include "muster/result.hpp"
#include "muster/run.hpp"
#include "muster/team.hpp"
#include "muster/team/collective.hpp"
#include "muster/types.hpp"
