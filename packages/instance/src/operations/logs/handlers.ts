import { foreignEventId } from "@shoal/contract/refusals";
import type { streamBrowserLogs } from "@shoal/contract";
import { type Handler, ServiceError, type StreamFrame } from "@shoal/router";
import type { LogEvent } from "@shoal/schemas";
import { invalidInput } from "../fs/errors.ts";
import { normalisePath, type SessionRoot } from "../fs/paths.ts";
import { readFileLog } from "./file-log.ts";
import { type SupervisorLogs, type SupervisorProcess, supervisorProcesses } from "./supervisor-logs.ts";

const maxStreams = 100;

export interface LogHandlers {
  readonly streamBrowserLogs: Handler<typeof streamBrowserLogs, unknown>;
  close(): void;
}

export function logHandlers(root: SessionRoot, logs: SupervisorLogs): LogHandlers {
  const open = new Set<AsyncIterator<unknown>>();
  return {
    async streamBrowserLogs({ query, lastEventId }) {
      if (open.size >= maxStreams)
        throw new ServiceError(
          429,
          "too_many_requests",
          `The session has ${String(maxStreams)} streams of logs, the limit.`,
          { limit: maxStreams, hint: "Close one of their connections." },
        );
      const { source, path, supervisor_process: name, follow } = query;
      const frames =
        source === "path"
          ? await readFileLog(root, { path: normalisePath(path ?? "", "query.path"), follow, lastEventId })
          : readSupervisorLog(logs, processNamed(name), { follow, lastEventId });
      open.add(frames);
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            // After a failure, the reader calls nothing more.
            const step = await frames.next().catch((error: unknown) => {
              open.delete(frames);
              throw error;
            });
            if (step.done === true) open.delete(frames);
            return step;
          },
          async return() {
            open.delete(frames);
            await frames.return?.();
            return { done: true, value: undefined };
          },
        }),
      };
    },
    close() {
      logs.close();
      for (const frames of open) void frames.return?.();
    },
  };
}

function processNamed(name: string | undefined): SupervisorProcess {
  const found = supervisorProcesses.find((known) => known === name);
  if (found === undefined)
    throw invalidInput(
      "query.supervisor_process",
      `the session runs no process called ${(name ?? "").slice(0, 100)}. It runs ${supervisorProcesses.join(" and ")}.`,
    );
  return found;
}

export function readSupervisorLog(
  logs: SupervisorLogs,
  process: SupervisorProcess,
  { follow, lastEventId = "" }: { readonly follow: boolean; readonly lastEventId: string | undefined },
): AsyncIterator<StreamFrame<LogEvent>> {
  const log = logs.of(process);
  const last = log.lastId;
  const after = lastEventId === "" ? 0 : Number(lastEventId);
  if (!Number.isInteger(after) || after < 0 || after > last) throw ServiceError.of(foreignEventId("this log", last));
  const frames = log.read(after);
  let position = after;
  return {
    async next() {
      // Without `follow`, the stream ends here although the log continues.
      if (!follow && position >= last) {
        await frames.return?.();
        return { done: true, value: undefined };
      }
      const step = await frames.next();
      if (step.done !== true) position = Number(step.value.id);
      return step;
    },
    async return() {
      await frames.return?.();
      return { done: true, value: undefined };
    },
  };
}
