import type { AuditLogEntry, Browser, Replay, TelemetryEnvelope } from "@shoal/schemas";
import { durationText, endings } from "../../../base/texts.ts";
import { actionOf } from "../telemetry/actions.ts";

export interface LifeEvent {
  readonly key: string;
  readonly atMs: number;
  readonly title: string;
  /** Content of the session may be in it: shown as text only. */
  readonly detail?: string | undefined;
  /** Output of a program: in its own lines. */
  readonly output?: string | undefined;
  readonly isBad?: boolean | undefined;
  /** Causes have lower ranks than effects of the same millisecond. Default `usualRank`. */
  readonly rank?: number | undefined;
}

const usualRank = 4;
/** A kill for memory crashes a program, and a crash disconnects clients and ends recordings. */
const ranks: Readonly<Record<string, number>> = { system_oom_kill: 2, service_crashed: 3 };

export interface LifeSources {
  readonly browser: Browser;
  readonly replays: readonly Replay[];
  readonly telemetry: readonly TelemetryEnvelope[];
  /** For administrators; otherwise empty. */
  readonly audit: readonly AuditLogEntry[];
}

/** Newest lines that the page shows. */
export const maxLifeEvents = 200;

/** What happened to a session, oldest first. */
export function lifeEvents({ audit, browser, replays, telemetry }: LifeSources): LifeEvent[] {
  const hasAuthor = browser.lifecycle?.ended_by !== undefined;
  const has = (type: string) => telemetry.some(({ event }) => event.type === type);
  const hasHandoffs = has("handoff");
  const events = [
    ...startOf(browser),
    ...replays.flatMap(recordingEvents),
    ...telemetry.flatMap(telemetryEvent),
    // Telemetry has more of a handoff: when the person took control.
    ...audit
      .filter(({ operation = "" }) => !(hasHandoffs && operation.startsWith("browsers.handoff.")))
      // The last line names the author of the end.
      .filter(({ operation, status }) => !(operation === "browsers.delete" && status < firstRefusal && hasAuthor))
      .flatMap(auditEvent),
    // Their times are unknown. Telemetry has each sleep and crash with its time.
    ...(has("session_sleep") ? [] : sleepsOf(browser)),
    ...(has("service_crashed") ? [] : crashOf(browser)),
  ].sort(byTimeAndCause);
  return [...events, ...endOf(browser)];
}

/** Sources have milliseconds or microseconds, so causes and effects can have the same time. */
function byTimeAndCause(one: LifeEvent, other: LifeEvent): number {
  return Math.floor(one.atMs) - Math.floor(other.atMs) || (one.rank ?? usualRank) - (other.rank ?? usualRank);
}

const starts: Readonly<Record<string, string>> = {
  warm: "It took a browser that was waiting (warm).",
  cold: "A browser was started for it (cold).",
};

function startOf({ created_at, lifecycle, pool }: Browser): LifeEvent[] {
  const { first_used_at: usedAt, start = "" } = lifecycle ?? {};
  const details = [pool && `Leased from the pool ${pool.name ?? pool.id}.`, starts[start]].filter(Boolean).join(" ");
  return [
    { key: "start", atMs: Date.parse(created_at), title: "Started", detail: details, rank: 0 },
    ...(usedAt === undefined
      ? []
      : [{ key: "use", atMs: Date.parse(usedAt), title: "Used for the first time", rank: 1 }]),
  ];
}

const usedMs = ({ created_at, lifecycle }: Browser): number => Date.parse(lifecycle?.first_used_at ?? created_at);

function sleepsOf(browser: Browser): LifeEvent[] {
  const { sleeps = 0 } = browser.lifecycle ?? {};
  if (sleeps === 0) return [];
  return [{ key: "sleep", atMs: usedMs(browser), title: `Slept ${sleeps} ${sleeps === 1 ? "time" : "times"}` }];
}

function crashOf(browser: Browser): LifeEvent[] {
  const { browser_restarts = 0, lifecycle } = browser;
  if (browser_restarts === 0) return [];
  return [
    {
      key: "crash",
      atMs: usedMs(browser),
      title: "Its browser crashed, and started again",
      detail: lifecycle?.ended_detail === undefined ? "A second crash ends the session." : undefined,
      isBad: true,
    },
  ];
}

function recordingEvents({ failure_reason, finished_at, replay_id: id, started_at }: Replay): LifeEvent[] {
  return [
    ...(started_at == null ? [] : [{ key: `film ${id}`, atMs: Date.parse(started_at), title: "Recording started" }]),
    ...(finished_at == null
      ? []
      : [
          {
            key: `film end ${id}`,
            atMs: Date.parse(finished_at),
            title: "Recording stopped",
            detail: failure_reason,
            isBad: failure_reason !== undefined,
          },
        ]),
  ];
}

const moments = new Set([
  "cdp_connect",
  "cdp_disconnect",
  "live_view_connect",
  "live_view_disconnect",
  "handoff",
  "session_sleep",
  "session_wake",
  "network_refused",
  "proxy_error",
  "system_oom_kill",
  "service_crashed",
]);

function telemetryEvent({ event, seq }: TelemetryEnvelope): LifeEvent[] {
  const action = moments.has(event.type) ? actionOf(event) : undefined;
  if (action === undefined) return [];
  return [
    { key: `event ${seq}`, atMs: event.ts / 1000, title: action.text, isBad: action.isError, rank: ranks[event.type] },
  ];
}

const changes: Readonly<Record<string, string>> = {
  "browsers.update": "Its settings were changed",
  "browsers.extend": "Its maximum duration was extended",
  "browsers.fork": "It was forked",
  "browsers.snapshot": "A snapshot was taken",
  "browsers.delete": "A request ended it",
  "browsers.handoff.request": "A person was asked to help",
  "browsers.handoff.release": "A program ended the handoff",
  "browsers.handoff.cancel": "The handoff was canceled",
  "browsers.liveViewLinks.create": "A link to the live view was created",
  "browsers.liveViewLinks.delete": "A link to the live view was deleted",
};
const firstRefusal = 400;

function auditEvent({
  email,
  event_id,
  operation = "",
  sequence,
  status,
  timestamp,
  user_id,
}: AuditLogEntry): LifeEvent[] {
  const title = changes[operation];
  if (title === undefined) return [];
  const isRefused = status >= firstRefusal;
  return [
    {
      key: `audit ${event_id ?? sequence ?? timestamp}`,
      atMs: Date.parse(timestamp),
      title: isRefused ? `${title}: refused with ${status}` : title,
      detail: `By ${email === "" ? user_id : email}`,
      isBad: isRefused,
    },
  ];
}

function endOf(browser: Browser): LifeEvent[] {
  const { deleted_at, ended_reason = "deleted", lifecycle, usage } = browser;
  if (deleted_at === undefined) return [];
  return [
    {
      key: "end",
      atMs: Date.parse(deleted_at),
      title: endTitle(browser),
      detail: usage === undefined ? undefined : `It ran for ${durationText(usage.uptime_ms)}.`,
      output: lifecycle?.ended_detail,
      isBad: ended_reason === "browser_crashed" || ended_reason === "instance_lost",
    },
  ];
}

/** The reason and the author of the end of a session. */
export function endTitle({ ended_reason = "deleted", lifecycle, timeout_seconds }: Browser): string {
  const { ended_by: by } = lifecycle ?? {};
  const name = by?.name ?? by?.id ?? "";
  if (ended_reason === "timeout")
    return `Ended: it was unused for its timeout of ${durationText(timeout_seconds * 1000)}`;
  if (ended_reason === "instance_lost")
    return lifecycle?.ended_detail === undefined
      ? "Ended: its server was lost, or stopped without ending it"
      : "Ended: its process was lost";
  if (ended_reason === "server_stopped") return "Ended: its server was stopped or drained";
  if (by?.type === "api_key") return `Ended by a request with the API key ${name}`;
  if (by?.type === "user") return `Ended by ${name}`;
  if (by?.type === "pool") return `Ended by its pool ${name}`;
  if (by?.type === "invocation") return `Ended with its invocation ${name}`;
  if (by?.type === "login") return "Ended with its sign-in";
  const text = endings[ended_reason];
  return `Ended: ${text === undefined ? ended_reason : text.charAt(0).toLowerCase() + text.slice(1, -1)}`;
}
