import type { Exit } from "../../boxes/box.ts";
import type { InstanceEnd } from "../../interface/placement.ts";

/** What an ended box says about its instance. @param reported - what the instance said, or why it was ended. */
export function instanceEndOf(exit: Exit, reported: InstanceEnd | undefined, lastLines: string): InstanceEnd {
  // An instance also reports "stopped" when its parent was killed, and when Kubernetes ends its pod.
  const wasKilled = exit.signal === "SIGKILL" || exit.code === 137;
  const isOwnEnd = reported?.reason !== "stopped" || (!wasKilled && exit.reason === undefined);
  if (reported !== undefined && isOwnEnd) return reported;
  if (exit.reason !== undefined) return { reason: "instance_lost", detail: exit.reason };
  const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
  return {
    reason: "instance_lost",
    detail: `The instance ended with ${how}.${lastLines === "" ? "" : ` Its last lines:\n${lastLines}`}`,
  };
}
