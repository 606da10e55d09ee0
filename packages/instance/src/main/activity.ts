import { setImmediate } from "node:timers/promises";
import type { BrowserSupervisor } from "../browser/chromium/supervisor.ts";
import type { CdpGateway } from "../clients/cdp/gateway.ts";
import type { Telemetry } from "../operations/telemetry/telemetry.ts";
import type { RestQuestion, RestReport } from "../protocol/protocol.ts";

export interface Activity {
  /** Time of the last use, in milliseconds since 1970; `null` while the instance is in use. */
  readonly idleSinceMs: number | null;
  readonly uses: number;
  /** Until the timeout, in milliseconds; `null` while its timer does not run. */
  readonly expiresInMs: number | null;
  /** Counts a use. The returned function ends it and may be called again. */
  begin(): () => void;
  /** Starts the idle timer, now or at the end of the last use. Restarts it when called again. */
  limit(timeoutMs: number): void;
  stop(): void;
}

export interface ActivityOptions {
  /** Of several changes within {@link quietMs}, only the last is reported. */
  readonly onChange: (idleSinceMs: number | null) => void;
  readonly onTimeout: () => void;
}

/** A client that makes many short calls must not cause two events for each. */
const quietMs = 100;

export function trackActivity({ onChange, onTimeout }: ActivityOptions): Activity {
  let uses = 0;
  let idleSinceMs: number | null = Date.now();
  let told: number | null = idleSinceMs;
  let quiet: NodeJS.Timeout | undefined;
  let timeoutMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let armedAtMs = 0;

  function tell(): void {
    if (quiet !== undefined || told === idleSinceMs) return;
    told = idleSinceMs;
    onChange(told);
    quiet = setTimeout(() => {
      quiet = undefined;
      tell();
    }, quietMs).unref();
  }

  function arm(): void {
    clearTimeout(timer);
    armedAtMs = performance.now();
    // Timers use a monotonic clock, unlike the reported time.
    timer = timeoutMs === undefined || uses > 0 ? undefined : setTimeout(onTimeout, timeoutMs);
  }

  return {
    get idleSinceMs() {
      return idleSinceMs;
    },
    get uses() {
      return uses;
    },
    get expiresInMs() {
      if (timeoutMs === undefined || uses > 0) return null;
      return Math.max(0, Math.round(armedAtMs + timeoutMs - performance.now()));
    },
    begin() {
      uses++;
      idleSinceMs = null;
      clearTimeout(timer);
      tell();
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        uses--;
        if (uses > 0) return;
        idleSinceMs = Date.now();
        arm();
        tell();
      };
    },
    limit(limitMs) {
      timeoutMs = limitMs;
      if (uses === 0) idleSinceMs = Date.now();
      arm();
      tell();
    },
    stop() {
      timeoutMs = undefined;
      clearTimeout(timer);
      clearTimeout(quiet);
    },
  };
}

interface RestParts {
  readonly activity: Pick<Activity, "expiresInMs" | "uses">;
  readonly browser: Pick<BrowserSupervisor, "downloads" | "ready">;
  readonly gateway: Pick<CdpGateway, "clients" | "isQuiet">;
  /** `undefined` before the first operation. */
  readonly operations: Promise<RestOperations> | undefined;
  readonly telemetry: Pick<Telemetry, "record"> | undefined;
  readonly isEnding: () => boolean;
}

interface RestOperations {
  readonly processes: { readonly running: number };
  readonly recordings: { running(): Promise<number> };
}

/** A CDP client that is connected and waits for nothing does not keep the session awake; any other use does. */
export async function reportRest(
  { copied, for_copy, idle_ms, slept }: RestQuestion,
  rest: RestParts,
): Promise<RestReport> {
  if (slept !== undefined)
    rest.telemetry?.record({
      type: "session_wake",
      category: "system",
      source: { kind: "local_process" },
      data: { asleep_ms: slept.ms, wake_ms: Math.max(0, Date.now() - slept.until_ms) },
    });
  if (copied !== undefined)
    rest.telemetry?.record({
      type: "session_fork",
      category: "system",
      source: { kind: "local_process" },
      data: { mode: "exact", paused_ms: copied.paused_ms },
    });
  const operations = await rest.operations;
  const recordings = (await operations?.recordings.running()) ?? 0;
  // Nothing else runs from here on, so that the report is consistent.
  const commands = operations?.processes.running ?? 0;
  const report = {
    busy: busyWith(rest, { recordings, commands, forCopy: for_copy === true }),
    expires_in_ms: rest.activity.expiresInMs,
  };
  if (report.busy === null && idle_ms !== undefined) {
    rest.telemetry?.record({
      type: "session_sleep",
      category: "system",
      source: { kind: "local_process" },
      data: { idle_ms },
    });
    // Sends the event before the answer, after which the service freezes this process.
    await setImmediate();
  }
  return report;
}

function busyWith(
  { activity, browser, gateway, isEnding }: RestParts,
  {
    commands,
    forCopy,
    recordings,
  }: { readonly commands: number; readonly forCopy: boolean; readonly recordings: number },
): string | null {
  if (isEnding()) return "the session is ending";
  if (!browser.ready) return "the browser is starting";
  if (!forCopy && activity.uses > gateway.clients)
    return "an operation, a viewer, a terminal, a BiDi client or a handoff";
  if (!forCopy && !gateway.isQuiet) return "a CDP client waits for an answer";
  if (recordings > 0) return "a recording";
  if (commands > 0) return "a process";
  return browser.downloads.list.running > 0 ? "a download" : null;
}
