// The GPU fabric: everything that a kernel needs to take part in a team.
#pragma once

#include "muster/fabric.hpp"
#include "muster/fabric/gpu/coop.cuh"
#include "muster/fabric/gpu/fabric.cuh"
#include "muster/fabric/gpu/handle.hpp"
#include "muster/fabric/gpu/tile.cuh"

namespace muster::gpu {

static_assert(DeviceFabric<Fabric<Thread>>);
static_assert(DeviceFabric<Fabric<Warp>> && DirectFabric<Fabric<Warp>> &&
              HandoffFabric<Fabric<Warp>>);
static_assert(AtomicFabric<Fabric<Thread>> && AtomicFabric<Fabric<Warp>> &&
              AtomicFabric<Fabric<Block<>>>);
static_assert(DeviceFabric<Fabric<Warps<4>>> && PacketFabric<Fabric<Warps<4>>>);
static_assert(DeviceFabric<Fabric<Block<>>>);
static_assert(DeviceFabric<Fabric<Block<256>>>);
static_assert(FabricAll<Fabric<Thread>> && FabricAll<Fabric<Block<>>> &&
              FabricAll<Fabric<Block<256>>>);
static_assert(DirectFabricAll<Fabric<Warp>> && PacketFabricAll<Fabric<Warp>>);
static_assert(PartFabric<Fabric<Block<>>> && PartFabric<Fabric<Block<256>>>);
static_assert(DeviceFabric<PartOf<Fabric<Block<>>, muster::Warps<4>>>);
// Of a block alone: a part has no parts, nor has a lane that is some warps of a block.
static_assert(!PartFabric<PartOf<Fabric<Block<>>, muster::Warps<4>>>);
static_assert(!PartFabric<Fabric<Warps<4>>> && !PartFabric<Fabric<Warp>>);
static_assert(!PartFabric<Fabric<Thread>>);

}  // namespace muster::gpu
