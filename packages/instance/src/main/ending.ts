import pTimeout from "p-timeout";
import { log } from "../system/log.ts";
import type { InstanceEvent } from "../protocol/protocol.ts";
import type { Activity } from "./activity.ts";
import type { EventFeed } from "./event-feed.ts";
import type { Parts } from "./parts.ts";

type EndingEvent = Extract<InstanceEvent, { type: "ending" }>;

const closeOperationsTimeoutMs = 500;
/** For the service to save the profile after the timeout. */
const saveTimeoutMs = 150_000;
const finishTelemetryTimeoutMs = 1_000;
/** For recordings to be written and read by the service. */
const finishReplaysTimeoutMs = 10_000;

export interface Ending {
  readonly begun: boolean;
  end(event: EndingEvent): Promise<void>;
  /** `reason` is the session's `ended_reason`, if the instance knows it. */
  settle(reason: string | undefined): Promise<unknown>;
  /** Ends a session after its idle timeout, once the service has saved the profile. */
  expire(): Promise<void>;
}

interface EndingOptions {
  readonly activity: Activity;
  readonly feed: EventFeed;
  readonly parts: Pick<Parts, "liveView" | "operations" | "telemetry">;
  /** Closes CDP and WebDriver BiDi connections; without a close frame when `reason` is absent. */
  readonly closeClients: (code: number, reason: string | undefined) => void;
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
    // A browser that cannot run may crash twice before the service follows the events.
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
    const { operations } = parts;
    settling = Promise.all([
      finishTelemetry(),
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

  async function finishTelemetry(): Promise<void> {
    const { operations, telemetry } = parts;
    if (telemetry.present === undefined) return;
    await telemetry.present.close();
    await atMost(
      finishTelemetryTimeoutMs,
      operations.begun?.then((loaded) => loaded.finishTelemetry()),
    );
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
  // The instance ended on its own because the service is gone.
  return detail === undefined ? undefined : "server_stopped";
}

async function atMost(milliseconds: number, work: Promise<unknown> | undefined): Promise<void> {
  if (work !== undefined) await pTimeout(work, { milliseconds }).catch(() => undefined);
}
