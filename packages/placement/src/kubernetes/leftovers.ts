import { messageOf } from "@shoal/primitives";
import type { PlacementLog } from "../interface/placement-log.ts";
import type { Cluster } from "./cluster.ts";
import { type Pod, type Sandbox, sandboxVersion } from "./objects.ts";
import { labels } from "./pod-spec.ts";
import { podState } from "./pod-state.ts";

/** Milliseconds in which a pod of a living server starts. */
const startMs = 10 * 60_000;
/** Milliseconds in which a living server deletes its ended pods. */
const readMs = 60_000;

/**
 * Deletes what killed servers left: their instances end a minute after the server, and the pods remain. Also deletes
 * pods that have waited too long for a node, and sandboxes after their time. Never rejects.
 */
export async function removeLeftovers(
  cluster: Cluster,
  {
    log,
    server,
    usesSandboxes,
  }: { readonly server: string; readonly usesSandboxes: boolean; readonly log: PlacementLog },
): Promise<void> {
  const selector = `${labels.managedBy}=shoal,${labels.part}=session,${labels.server}!=${server}`;
  try {
    const pods = await cluster.pods(selector);
    const over = new Set(pods.filter(isOver).map(instanceOf));
    const sandboxes = usesSandboxes ? await cluster.sandboxes(selector) : [];
    const objects = [
      ...sandboxes
        .filter((sandbox) => over.has(instanceOf(sandbox)) || isExpired(sandbox))
        .map(({ metadata }) => ({ metadata, apiVersion: sandboxVersion, kind: "Sandbox" })),
      ...pods.filter(isOver).map(({ metadata }) => ({ metadata, apiVersion: "v1", kind: "Pod" })),
    ];
    for (const { apiVersion, kind, metadata } of objects) {
      const { name = "", namespace = cluster.namespace } = metadata ?? {};
      await cluster.remove({ apiVersion, kind, metadata: { name, namespace } }, 0);
      log.info({ name, kind }, "Removed a pod of a killed server.");
    }
  } catch (error) {
    log.warn({ error: messageOf(error) }, "Cannot look for pods of killed servers.");
  }
}

function instanceOf({ metadata }: Pick<Pod, "metadata">): string {
  return metadata?.labels?.[labels.instance] ?? "";
}

function isOver(pod: Pod): boolean {
  const { phase } = podState(pod);
  if (phase === "waiting") return sinceMs(pod.metadata?.creationTimestamp) > startMs;
  const finished = pod.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt;
  // Its server may be reading what it printed.
  return phase === "ended" && sinceMs(finished ?? pod.metadata?.creationTimestamp) > readMs;
}

function isExpired({ spec }: Sandbox): boolean {
  return spec?.shutdownTime !== undefined && Date.parse(spec.shutdownTime) < Date.now();
}

function sinceMs(time: Date | string | undefined): number {
  return time === undefined ? 0 : Date.now() - new Date(time).getTime();
}
