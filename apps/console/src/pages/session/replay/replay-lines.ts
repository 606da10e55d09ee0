import type { Replay, TelemetryEnvelope } from "@shoal/schemas";
import { durationText } from "../../../base/texts.ts";
import { chapterLines } from "../../../player/chapter-lines.ts";
import type { TimedLine } from "../../../player/timed-line.ts";
import { consoleLineOf } from "../telemetry/console-lines.ts";
import { actionOf } from "../telemetry/actions.ts";
import { firstErrorStatus, type NetworkRequest, requestsOf } from "../telemetry/requests.ts";

/** All lines of a recording, by time. Telemetry before its first picture is left out. */
export function replayLines(events: readonly TelemetryEnvelope[], { clock, marks = [] }: Replay): TimedLine[] {
  return inOrder([...chapterLines(marks), ...sessionLines(events, (clock?.started_ts ?? 0) / 1000)]);
}

const inOrder = (lines: TimedLine[]): TimedLine[] => lines.sort((one, other) => one.atSeconds - other.atSeconds);

/** Console lines, requests and actions after a moment, by time. */
export function sessionLines(events: readonly TelemetryEnvelope[], startedMs: number): TimedLine[] {
  const secondsAt = (ms: number) => (ms - startedMs) / 1000;
  const lines: TimedLine[] = [];
  for (const envelope of events) {
    const { event, seq } = envelope;
    const place = { key: `event ${seq}`, atSeconds: secondsAt(event.ts / 1000) };
    if (isOwn(event)) continue;
    if (event.category === "console") {
      const { level, text } = consoleLineOf(envelope);
      lines.push({ ...place, kind: "console", text, isError: level === "error" });
    } else {
      const action = actionOf(event);
      if (action !== undefined) lines.push({ ...place, kind: "action", ...action });
    }
  }
  for (const request of requestsOf(events)) lines.push(requestLine(request, secondsAt(request.startedMs)));
  return inOrder(lines.filter(({ atSeconds }) => atSeconds >= 0));
}

/** True for reads of telemetry, such as those of this page. */
const isOwn = ({ data, type }: TelemetryEnvelope["event"]): boolean =>
  (type === "api_call" || type === "platform_api_call") && operationOf({ ...data }).startsWith("browsers.telemetry.");

const operationOf = ({ operation_id }: Readonly<Record<string, unknown>>): string => String(operation_id);

function requestLine({ durationMs, failure, method, seq, status, url }: NetworkRequest, atSeconds: number): TimedLine {
  const outcome = failure === undefined ? (status === undefined ? "" : String(status)) : "failed";
  return {
    key: `request ${seq}`,
    kind: "network",
    atSeconds,
    endSeconds: durationMs === undefined ? undefined : atSeconds + durationMs / 1000,
    text: `${method} ${url.replace(/^https?:\/\//, "")}`,
    note: [outcome, durationMs === undefined ? "" : durationText(durationMs)].join(" ").trim(),
    isError: failure !== undefined || (status ?? 0) >= firstErrorStatus,
  };
}
