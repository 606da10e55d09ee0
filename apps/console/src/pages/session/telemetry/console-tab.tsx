import { Badge, Group, NativeSelect } from "@mantine/core";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { breakable } from "../../../base/breakable.tsx";
import { clockText } from "../../../base/texts.ts";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import {
  type ConsoleLevel,
  type ConsoleLine,
  consoleLevels,
  consoleLineOf,
  matching,
  placeText,
} from "./console-lines.ts";
import { FindField } from "./find-field.tsx";
import styles from "./lines.module.css";
import { ShownCount } from "./shown-count.tsx";
import { TelemetryFrame } from "./telemetry-frame.tsx";

const lineHeight = 30;
const colors: Readonly<Record<ConsoleLevel, string>> = { error: "red", warning: "yellow", info: "blue", debug: "gray" };
const labels: Readonly<Record<ConsoleLevel, string>> = {
  error: "Errors",
  warning: "Warnings",
  info: "Info",
  debug: "Debug",
};

export function ConsoleTab({ browser }: { readonly browser: Browser }) {
  return (
    <TelemetryFrame browser={browser} category="console">
      {(events) => <Lines events={events} />}
    </TelemetryFrame>
  );
}

function Lines({ events }: { readonly events: readonly TelemetryEnvelope[] }) {
  const { find, level } = useSearch({ from: "/sessions/$id" });
  const lines = useMemo(() => events.map(consoleLineOf), [events]);
  const shown = useMemo(() => matching(lines, { find, level }), [lines, find, level]);
  return (
    <>
      <Group gap="xs">
        <FindField label="Find in the console" placeholder="Text of a line" />
        <LevelField lines={lines} level={level} />
        <ShownCount shown={shown.length} all={lines.length} what="lines" />
      </Group>
      <VirtualLines
        lines={shown}
        keyOf={({ seq }) => seq}
        render={(line) => <Line line={line} />}
        label="Console of the pages"
        height={lineHeight}
      />
    </>
  );
}

interface LevelFieldProps {
  readonly lines: readonly ConsoleLine[];
  readonly level: ConsoleLevel | undefined;
}

function LevelField({ lines, level }: LevelFieldProps) {
  const navigate = useNavigate({ from: "/sessions/$id" });
  const counts = Map.groupBy(lines, (line) => line.level);
  return (
    <NativeSelect
      size="xs"
      aria-label="Level"
      value={level ?? ""}
      data={[
        { value: "", label: "All levels" },
        ...consoleLevels.map((value) => ({ value, label: `${labels[value]} (${counts.get(value)?.length ?? 0})` })),
      ]}
      onChange={({ currentTarget: { value } }) => {
        const next = consoleLevels.find((known) => known === value);
        void navigate({ search: (before) => ({ ...before, level: next }), replace: true });
      }}
    />
  );
}

function Line({ line: { atMs, level, method, place, text } }: { readonly line: ConsoleLine }) {
  return (
    <div className={`${styles.line} ${level === "error" ? styles.bad : ""}`}>
      <time className={styles.time}>{clockText(atMs)}</time>
      <Badge
        size="xs"
        variant="light"
        color={colors[level]}
        tt="none"
        className={styles.kind}
        c="var(--mantine-color-text)"
      >
        {method}
      </Badge>
      <span className={styles.text}>{breakable(text)}</span>
      {place !== undefined && (
        <span className={styles.place} title={`${place.url}:${place.line}`}>
          {placeText(place)}
        </span>
      )}
    </div>
  );
}
