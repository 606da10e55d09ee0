import { type Instance, PlacementError } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";
import type { RunningSession } from "./running-session.ts";
import { hasEnded, isBusy, noAnswer } from "./session-errors.ts";

/** A connection breaks a moment before the end of its instance is known. */
const endKnownMs = 1_000;
const crashes: ReadonlySet<string> = new Set(["browser_crashed", "instance_lost"]);

/** Whether an instance is gone, or goes within a moment. */
export async function endsAtOnce({ ended }: Pick<Instance, "ended">): Promise<boolean> {
  return Promise.race([ended.then(() => true), delay(endKnownMs, false, { ref: false })]);
}

/** Why an instance gave no answer: its session was ended, the server stops, or it was lost. */
async function explain(instance: Instance, session: RunningSession, cause: unknown): Promise<ServiceError> {
  const { id } = session.row;
  if (session.ending === undefined && !isBusy(cause)) await endsAtOnce(instance);
  const { ending } = session;
  if (ending === undefined || crashes.has(ending.reason)) return noAnswer(cause, id);
  if (ending.reason === "server_stopped")
    return new ServiceError(503, "shutting_down", "The server is stopping, and the session ended with it. Create another session in a moment.", {
      retryAfterSeconds: 2,
      cause,
    });
  return hasEnded(id, ending.reason, ending.at);
}

/**
 * An instance for requests on behalf of clients: what gets no answer fails with an error that tells the client why.
 *
 * @returns the instance, whose `request` and `connect` throw {@link ServiceError}: 404 for a session that was ended, 503 where the server stops or the instance was lost.
 */
export function answeringInstance(instance: Instance, session: RunningSession): Instance {
  const explained = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw PlacementError.isInstance(error) && error.code === "instance_lost" ? await explain(instance, session, error) : error;
    }
  };
  const own: Pick<Instance, "request" | "connect"> = {
    request: (...given) => explained(instance.request(...given)),
    connect: () => explained(instance.connect()),
  };
  // The other members stay those of the instance: `upstream` is a getter.
  return Object.assign(Object.create(instance) as Instance, own);
}
