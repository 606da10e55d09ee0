import {
  ExecProcess,
  ExecResult,
  Id,
  KillProcess,
  lazyObject,
  Ok,
  ProcessStatus,
  ProcessStreamEvent,
  ResizeTerminal,
  SpawnedProcess,
  SpawnProcess,
  StdinResult,
  WriteStdin,
} from "@shoal/schemas";
import { defineEndpoint, eventStream, json } from "./endpoint.ts";

const area = "Browser Processes";
const id = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
}));
const idAndProcess = lazyObject(() => ({
  /** The session's id, or the name of a running session. */
  id: Id,
  /** The process, as `browsers.process.spawn` named it. */
  process_id: Id,
}));

/** A command that fails is no error of the operation: its `exit_code` tells. Its input is empty. It is killed, with all that it started, when you leave before its end, and when it writes more than 16 MiB: for long output use `browsers.process.spawn`. With an `Idempotency-Key` it goes on for 5 seconds after you have left, for you to send the call again and get its answer; then the key answers 409 `call_cut_off`. */
export const execProcess = defineEndpoint({
  operationId: "browsers.process.exec",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/process/exec",
  summary: "Run a command to its end.",
  params: id,
  body: json(ExecProcess),
  responses: { 200: json(ExecResult) },
  errors: [400, 401, 403, 404, 413, 429, 500],
});

/** Answers at once. The process lives until it ends, is killed, or the session ends; until then its last output is kept. At most 200 run at once, and a session starts 10,000. */
export const spawnProcess = defineEndpoint({
  operationId: "browsers.process.spawn",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/process/spawn",
  summary: "Start a process.",
  params: id,
  body: json(SpawnProcess),
  responses: { 200: json(SpawnedProcess) },
  errors: [400, 401, 403, 404, 429, 500],
});

/** Also of a process that has ended. */
export const getProcessStatus = defineEndpoint({
  operationId: "browsers.process.status",
  area,
  plane: "instance",
  method: "GET",
  path: "/browsers/{id}/process/{process_id}/status",
  summary: "Tell how a process does.",
  params: idAndProcess,
  responses: { 200: json(ProcessStatus) },
  errors: [400, 401, 403, 404, 500],
});

/** Both channels from the oldest output that is still kept (the last 4 MiB), or after `Last-Event-ID`; the last event tells the exit. A reader that keeps reading misses nothing: the process waits for it. One that stands still for 5 seconds is not waited for. */
export const streamProcessOutput = defineEndpoint({
  operationId: "browsers.process.stdoutStream",
  area,
  plane: "instance",
  method: "GET",
  path: "/browsers/{id}/process/{process_id}/stdout/stream",
  summary: "Follow a process's output.",
  params: idAndProcess,
  responses: { 200: eventStream(ProcessStreamEvent) },
  errors: [400, 401, 403, 404, 429, 500],
});

/**
 * Calls write in their order. Answers when the process has taken the bytes, or after 10 seconds: `written_bytes` then counts those that it gets, and the rest is to be sent again.
 * 429 when 4 MiB wait for the process to read.
 */
export const writeProcessStdin = defineEndpoint({
  operationId: "browsers.process.stdin",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/process/{process_id}/stdin",
  summary: "Write to a process's standard input.",
  params: idAndProcess,
  body: json(WriteStdin),
  responses: { 200: json(StdinResult) },
  errors: [400, 401, 403, 404, 409, 429, 500],
});

/** The signal goes to all that it started too. Of a process that has ended, it goes to what that left running, where the session's system can tell (Linux). */
export const killProcess = defineEndpoint({
  operationId: "browsers.process.kill",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/process/{process_id}/kill",
  summary: "Send a signal to a process.",
  params: idAndProcess,
  body: json(KillProcess),
  responses: { 200: json(Ok) },
  errors: [400, 401, 403, 404, 500],
});

/** Only of a process that was started with `allocate_tty`. */
export const resizeProcessTerminal = defineEndpoint({
  operationId: "browsers.process.resize",
  area,
  plane: "instance",
  method: "POST",
  path: "/browsers/{id}/process/{process_id}/resize",
  summary: "Resize a process's terminal.",
  params: idAndProcess,
  body: json(ResizeTerminal),
  responses: { 200: json(Ok) },
  errors: [400, 401, 403, 404, 500],
});
