import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { clockText } from "../../../base/texts.ts";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import styles from "./lines.module.css";
import { TelemetryFrame } from "./telemetry-frame.tsx";

const lineHeight = 30;
const maxSummaryLength = 300;

export function EventsTab({ browser }: { readonly browser: Browser }) {
  return (
    <TelemetryFrame browser={browser} category={undefined}>
      {(events) => (
        <VirtualLines
          lines={events}
          keyOf={({ seq }) => seq}
          render={(line) => <EventLine line={line} />}
          label="Events of the session"
          height={lineHeight}
        />
      )}
    </TelemetryFrame>
  );
}

const shownFields = ["operation_id", "method", "status", "url", "text", "title", "selector", "key", "host", "code"];

function summaryOf(data: Readonly<Record<string, unknown>>): string {
  const parts = shownFields.flatMap((name) => {
    const value = data[name];
    return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
  });
  return parts.join(" ").slice(0, maxSummaryLength);
}

function EventLine({ line: { event } }: { readonly line: TelemetryEnvelope }) {
  return (
    <div className={styles.line}>
      <time className={styles.time}>{clockText(event.ts / 1000)}</time>
      <b className={styles.kind}>{event.type.replaceAll("_", " ")}</b>
      <span className={styles.text}>{summaryOf({ ...event.data })}</span>
    </div>
  );
}
