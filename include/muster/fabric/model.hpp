// The model fabric: the face that protocols see while the checker runs them.
//
// One fiber runs per thread of each lane of each rank. Nothing here is executed as a machine would:
// signals are bags of deposits of which a wait takes a part, transfers are agents that carry a
// clock of their own, and window data is real memory with a shadow that knows who touched it last.
// docs/checking.md says what that finds; src/check/ does it.
#pragma once

#include "muster/fabric.hpp"
#include "muster/fabric/model/actor.hpp"
#include "muster/fabric/model/fabric.hpp"
#include "muster/fabric/model/operations.hpp"
#include "muster/fabric/model/part.hpp"
#include "muster/fabric/model/span.hpp"
#include "muster/fabric/model/team.hpp"
#include "muster/fabric/model/tile.hpp"
#include "muster/fabric/model/view.hpp"

namespace muster::model {

static_assert(FabricAll<Fabric> && DirectFabricAll<Fabric> && HandoffFabric<Fabric>);
static_assert(AtomicFabric<Fabric>);
static_assert(PacketFabricAll<Fabric> && SetUpAll<Team>);
static_assert(SentinelFabricAll<Fabric> && LaunchFabric<Fabric>);
static_assert(PartFabric<Fabric> && FabricAll<Part> && !PartFabric<Part>);
static_assert(DirectFabricAll<Part> && HandoffFabric<Part> && PacketFabricAll<Part>);

}  // namespace muster::model
