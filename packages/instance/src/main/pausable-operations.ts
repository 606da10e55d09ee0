import type { Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { Refusal } from "../http/replies.ts";
import { type AutomationPause, handoffRefusal } from "../pause/automation-pause.ts";

interface Call {
  readonly signal: AbortSignal;
}
type AnyHandler = (call: Call) => unknown;

/** Wraps the handlers of operations that change pages, or start programs that can. */
export function pausable<Handlers extends object>(
  endpoints: Readonly<Record<string, Endpoint>>,
  handlers: Handlers,
  pause: AutomationPause,
): Handlers {
  const wrapped = Object.entries(handlers as Readonly<Record<string, AnyHandler>>).map(([name, handler]) => {
    const endpoint = endpoints[name];
    const continues = endpoint === undefined || endpoint.inSession?.handoff === "continues";
    return [name, continues ? handler : pausing(endpoint, handler, pause)];
  });
  return Object.fromEntries(wrapped) as Handlers;
}

function pausing({ inSession }: Endpoint, handler: AnyHandler, pause: AutomationPause): AnyHandler {
  return async (call) => {
    const refusal = await pause.admit(call.signal);
    if (refusal !== undefined) throw errorOf(refusal);
    // A handoff delays new commands, but does not end running ones.
    if (inSession?.handoff === "waits") return handler(call);
    return pause.run(async (stop) => {
      try {
        return await handler({ ...call, signal: AbortSignal.any([call.signal, stop]) });
      } catch (error) {
        throw stop.aborted ? errorOf(handoffRefusal, error) : error;
      }
    });
  };
}

function errorOf({ code, hint, message, status }: Refusal, cause?: unknown): ServiceError {
  // The message of a ServiceError ends with its hint.
  const problem = hint === undefined ? message : message.slice(0, -hint.length).trimEnd();
  return new ServiceError(status, code, problem, { hint, cause });
}
