// All collectives.
#pragma once

#include "muster/collective/all_gather.hpp"
#include "muster/collective/all_gather_v.hpp"
#include "muster/collective/all_reduce.hpp"
#include "muster/collective/all_to_all.hpp"
#include "muster/collective/all_to_all_v.hpp"
#include "muster/collective/broadcast.hpp"
#include "muster/collective/gather.hpp"
#include "muster/collective/reduce.hpp"
#include "muster/collective/reduce_scatter.hpp"
#include "muster/collective/reduce_scatter_v.hpp"
#include "muster/collective/scatter.hpp"
#include "muster/collective/send_receive.hpp"
#include "muster/collective/sentinel_all_reduce.hpp"
