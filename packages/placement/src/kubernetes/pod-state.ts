import type { ContainerStatus, Pod } from "./objects.ts";

export type PodState =
  /**
   * `reason`: why it does not run yet, if Kubernetes said so. `isFinal`: it will not change without a person.
   * `lacksCapacity`: no node has room for it.
   */
  | { readonly phase: "waiting"; readonly reason?: string; readonly isFinal: boolean; readonly lacksCapacity?: boolean }
  | { readonly phase: "running"; readonly address: string }
  /** `reason`: absent if the program ended by its own decision. */
  | { readonly phase: "ended"; readonly code: number | null; readonly reason?: string };

/** ErrImagePull turns into one of these if it persists. */
const finalReasons: ReadonlySet<string | undefined> = new Set([
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "CrashLoopBackOff",
]);
const maxReasonCharacters = 500;

/** What Kubernetes reports about a pod of one container, in the words of an error for a person. */
export function podState(pod: Pod): PodState {
  const { status } = pod;
  const container = status?.containerStatuses?.[0];
  const terminated = container?.state?.terminated;
  if (status?.phase === "Failed" || status?.phase === "Succeeded" || terminated !== undefined)
    return ended(pod, terminated);
  if (status?.phase === "Running" && container?.state?.running !== undefined && status.podIP !== undefined)
    return { phase: "running", address: status.podIP };
  return waiting(pod, container);
}

function ended(pod: Pod, terminated: NonNullable<ContainerStatus["state"]>["terminated"]): PodState {
  const { message, reason } = pod.status ?? {};
  const code = terminated?.exitCode ?? null;
  // Evicted, Preempting, DeadlineExceeded, NodeShutdown.
  if (reason !== undefined) return { phase: "ended", code, reason: sentence("Kubernetes ended it", reason, message) };
  if (terminated?.reason === "OOMKilled")
    return { phase: "ended", code, reason: "it needed more memory than its limit (OOMKilled)" };
  if (pod.metadata?.deletionTimestamp !== undefined) return { phase: "ended", code, reason: deletionReason(pod) };
  return { phase: "ended", code };
}

/** Why a pod was deleted that the service did not delete. A drain and a preemption leave a condition, `kubectl delete` does not. */
export function deletionReason({ status }: Pod): string {
  const disruption = status?.conditions?.find(
    (condition) => condition.type === "DisruptionTarget" && condition.status === "True",
  );
  return disruption?.reason === undefined
    ? "it was deleted outside of the service"
    : sentence("Kubernetes ended it", disruption.reason, disruption.message);
}

function waiting(pod: Pod, container: ContainerStatus | undefined): PodState {
  const blocked = container?.state?.waiting;
  if (blocked?.reason !== undefined && blocked.reason !== "ContainerCreating" && blocked.reason !== "PodInitializing") {
    const reason = sentence("its container cannot start", blocked.reason, blocked.message);
    return { phase: "waiting", reason, isFinal: finalReasons.has(blocked.reason) };
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return {
      phase: "waiting",
      reason: sentence("it cannot be scheduled", scheduled.reason ?? "Pending", scheduled.message),
      isFinal: false,
      lacksCapacity: scheduled.reason === "Unschedulable",
    };
  return { phase: "waiting", isFinal: false };
}

function sentence(what: string, reason: string, message: string | undefined): string {
  return message === undefined || message === ""
    ? `${what} (${reason})`
    : `${what} (${reason}): ${message.slice(0, maxReasonCharacters).replace(/(?<!\.)\.+$/, "")}`;
}
