import { Group, Stack, Text } from "@mantine/core";
import { ScrollText } from "lucide-react";
import { clockText } from "../../base/texts.ts";
import styles from "./log-lines.module.css";
import { Empty, Failure, Loading } from "../states.tsx";
import type { LogLine } from "./use-follow.ts";
import { VirtualLines } from "../virtual-lines.tsx";

interface LogLinesProps {
  readonly label: string;
  readonly lines: readonly LogLine[];
  readonly isReading: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const lineHeight = 24;

/** Output of a program, as text. */
export function LogLines({ label, lines, isReading, isLoading, error }: LogLinesProps) {
  return (
    <Stack gap="xs">
      {error !== undefined && <Failure error={error} />}
      {lines.length === 0 && isLoading ? (
        <Loading label="Reading the log" />
      ) : lines.length === 0 ? (
        error === undefined && (
          <Empty icon={ScrollText} title={isReading ? "No output yet" : "No output"}>
            {isReading
              ? "New lines appear here."
              : "No lines: the program has written none, or the log has been removed."}
          </Empty>
        )
      ) : (
        <VirtualLines
          lines={lines}
          keyOf={(_line, index) => index}
          render={(line) => <Line line={line} />}
          label={label}
          height={lineHeight}
        />
      )}
      {isReading && (
        <Group>
          <Text size="xs" c="dimmed" role="status">
            Following new lines
          </Text>
        </Group>
      )}
    </Stack>
  );
}

function Line({ line: { text, source, atMs } }: { readonly line: LogLine }) {
  return (
    <div className={`${styles.line} ${source === "stderr" ? styles.bad : ""}`}>
      <span className={styles.time}>{clockText(atMs)}</span>
      <span className={styles.text}>{text}</span>
    </div>
  );
}
