import type { Endpoint } from "@shoal/contract";
import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import pTimeout from "p-timeout";
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
    return untilHandoff(pause, call.signal, async (signal) => handler({ ...call, signal }));
  };
}

/** Runs work that the beginning of a handoff stops. @throws {ServiceError} 409 `handoff_active` then. */
function untilHandoff<Result>(
  pause: AutomationPause,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return pause.run(async (stop) => {
    try {
      return await work(anySignal([caller, stop]));
    } catch (error) {
      throw stop.aborted ? errorOf(handoffRefusal, error) : error;
    }
  });
}

/** The service has seen no handoff, but the end of one may arrive here later. */
const lateEndMs = 5_000;

/** @throws {ServiceError} 409 `handoff_active` while a person has the session. */
export async function requireNoHandoff(pause: AutomationPause, caller: AbortSignal): Promise<void> {
  await pTimeout(pause.whenOver(), { milliseconds: lateEndMs, fallback: () => undefined, signal: caller });
  if (pause.isActive) throw errorOf(handoffRefusal);
}

/** Runs a step of a flow. @throws {ServiceError} 409 `handoff_active` while a person has the session, and when one takes it. */
export async function replayUntilHandoff<Result>(
  pause: AutomationPause,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  await requireNoHandoff(pause, caller);
  return untilHandoff(pause, caller, work);
}

function errorOf({ code, hint, message, status }: Refusal, cause?: unknown): ServiceError {
  // The message of a ServiceError ends with its hint.
  const problem = hint === undefined ? message : message.slice(0, -hint.length).trimEnd();
  return new ServiceError(status, code, problem, { hint, cause });
}
