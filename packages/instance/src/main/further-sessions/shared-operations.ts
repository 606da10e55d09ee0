import type { Endpoint, SessionPolicy } from "@shoal/contract";
import { ServiceError } from "@shoal/router";

export const sharedHint = 'Create the session without isolation: "context".';

const reasons: Readonly<Record<Exclude<SessionPolicy["shared"], true>, string>> = {
  programs: "programs of the session could read the files of the other sessions",
  scripts: "its code runs as a program, which could read the files of the other sessions",
  screen: "its input and screenshots belong to the screen of the whole browser",
  log: "the log of the browser is about all its sessions",
  extensions: "extensions belong to the whole browser",
  targets: "it opens targets that the other sessions would share",
};

/** @returns why a session of a shared browser cannot have the operation. */
export function sharedRefusal({ inSession, operationId }: Endpoint): ServiceError | undefined {
  const shared = inSession?.shared ?? "programs";
  if (shared === true) return undefined;
  const message = `${operationId} is not available with isolation: "context": ${reasons[shared]}`;
  return new ServiceError(400, "bad_request", message, { field: "isolation", hint: sharedHint });
}

/** Replaces the handlers of operations that a session of a shared browser cannot have. */
export function shareable<Handlers extends object>(
  endpoints: Readonly<Record<string, Endpoint>>,
  handlers: Handlers,
): Handlers {
  const replaced = Object.entries(handlers).map(([name, handler]: [string, unknown]) => {
    const endpoint = endpoints[name];
    const refusal = endpoint === undefined ? undefined : sharedRefusal(endpoint);
    return [name, refusal === undefined ? handler : () => Promise.reject(refusal)];
  });
  return Object.fromEntries(replaced) as Handlers;
}
