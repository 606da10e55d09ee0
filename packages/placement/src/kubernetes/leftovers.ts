import { messageOf } from "@shoal/primitives";
import type { PlacementLog } from "../interface/placement-log.ts";
import type { Cluster } from "./cluster.ts";
import { type ClusterObject, type KindName, kinds, type Pod } from "./objects.ts";
import { labels } from "./pod-spec.ts";
import { podState } from "./pod-state.ts";

/** Milliseconds in which a pod of a living server starts. */
const startMs = 10 * 60_000;
/** Milliseconds in which a living server deletes its ended pods. */
const readMs = 60_000;

export interface LeftoverOptions {
  /** That this service creates. */
  readonly objects: KindName;
  /** Whether an instance of this service runs. */
  readonly isRunning: (instance: string) => boolean;
  readonly log: PlacementLog;
}

/**
 * Deletes what killed servers left: their instances end a minute after the server, and the pods remain. Also deletes
 * ended pods that a server could not delete, pods that have waited too long for a node, and sandboxes and claims after
 * their time. Never rejects.
 */
export async function removeLeftovers(
  cluster: Cluster,
  { isRunning, log, objects: name }: LeftoverOptions,
): Promise<void> {
  // Pods that wait in a SandboxWarmPool have no server yet.
  const selector = `${labels.managedBy}=shoal,${labels.part}=session,${labels.server}`;
  try {
    const isLeft = (object: Pick<Pod, "metadata">): boolean => !isRunning(instanceOf(object));
    const pods = (await cluster.list("pods", selector)).filter(isLeft);
    const owners = name === "pods" ? [] : (await cluster.list(name, selector)).filter(isLeft);
    // With a wrong clock, running sessions of other servers would end.
    const nowMs = cluster.now().earliestMs;
    const overPods = pods.filter((pod) => isOver(pod, nowMs));
    const over = new Set(overPods.map(instanceOf));
    const objects = [
      ...owners
        .filter((owner) => over.has(instanceOf(owner)) || isExpired(owner, nowMs))
        .map(({ metadata }) => ({ metadata, ...kinds[name] })),
      ...overPods.map(({ metadata }) => ({ metadata, ...kinds.pods })),
    ];
    for (const { apiVersion, kind, metadata } of objects) {
      const { name = "", namespace = cluster.namespace } = metadata ?? {};
      await cluster.remove({ apiVersion, kind, metadata: { name, namespace } }, 0);
      log.info({ name, kind }, "Removed a pod that its server did not delete.");
    }
  } catch (error) {
    log.warn({ error: messageOf(error) }, "Cannot look for pods that servers did not delete.");
  }
}

function instanceOf({ metadata }: Pick<Pod, "metadata">): string {
  return metadata?.labels?.[labels.instance] ?? "";
}

function isOver(pod: Pod, nowMs: number): boolean {
  const { phase } = podState(pod);
  const sinceMs = (time: Date | string | undefined): number =>
    time === undefined ? 0 : nowMs - new Date(time).getTime();
  if (phase === "waiting") return sinceMs(pod.metadata?.creationTimestamp) > startMs;
  const finished = pod.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt;
  // Its server may be reading what it printed.
  return phase === "ended" && sinceMs(finished ?? pod.metadata?.creationTimestamp) > readMs;
}

/** Its server has not renewed it. */
function isExpired({ spec }: ClusterObject, nowMs: number): boolean {
  const { lifecycle, shutdownTime } = (spec ?? {}) as Expiring & { readonly lifecycle?: Expiring };
  const time = shutdownTime ?? lifecycle?.shutdownTime;
  return time !== undefined && Date.parse(time) < nowMs;
}

interface Expiring {
  readonly shutdownTime?: string;
}
