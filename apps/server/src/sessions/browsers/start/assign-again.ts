import { type AssignInstance, instanceControl } from "@shoal/instance";
import { callInstance, type Instance, InstanceRefusal } from "@shoal/placement";

/** An instance answers within a millisecond, unless it starts to capture telemetry first. */
const assignTimeoutMs = 10_000;

/** Also restarts the idle timer. @returns the reason for a refusal; `undefined` on success. */
export async function assignAgain(
  instance: Instance,
  assign: AssignInstance,
  signal = AbortSignal.timeout(assignTimeoutMs),
): Promise<string | undefined> {
  try {
    await callInstance(instance, instanceControl.assign, { body: assign, signal });
    return undefined;
  } catch (error) {
    if (error instanceof InstanceRefusal) return error.message;
    throw error;
  }
}
