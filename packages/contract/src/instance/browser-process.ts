import {
  ExecProcess,
  ExecResult,
  Id,
  KillProcess,
  lazyObject,
  ListedProcess,
  ListProcesses,
  Ok,
  ProcessStatus,
  ProcessStreamEvent,
  ResizeTerminal,
  SpawnedProcess,
  SpawnProcess,
  StdinResult,
  WriteStdin,
} from "@shoal/schemas";
import { defineEndpoint, eventStream, json, page } from "../base/endpoint.ts";
import { sessionId, sessionIdField } from "../base/session-id.ts";

/** Processes in the session: start, follow, write to and end them. */
const area = "Browser Processes";
const idAndProcess = lazyObject(() => ({
  ...sessionIdField,
  /** The process's id, from `browsers.process.spawn`. */
  process_id: Id,
}));

/** A failing command is not an error of the operation: see `exit_code`. Its input is empty. The command and its children are killed when you disconnect, or after 16 MiB of output; for long output, use `browsers.process.spawn`. With an `Idempotency-Key` it continues for 5 seconds, so that you can repeat the call; after that, the key returns 409 `call_cut_off`. */
export const execProcess = defineEndpoint({
  operationId: "browsers.process.exec",
  area,
  plane: "instance",
  inSession: { handoff: "waits", shared: "programs", manages: true },
  tool: "run",
  moves: ["read code", "write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/process/exec",
  summary: "Run a command to its end.",
  params: sessionId,
  body: json(ExecProcess),
  responses: { 200: json(ExecResult) },
  errors: [400, 401, 403, 404, 413, 429, 500],
});

/** Returns at once. The process runs until it exits, is killed, or the session ends; its latest output is kept. At most 200 processes at once, and 10,000 per session. */
export const spawnProcess = defineEndpoint({
  operationId: "browsers.process.spawn",
  area,
  plane: "instance",
  inSession: { handoff: "waits", shared: "programs", manages: true },
  moves: ["read code", "write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/process/spawn",
  summary: "Start a process.",
  params: sessionId,
  body: json(SpawnProcess),
  responses: { 200: json(SpawnedProcess) },
  errors: [400, 401, 403, 404, 429, 500],
});

/** Processes that `browsers.process.spawn` started: running ones first, and then the newest first. */
export const listProcesses = defineEndpoint({
  operationId: "browsers.process.list",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "programs", manages: true, passive: "asked" },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/process",
  summary: "List processes.",
  params: sessionId,
  query: ListProcesses,
  responses: { 200: page(ListedProcess) },
  errors: [400, 401, 403, 404, 500],
});

/** Works for ended processes too. */
export const getProcessStatus = defineEndpoint({
  operationId: "browsers.process.status",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "programs", manages: true },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/process/{process_id}/status",
  summary: "Get the status of a process.",
  params: idAndProcess,
  responses: { 200: json(ProcessStatus) },
  errors: [400, 401, 403, 404, 500],
});

/** Both channels, from the oldest buffered output (the last 4 MiB) or after `Last-Event-ID`; the last event is the exit. The process waits for slow readers, up to 5 seconds without progress. */
export const streamProcessOutput = defineEndpoint({
  operationId: "browsers.process.stdoutStream",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "programs", manages: true },
  moves: ["read code"],
  scope: ["browsers:use"],
  method: "GET",
  path: "/browsers/{id}/process/{process_id}/stdout/stream",
  summary: "Follow a process's output.",
  params: idAndProcess,
  responses: { 200: eventStream(ProcessStreamEvent) },
  errors: [400, 401, 403, 404, 429, 500],
});

/**
 * Calls write in order. Returns when the process has read the bytes, or after 10 seconds: send the bytes beyond `written_bytes` again.
 * 429 when 4 MiB wait for the process to read.
 */
export const writeProcessStdin = defineEndpoint({
  operationId: "browsers.process.stdin",
  area,
  plane: "instance",
  inSession: { handoff: "waits", shared: "programs", manages: true },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/process/{process_id}/stdin",
  summary: "Write to a process's standard input.",
  params: idAndProcess,
  body: json(WriteStdin),
  responses: { 200: json(StdinResult) },
  errors: [400, 401, 403, 404, 409, 429, 500],
});

/** Also signals the process's children. For an ended process, signals the children that it left running (Linux only). */
export const killProcess = defineEndpoint({
  operationId: "browsers.process.kill",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "programs", manages: true },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "POST",
  path: "/browsers/{id}/process/{process_id}/kill",
  summary: "Send a signal to a process.",
  params: idAndProcess,
  body: json(KillProcess),
  responses: { 200: json(Ok) },
  errors: [400, 401, 403, 404, 500],
});

/** Only for a process started with `allocate_tty`. */
export const resizeProcessTerminal = defineEndpoint({
  operationId: "browsers.process.resize",
  area,
  plane: "instance",
  inSession: { handoff: "continues", shared: "programs", manages: true },
  moves: ["write code"],
  scope: ["browsers:use"],
  method: "POST",
  idempotency: { repeats: "It sets a size." },
  path: "/browsers/{id}/process/{process_id}/resize",
  summary: "Resize a process's terminal.",
  params: idAndProcess,
  body: json(ResizeTerminal),
  responses: { 200: json(Ok) },
  errors: [400, 401, 403, 404, 500],
});
