import type { AssignInstance } from "@shoal/instance";
import type { Instance } from "@shoal/placement";

/** An instance answers within a millisecond; only a page that is to be seen from its first request on takes longer. */
const assignTimeoutMs = 10_000;

/** Tells an instance more of the session that it serves. Its time without use begins anew. @returns whether it takes it: one that is ending does not. */
export async function assignAgain(instance: Instance, assign: AssignInstance, signal = AbortSignal.timeout(assignTimeoutMs)): Promise<boolean> {
  const answer = await instance.request({ method: "POST", path: "/_instance/assign", headers: { "content-type": "application/json" }, signal }, JSON.stringify(assign));
  answer.resume();
  return answer.statusCode === 200;
}
