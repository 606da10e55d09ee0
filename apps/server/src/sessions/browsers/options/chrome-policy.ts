import { instanceControl } from "@shoal/instance";
import { callInstance, type ChromePolicies, type Instance, InstanceRefusal } from "@shoal/placement";
import { ServiceError } from "@shoal/router";

/** A browser restart takes some seconds on a busy machine. */
const applyTimeoutMs = 60_000;

/** Pages stay open, unless the policies require a browser restart. */
export async function applyPolicies(instance: Instance, policies: ChromePolicies): Promise<void> {
  const revision = await instance.setPolicies(policies);
  try {
    await callInstance(instance, instanceControl.reloadPolicies, {
      body: { revision },
      signal: AbortSignal.timeout(applyTimeoutMs),
    });
  } catch (error) {
    if (!(error instanceof InstanceRefusal)) throw error;
    const { hint, problem } = error;
    const what = `The session's browser cannot apply the policies: ${problem}`;
    throw new ServiceError(500, "internal_error", what, { hint, cause: error });
  }
}
