import { Group } from "@mantine/core";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { breakable } from "../../../base/breakable.tsx";
import { clockText } from "../../../base/texts.ts";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import { FindField } from "./find-field.tsx";
import styles from "./lines.module.css";
import { ShownCount } from "./shown-count.tsx";
import { TelemetryFrame } from "./telemetry-frame.tsx";

const lineHeight = 30;
const maxSummaryLength = 300;

export function EventsTab({ browser }: { readonly browser: Browser }) {
  return (
    <TelemetryFrame browser={browser} category={undefined}>
      {(events) => <Lines events={events} />}
    </TelemetryFrame>
  );
}

function Lines({ events }: { readonly events: readonly TelemetryEnvelope[] }) {
  const { find = "" } = useSearch({ from: "/sessions/$id" });
  const words = find.trim().toLowerCase();
  const shown = useMemo(
    () =>
      events.filter(({ event }) => `${nameOf(event)} ${summaryOf({ ...event.data })}`.toLowerCase().includes(words)),
    [events, words],
  );
  return (
    <>
      <Group gap="xs">
        <FindField label="Find in the events" placeholder="Name or text" />
        <ShownCount shown={shown.length} all={events.length} what="events" />
      </Group>
      <VirtualLines
        lines={shown}
        keyOf={({ seq }) => seq}
        render={(line) => <EventLine line={line} />}
        label="Events of the session"
        height={lineHeight}
      />
    </>
  );
}

const nameOf = ({ type }: TelemetryEnvelope["event"]): string => type.replaceAll("_", " ");

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
      <b className={styles.kind}>{nameOf(event)}</b>
      <span className={styles.text}>{breakable(summaryOf({ ...event.data }))}</span>
    </div>
  );
}
