import { Badge } from "@mantine/core";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { clockText } from "../../../base/texts.ts";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import styles from "./lines.module.css";
import { TelemetryFrame } from "./telemetry-frame.tsx";

const lineHeight = 30;
const colors: Readonly<Record<string, string>> = { error: "red", warning: "yellow", log: "gray", info: "blue" };

export function ConsoleTab({ browser }: { readonly browser: Browser }) {
  return (
    <TelemetryFrame browser={browser} category="console">
      {(events) => (
        <VirtualLines
          lines={events}
          keyOf={({ seq }) => seq}
          render={(line) => <ConsoleLine line={line} />}
          label="Console of the pages"
          height={lineHeight}
        />
      )}
    </TelemetryFrame>
  );
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

function ConsoleLine({ line: { event } }: { readonly line: TelemetryEnvelope }) {
  const data: Readonly<Record<string, unknown>> = { ...event.data };
  const level = event.type === "console_error" ? "error" : textIn(data.level) || "log";
  const args = Array.isArray(data.args) ? data.args.map(String).join(" ") : "";
  return (
    <div className={`${styles.line} ${level === "error" ? styles.bad : ""}`}>
      <time className={styles.time}>{clockText(event.ts / 1000)}</time>
      <Badge
        size="xs"
        variant="light"
        color={colors[level] ?? "gray"}
        tt="none"
        className={styles.kind}
        c="var(--mantine-color-text)"
      >
        {level}
      </Badge>
      <span className={styles.text}>{args === "" ? textIn(data.text) : args}</span>
    </div>
  );
}
