import { answerText, type ChromePolicies, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";

/** A browser that has to be started again for it takes some seconds on a busy machine. */
const applyTimeoutMs = 60_000;

/** Gives a running session other policies; they hold when it resolves. Its pages stay, unless its browser has to be started again. */
export async function applyPolicies(instance: Instance, policies: ChromePolicies): Promise<void> {
  const revision = await instance.setPolicies(policies);
  const answer = await instance.request(
    { method: "POST", path: "/_instance/policies", headers: { "content-type": "text/plain" }, signal: AbortSignal.timeout(applyTimeoutMs) },
    revision,
  );
  const said = await answerText(answer);
  if (answer.statusCode !== 204)
    throw new ServiceError(500, "internal_error", `The session's browser could not take its new policies: ${said.slice(0, 500)}`);
}
