import type { LogEvent } from "@shoal/schemas";
import { EventLog } from "../../http/event-log.ts";

export const supervisorProcesses = ["chromium", "instance"] as const;
export type SupervisorProcess = (typeof supervisorProcesses)[number];

/** In memory, because logs are needed most when the disk is full. */
const keptLines = 5_000;
const keptBytes = 1024 * 1024;
const maxLineCharacters = 8_192;

export interface SupervisorLogs {
  add(process: SupervisorProcess, line: string): void;
  of(process: SupervisorProcess): EventLog<LogEvent>;
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
