import { log } from "../log.ts";
import type { InstanceEvent } from "../protocol.ts";
import type { Activity } from "./activity.ts";
import type { EventFeed } from "./event-feed.ts";
import type { Parts } from "./parts.ts";

type EndingEvent = Extract<InstanceEvent, { type: "ending" }>;

/** Time for readers of streams to see their end. */
const closeOperationsTimeoutMs = 500;
/** Time for the service to take what the browser leaves, after the timeout of a session that saves its profile. */
const saveTimeoutMs = 150_000;
/** Time for the recordings to be written and handed to the service. */
const finishReplaysTimeoutMs = 10_000;

/** How a session ends. */
export interface Ending {
  /** Nothing is begun any more. */
  readonly begun: boolean;
  /** Ends the session, and with it the process. */
  end(event: EndingEvent): Promise<void>;
  /**
   * Lets everybody go, and hands over what they have recorded.
   *
   * @param reason - the session's `ended_reason`; `undefined` when only the service knows it, which then adds it to the connections that end.
   */
  settle(reason: string | undefined): Promise<unknown>;
  /** Ends a session that was not used for its timeout; the service is to take what the browser leaves, before it ends the instance. */
  expire(): Promise<void>;
}

interface EndingOptions {
  readonly activity: Activity;
  readonly feed: EventFeed;
  readonly parts: Pick<Parts, "liveView" | "operations" | "telemetry">;
  /** Closes the connections of CDP and WebDriver BiDi; without a close frame when there is no reason. */
  readonly closeClients: (code: number, reason: string | undefined) => void;
  /** Called last: nobody is left. */
  readonly shutDown: () => Promise<void>;
}

export function createEnding({ activity, feed, parts, closeClients, shutDown }: EndingOptions): Ending {
  let begun = false;
  let ended = false;
  let settling: Promise<unknown> | undefined;

  async function end(event: EndingEvent): Promise<void> {
    if (ended) return;
    ended = true;
    begun = true;
    log("info", "ending", { reason: event.reason });
    activity.stop();
    // A browser that does not run at all may have crashed twice before anybody follows the events.
    await feed.end(event, event.reason === "browser_crashed");
    await settle(reasonOf(event));
    await shutDown();
  }

  function settle(reason: string | undefined): Promise<unknown> {
    if (settling !== undefined) return settling;
    begun = true;
    activity.stop();
    closeClients(1001, reason);
    parts.liveView.ifBegun((liveView) => {
      liveView.closeAll(1001, reason ?? "the session ended");
    });
    const { operations, telemetry } = parts;
    settling = Promise.all([
      telemetry.present?.close(),
      atMost(
        closeOperationsTimeoutMs,
        operations.begun?.then((loaded) => loaded.close()),
      ),
      atMost(
        finishReplaysTimeoutMs,
        operations.begun?.then((loaded) => loaded.finishReplays()),
      ),
    ]);
    return settling;
  }

  return {
    get begun() {
      return begun;
    },
    end,
    settle,
    async expire() {
      if (begun) return;
      log("info", "expired", {});
      void settle("timeout");
      feed.send({ type: "expired" });
      const timeout = Promise.withResolvers<undefined>();
      setTimeout(timeout.resolve, saveTimeoutMs, undefined);
      await timeout.promise;
      await end({ type: "ending", reason: "timeout" });
    },
  };
}

function reasonOf({ detail, reason }: EndingEvent): string | undefined {
  if (reason !== "stopped") return reason;
  // Its own choice: the service is gone.
  return detail === undefined ? undefined : "server_stopped";
}

/** Waits for work, whether it succeeds or not; not for longer than that. */
async function atMost(timeoutMs: number, work: Promise<unknown> | undefined): Promise<void> {
  if (work === undefined) return;
  const timeout = Promise.withResolvers<undefined>();
  setTimeout(timeout.resolve, timeoutMs, undefined);
  await Promise.race([work.catch(() => undefined), timeout.promise]);
}
