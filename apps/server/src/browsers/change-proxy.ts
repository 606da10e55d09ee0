import type { EgressUpstream, Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { assignAgain } from "./assign-again.ts";

/** A browser that has to be started again takes some seconds on a busy machine. */
const applyTimeoutMs = 60_000;

/** The latest change of each: what a browser trusts, and where its traffic goes, belong together. */
const changing = new WeakMap<Instance, Promise<unknown>>();

/**
 * Has a running session leave by another proxy server, or by none. Its browser is started again where it has to trust other authorities than before.
 *
 * @param session - the session, as the instance knows it.
 * @throws {ServiceError} 500 when its browser cannot be told of other authorities; it then leaves as before.
 */
export function changeProxy(
  instance: Instance,
  session: { readonly id: string; readonly timeoutSeconds: number },
  upstream: EgressUpstream | undefined,
): Promise<void> {
  const change = async (): Promise<void> => {
    if (upstream?.authorities !== instance.upstream?.authorities) await trust(instance, session, upstream?.authorities ?? "");
    // Only now: a new authority is trusted on the old way for a moment, where nobody can sign with it, and an old one never on the new.
    instance.setUpstream(upstream);
  };
  const changed = (changing.get(instance) ?? Promise.resolve()).then(change);
  changing.set(
    instance,
    changed.catch(() => undefined),
  );
  return changed;
}

async function trust(
  instance: Instance,
  { id, timeoutSeconds }: { readonly id: string; readonly timeoutSeconds: number },
  authorities: string,
): Promise<void> {
  const refusal = await assignAgain(instance, { session_id: id, timeout_seconds: timeoutSeconds, authorities }, AbortSignal.timeout(applyTimeoutMs));
  if (refusal !== undefined)
    throw new ServiceError(
      500,
      "internal_error",
      `The session's browser could not be told which authorities to trust behind its new proxy, and keeps the old one: ${refusal}`,
    );
}
