import type { Placement } from "./placement.ts";

/** A spread would lose the methods of a class. */
export function withAcquire(placement: Placement, acquire: Placement["acquire"]): Placement {
  return {
    kind: placement.kind,
    abilities: placement.abilities,
    memory: placement.memory,
    sleep: placement.sleep,
    copiesProgramFiles: placement.copiesProgramFiles,
    ...(placement.unforkableBecause !== undefined && { unforkableBecause: placement.unforkableBecause }),
    copyNeeds: () => placement.copyNeeds(),
    unpack: (...args) => placement.unpack(...args),
    acquire,
    startProgram: (...args) => placement.startProgram(...args),
    traffic: () => placement.traffic(),
    warm: () => placement.warm(),
    warmReady: () => placement.warmReady(),
    close: () => placement.close(),
  };
}
