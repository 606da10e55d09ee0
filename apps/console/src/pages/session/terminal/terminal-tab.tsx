import { Button, Group, Stack, Text } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { RotateCw, SquareTerminal } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";
import { shownError } from "../../../base/shown-error.ts";
import { Empty } from "../../../parts/states.tsx";
import { attach, startShell } from "./attach.ts";
import styles from "./terminal.module.css";

/** A shell in the session. It ends when the page closes. */
export function TerminalTab({ browser }: { readonly browser: Browser }) {
  const canOperate = useCanOperate();
  const [attempt, setAttempt] = useState(1);
  if (browser.deleted_at !== undefined)
    return (
      <Empty icon={SquareTerminal} title="The session has ended">
        A terminal needs a running session.
      </Empty>
    );
  if (!canOperate)
    return (
      <Empty icon={SquareTerminal} title="Your role cannot run programs">
        Ask an administrator for the role operator.
      </Empty>
    );
  return (
    <Shell
      key={attempt}
      browser={browser}
      again={() => {
        setAttempt(attempt + 1);
      }}
    />
  );
}

type Status = "connecting" | "connected" | "closed";
const statusTexts: Readonly<Record<Status, string>> = {
  connecting: "Starting a shell…",
  connected: "A shell in the session, with its files and its network.",
  closed: "The connection has ended.",
};

function Shell({ browser, again }: { readonly browser: Browser; readonly again: () => void }) {
  const { session_id: id, cdp_ws_url } = browser;
  const { shoal } = useSignedIn();
  const place = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState<Status>("connecting");
  // The URL changes with each refresh of the session; the first one stays valid.
  const [socketUrl] = useState(cdp_ws_url);
  useEffect(() => {
    const ended = new AbortController();
    const terminal = new Terminal({ cursorBlink: true, fontSize: 13, scrollback: 5000, screenReaderMode: true });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    if (place.current !== null) terminal.open(place.current);
    fit.fit();
    startShell(shoal, id, { cols: terminal.cols, rows: terminal.rows }, ended.signal).then(
      (processId) => {
        attach(terminal, socketUrl, processId, {
          signal: ended.signal,
          onOpen: () => {
            setStatus("connected");
            terminal.focus();
          },
          onClose: () => {
            setStatus("closed");
          },
        });
      },
      (error: unknown) => {
        if (ended.signal.aborted) return;
        terminal.writeln(shownError(error));
        setStatus("closed");
      },
    );
    const resizing = new ResizeObserver(() => {
      fit.fit();
    });
    if (place.current !== null) resizing.observe(place.current);
    return () => {
      ended.abort();
      resizing.disconnect();
      terminal.dispose();
    };
  }, [shoal, id, socketUrl]);
  return (
    <Stack gap="sm">
      <Group justify="space-between" mih={30}>
        <Text size="sm" c="dimmed" role="status">
          {statusTexts[status]}
        </Text>
        {status === "closed" && (
          <Button size="xs" variant="default" leftSection={<RotateCw size={14} aria-hidden />} onClick={again}>
            New shell
          </Button>
        )}
      </Group>
      <div ref={place} className={styles.terminal} data-testid="terminal" />
    </Stack>
  );
}
