import { type Instance, PlacementError } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import pTimeout from "p-timeout";
import { countedCalls } from "./clients/outside-use.ts";
import type { RunningSession } from "./running-session.ts";
import { isBusy, noAnswer } from "../instance-plane/no-answer.ts";
import { hasEnded } from "./session-errors.ts";

/** A connection breaks shortly before the end of its instance is known. */
const endKnownMs = 1_000;
const crashes: ReadonlySet<string> = new Set(["browser_crashed", "instance_lost"]);

/** True if the instance ends within {@link endKnownMs}. */
export async function endsAtOnce({ ended }: Pick<Instance, "ended">): Promise<boolean> {
  return pTimeout(
    ended.then(() => true),
    { milliseconds: endKnownMs, fallback: () => false },
  );
}

async function explain(instance: Instance, session: RunningSession, cause: unknown): Promise<ServiceError> {
  const { id } = session.row;
  if (session.ending === undefined && !isBusy(cause)) await endsAtOnce(instance);
  const { ending } = session;
  if (ending === undefined || crashes.has(ending.reason)) return noAnswer(cause, id);
  if (ending.reason === "server_stopped")
    return new ServiceError(503, "shutting_down", "The server is stopping, and the session ended with it.", {
      hint: "Create another session in a moment.",
      retryAfterSeconds: 2,
      cause,
    });
  return hasEnded(id, ending.reason, ending.at);
}

/**
 * Requests count as uses of the session. Those without an answer fail with an error for the client.
 * @returns the instance; its `request` and `connect` throw {@link ServiceError}: 404 if the session was ended, 503 if
 * the server stops or the instance was lost.
 */
export function answeringInstance(instance: Instance, session: RunningSession): Instance {
  const explained = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw PlacementError.isInstance(error) && error.code === "instance_lost"
        ? await explain(instance, session, error)
        : error;
    }
  };
  const counted = countedCalls(instance, session.outsideUse);
  const own: Pick<Instance, "request" | "connect"> = {
    request: (...given) => explained(counted.request(...given)),
    connect: () => explained(counted.connect()),
  };
  // Members are read from and bound to the instance itself, because a class with private fields accepts no other
  // `this`.
  return new Proxy(instance, {
    get(target, name) {
      if (name === "request" || name === "connect") return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
