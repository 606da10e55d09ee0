import type { LogEvent } from "@shoal/schemas";
import { EventLog } from "../event-log.ts";

/** Names of what a session runs beside itself, as `supervisor_process` names them. */
export const supervisorProcesses = ["chromium", "instance"] as const;
export type SupervisorProcess = (typeof supervisorProcesses)[number];

/** Lines and bytes that are kept of each; older ones go. In memory: a full disk is when they are wanted most. */
const keptLines = 5_000;
const keptBytes = 1024 * 1024;
/** Longer lines are cut. */
const maxLineCharacters = 8_192;

/** The last lines that the session's own processes have printed. */
export interface SupervisorLogs {
  /** Takes a line, without its end. */
  add(process: SupervisorProcess, line: string): void;
  of(process: SupervisorProcess): EventLog<LogEvent>;
  /** Ends all readers. */
  close(): void;
}

export function createSupervisorLogs(): SupervisorLogs {
  const shared = { bytes: 0, maxBytes: keptBytes * supervisorProcesses.length };
  const make = () => new EventLog<LogEvent>({ events: keptLines, bytes: keptBytes, shared });
  const logs: Readonly<Record<SupervisorProcess, EventLog<LogEvent>>> = { chromium: make(), instance: make() };
  return {
    add(process, line) {
      const message = line.length > maxLineCharacters ? `${line.slice(0, maxLineCharacters)}…` : line;
      logs[process].push({ event: "log", message, timestamp: new Date().toISOString() }, 200 + 2 * message.length);
    },
    of: (process) => logs[process],
    close() {
      for (const process of supervisorProcesses) logs[process].close();
    },
  };
}
