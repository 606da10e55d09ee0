import type { EgressUpstream, Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { assignAgain } from "./start/assign-again.ts";

/** A browser restart takes some seconds on a busy machine. */
const applyTimeoutMs = 60_000;

/**
 * Restarts the browser if the trusted authorities change. Changes of one session must not overlap, because the
 * browser's authorities and its upstream must match.
 * @throws {ServiceError} 500 if the browser rejects the authorities; the proxy is then unchanged.
 */
export async function changeProxy(
  instance: Instance,
  session: { readonly id: string; readonly timeoutSeconds: number },
  upstream: EgressUpstream | undefined,
): Promise<void> {
  if (upstream?.authorities !== instance.upstream?.authorities)
    await trust(instance, session, upstream?.authorities ?? "");
  // After the authorities: the old proxy cannot sign with a new authority, but the new one might with an old authority.
  instance.setUpstream(upstream);
}

async function trust(
  instance: Instance,
  { id, timeoutSeconds }: { readonly id: string; readonly timeoutSeconds: number },
  authorities: string,
): Promise<void> {
  const refusal = await assignAgain(
    instance,
    { session_id: id, timeout_seconds: timeoutSeconds, authorities },
    AbortSignal.timeout(applyTimeoutMs),
  );
  if (refusal !== undefined)
    throw new ServiceError(
      500,
      "internal_error",
      `The session keeps its old proxy, because its browser did not accept the certificate authorities of the new one: ${refusal}`,
    );
}
