import { SegmentedControl, Stack } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { ScrollText } from "lucide-react";
import { useEffect, useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { VirtualLines } from "../../parts/virtual-lines.tsx";
import styles from "./telemetry/lines.module.css";

const programs = [
  { value: "chromium", label: "Chromium" },
  { value: "instance", label: "Session program" },
] as const;
type Program = (typeof programs)[number]["value"];

const maxLines = 5000;
const lineHeight = 24;
const drawMs = 100;

interface Lines {
  readonly texts: readonly string[];
  readonly isLoading: boolean;
  readonly error: unknown;
}
const nothing: Lines = { texts: [], isLoading: true, error: undefined };

function useLines(id: string, program: Program): Lines {
  const { shoal } = useSignedIn();
  const [lines, setLines] = useState(nothing);
  useEffect(() => {
    const ended = new AbortController();
    let waiting: string[] = [];
    let timer: number | undefined;
    const draw = (error?: unknown) => {
      clearTimeout(timer);
      timer = undefined;
      const added = waiting;
      waiting = [];
      setLines(({ texts }) => ({ texts: [...texts, ...added].slice(-maxLines), isLoading: false, error }));
    };
    async function read(): Promise<void> {
      const query = { source: "supervisor", supervisor_process: program } as const;
      const onCaughtUp = () => {
        draw();
      };
      const options = { signal: ended.signal, onCaughtUp };
      for await (const { message } of shoal.browsers.logs.stream(id, query, options)) {
        waiting.push(message);
        timer ??= window.setTimeout(draw, drawMs);
      }
    }
    read().then(
      () => {
        draw();
      },
      (error: unknown) => {
        if (!ended.signal.aborted) draw(error);
      },
    );
    return () => {
      ended.abort();
      clearTimeout(timer);
      setLines(nothing);
    };
  }, [shoal, id, program]);
  return lines;
}

export function LogsTab({ browser }: { readonly browser: Browser }) {
  const [program, setProgram] = useState<Program>("chromium");
  if (browser.deleted_at !== undefined)
    return (
      <Empty icon={ScrollText} title="The logs are deleted">
        They ended with the session. Telemetry is stored longer.
      </Empty>
    );
  return (
    <Stack gap="sm">
      <SegmentedControl
        data={[...programs]}
        value={program}
        onChange={(value) => {
          setProgram(value === "instance" ? "instance" : "chromium");
        }}
        aria-label="Program"
        style={{ alignSelf: "flex-start" }}
      />
      <LogLines key={program} id={browser.session_id} program={program} />
    </Stack>
  );
}

function LogLines({ id, program }: { readonly id: string; readonly program: Program }) {
  const { texts, isLoading, error } = useLines(id, program);
  if (error !== undefined) return <Failure error={error} />;
  if (texts.length === 0 && isLoading) return <Loading label="Reading the log" />;
  if (texts.length === 0)
    return (
      <Empty icon={ScrollText} title="The log is empty">
        New lines appear here.
      </Empty>
    );
  return (
    <VirtualLines
      lines={texts}
      keyOf={(_line, index) => index}
      render={(text) => (
        <div className={styles.line}>
          <span className={styles.text}>{text}</span>
        </div>
      )}
      label="Log"
      height={lineHeight}
    />
  );
}
