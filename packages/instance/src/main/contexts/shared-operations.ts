import type { Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";

export const sharedHint = 'Create the session without isolation: "context".';

/** Operations that a session of a shared browser cannot have, by the beginnings of their ids, and the reasons. */
const refusedAreas: readonly (readonly [prefix: string, reason: string])[] = [
  ["browsers.process.", "programs of the session could read the files of the other sessions"],
  ["browsers.playwright.", "its code runs as a program, which could read the files of the other sessions"],
  ["browsers.computer.", "its input and screenshots belong to the screen of the whole browser"],
  ["browsers.logs.", "the log of the browser is about all its sessions"],
  ["browsers.loadExtensions", "extensions belong to the whole browser"],
  ["browsers.curl", "it opens targets that the other sessions would share"],
];

/** @returns why a session of a shared browser cannot have the operation. */
export function sharedRefusal(operationId: string): ServiceError | undefined {
  const [, reason] = refusedAreas.find(([prefix]) => operationId.startsWith(prefix)) ?? [];
  if (reason === undefined) return undefined;
  return new ServiceError(400, "bad_request", `${operationId} is not available with isolation: "context": ${reason}`, {
    field: "isolation",
    hint: sharedHint,
  });
}

/** Replaces the handlers of operations that a session of a shared browser cannot have. */
export function shareable<Handlers extends object>(
  endpoints: Readonly<Record<string, Endpoint>>,
  handlers: Handlers,
): Handlers {
  const replaced = Object.entries(handlers).map(([name, handler]: [string, unknown]) => {
    const endpoint = endpoints[name];
    const refusal = endpoint === undefined ? undefined : sharedRefusal(endpoint.operationId);
    return [name, refusal === undefined ? handler : () => Promise.reject(refusal)];
  });
  return Object.fromEntries(replaced) as Handlers;
}
