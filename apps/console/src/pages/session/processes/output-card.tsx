import { Card, CloseButton, Group, Stack, Text, Title } from "@mantine/core";
import { ScrollText } from "lucide-react";
import { useEffect } from "react";
import { Empty, Failure, Loading } from "../../../parts/states.tsx";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import lineStyles from "../telemetry/lines.module.css";
import { exitText } from "./exit-text.ts";
import styles from "./processes.module.css";
import { useOutput } from "./use-output.ts";

interface OutputCardProps {
  readonly id: string;
  readonly processId: string;
  readonly command: string;
  readonly close: () => void;
  /** The process has exited. */
  readonly exited: () => void;
}

const lineHeight = 24;

/** Output of one process, as text. */
export function OutputCard({ id, processId, command, close, exited }: OutputCardProps) {
  const { lines, isCut, isReading, isLoading, exitCode, error } = useOutput(id, processId);
  useEffect(() => {
    if (exitCode !== undefined) exited();
  }, [exitCode, exited]);
  return (
    <Card withBorder padding="md" component="section" aria-label="Output">
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div>
            <Title order={2} size="h5">
              Output
            </Title>
            <bdi className={styles.command}>{command}</bdi>
          </div>
          <CloseButton onClick={close} aria-label="Close the output" />
        </Group>
        <Text size="sm" c="dimmed" role="status">
          {exitCode !== undefined ? `${exitText(exitCode)}.` : isReading ? "It runs. New output appears here." : ""}
          {isCut && " Older output was dropped."}
        </Text>
        {error !== undefined && <Failure error={error} />}
        {lines.length === 0 && isLoading ? (
          <Loading label="Reading the output" />
        ) : lines.length === 0 ? (
          error === undefined && (
            <Empty icon={ScrollText} title={isReading ? "No output yet" : "No output"}>
              {isReading ? "Lines appear here when the process writes them." : "The process wrote nothing."}
            </Empty>
          )
        ) : (
          <VirtualLines
            lines={lines}
            keyOf={(_line, index) => index}
            render={({ source, text }) => (
              <div className={`${lineStyles.line} ${source === "stderr" ? lineStyles.bad : ""}`}>
                <bdi className={lineStyles.text}>{text}</bdi>
              </div>
            )}
            label="Output of the process"
            height={lineHeight}
          />
        )}
      </Stack>
    </Card>
  );
}
