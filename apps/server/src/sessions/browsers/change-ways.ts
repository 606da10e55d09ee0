import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { seenWishes, type SeenOptions } from "./options/seen-change.ts";
import { assignAgain } from "./start/assign-again.ts";

/** A browser restart takes some seconds on a busy machine. */
const applyTimeoutMs = 60_000;

/** The ways out of a session that its browser must trust. */
export type TrustedWays = Pick<Instance, "exitHeaders" | "upstream">;

/** Certificates of authorities as PEM; empty for none. */
export function trustedBy({ exitHeaders, upstream }: TrustedWays): string {
  return [upstream?.authorities ?? [], exitHeaders?.authority.certificate ?? []].flat().join("\n");
}

/**
 * Restarts the browser if the trusted authorities change. Changes of one session must not overlap, because the
 * browser's authorities and its ways must match.
 * @throws {ServiceError} 500 if the browser rejects the authorities; the ways are then unchanged.
 */
export async function changeWays(
  instance: Instance,
  session: { readonly id: string; readonly timeoutSeconds: number },
  ways: TrustedWays,
): Promise<void> {
  const trusted = trustedBy(ways);
  if (trusted !== trustedBy(instance)) await trust(instance, session, trusted);
  // After the authorities: the old proxy cannot sign with a new authority, but the new one might with an old authority.
  if (ways.upstream !== instance.upstream) instance.setUpstream(ways.upstream);
  if (ways.exitHeaders !== instance.exitHeaders) instance.setExitHeaders(ways.exitHeaders);
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
      `The session keeps its old proxy and headers, because its browser did not accept the new certificate authorities: ${refusal}`,
    );
}

/** Restarts the browser if it differs. @throws {ServiceError} 500 if the browser cannot start with them. */
export async function changeSeen(
  instance: Instance,
  { id, timeoutSeconds }: { readonly id: string; readonly timeoutSeconds: number },
  options: SeenOptions,
): Promise<void> {
  const launch = seenWishes(options);
  if (launch.locale !== undefined) await instance.setLocale(launch.locale);
  const refusal = await assignAgain(
    instance,
    { session_id: id, timeout_seconds: timeoutSeconds, launch },
    AbortSignal.timeout(applyTimeoutMs),
  );
  if (refusal !== undefined)
    throw new ServiceError(
      500,
      "internal_error",
      `The session keeps its old location and conditions, because its browser did not start with the new ones: ${refusal}`,
    );
}
