import type { Replay, TelemetryEnvelope } from "@shoal/schemas";
import { chapterLines } from "../../../player/chapter-lines.ts";
import type { TimedLine } from "../../../player/timed-line.ts";
import { actionOf } from "../telemetry/actions.ts";
import { firstErrorStatus, type NetworkRequest, requestsOf } from "../network/requests.ts";

/** All lines of a recording, by time. Telemetry before its first picture is left out. */
export function replayLines(events: readonly TelemetryEnvelope[], { clock, marks = [] }: Replay): TimedLine[] {
  const startedMs = (clock?.started_ts ?? 0) / 1000;
  const secondsAt = (ms: number) => (ms - startedMs) / 1000;
  const lines: TimedLine[] = [...chapterLines(marks)];
  for (const { event, seq } of events) {
    const place = { key: `event ${seq}`, atSeconds: secondsAt(event.ts / 1000) };
    if (event.category === "console") lines.push({ ...place, ...consoleText(event) });
    else {
      const action = actionOf(event);
      if (action !== undefined) lines.push({ ...place, kind: "action", ...action });
    }
  }
  for (const request of requestsOf(events)) lines.push(requestLine(request, secondsAt(request.startedMs)));
  return lines.filter(({ atSeconds }) => atSeconds >= 0).sort((one, other) => one.atSeconds - other.atSeconds);
}

function consoleText({ data, type }: TelemetryEnvelope["event"]): Pick<TimedLine, "kind" | "isError" | "text"> {
  const { args, text }: Readonly<Record<string, unknown>> = { ...data };
  const parts = Array.isArray(args) && args.length > 0 ? args.map(String) : [typeof text === "string" ? text : ""];
  return { kind: "console", text: parts.join(" "), isError: type === "console_error" };
}

function requestLine({ durationMs, failure, method, seq, status, url }: NetworkRequest, atSeconds: number): TimedLine {
  const outcome = failure === undefined ? (status === undefined ? "" : String(status)) : "failed";
  return {
    key: `request ${seq}`,
    kind: "network",
    atSeconds,
    text: `${method} ${url}`,
    note: [outcome, durationMs === undefined ? "" : `${Math.round(durationMs)} ms`].join(" ").trim(),
    isError: failure !== undefined || (status ?? 0) >= firstErrorStatus,
  };
}
