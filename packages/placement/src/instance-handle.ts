import { InstanceEvent, maxInstanceEventBytes, type AssignInstance } from "@shoal/instance";
import { answerText } from "./answer-text.ts";
import { readBoundedLines } from "./bounded-lines.ts";
import { answerOf } from "./instance-answer.ts";
import type { Box } from "./box.ts";
import type { EgressUpstream } from "./egress-upstream.ts";
import type { Instance, InstanceEnd, InstanceRequest, PlacementKind, PlacementLog } from "./placement.ts";
import { PlacementError } from "./placement-error.ts";
import { connectInstance, createInstanceAgent } from "./instance-connection.ts";
import { type IncomingMessage, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";

/** An instance that listens: what the placement itself does with it, beside what sessions do. */
export interface InstanceHandle extends Instance {
  /** Resolves when its browser answers; rejects when it ends before. */
  readonly ready: Promise<void>;
  /** Before its first session. @throws {PlacementError} `bad_option`. */
  readonly setPrivateHosts: (hosts: readonly string[]) => void;
  /** Names the project that its connections count towards. */
  readonly setProject: (project: string) => void;
  /** Before its first session, in bytes. @throws {PlacementError} `bad_option`. */
  readonly setMemory: (bytes: number) => Promise<void>;
  /** @throws {PlacementError} `instance_lost`. */
  readonly assign: (assign: AssignInstance, signal?: AbortSignal) => Promise<void>;
}

export interface InstanceHandleOptions {
  readonly box: Box;
  readonly kind: PlacementKind;
  readonly socketPath: string;
  readonly log: PlacementLog;
  /** The last lines that it printed, for an end without a reason. */
  readonly lastLines: () => string;
  /** How long the head of an answer may take from its first byte on, in milliseconds; 10,000 when absent. */
  readonly headMs?: number;
}

/** How long an instance that must be asked gets to end by itself. */
const graceMs = 2_000;
/** How long an instance may take to accept a session. It does so within a millisecond; one that does not, never will. */
const assignMs = 10_000;
/** And one that starts its browser in another way before it does. */
const assignWithLaunchMs = 60_000;
/** Events that one instance may send in a row; what runs in a box is not trusted. One is won back every 10 ms. */
const eventBurst = 2_000;
const eventEveryMs = 10;

/** Talks to an instance over its socket and follows what it reports, until it is gone. */
export function createInstanceHandle({ box, kind, socketPath, log, lastLines, headMs = 10_000 }: InstanceHandleOptions): InstanceHandle {
  const agent = createInstanceAgent(socketPath);
  const listeners = new Set<(event: InstanceEvent) => void>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  let end: InstanceEnd | undefined;
  let over = false;
  let upstream: EgressUpstream | undefined;
  let distrusted = false;
  let stopping: Promise<void> | undefined;
  /** A function, so that TypeScript does not narrow across an `await`. */
  const isOver = () => over;

  function lost(cause?: unknown): PlacementError {
    const reason = cause instanceof Error ? cause.message : "it has ended";
    return new PlacementError("instance_lost", `Instance ${box.id} does not answer: ${reason}.`, { cause });
  }

  async function request(init: InstanceRequest, body?: Readable | string): Promise<IncomingMessage> {
    if (over) throw lost();
    const { method, path, headers, signal } = init;
    const outgoing = httpRequest({ agent, socketPath, method, path, ...(headers && { headers }), ...(signal && { signal }) });
    const answering = answerOf(outgoing, headMs);
    if (body === undefined || typeof body === "string") outgoing.end(body);
    else
      pipeline(body, outgoing, (error) => {
        if (error) outgoing.destroy(error);
      });
    try {
      return await answering;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason instanceof Error ? signal.reason : error;
      // A kept connection that the instance closed at this very moment.
      const again = outgoing.reusedSocket && body === undefined && (method === "GET" || method === "HEAD") && !isOver();
      if (again && error instanceof Error && "code" in error && error.code === "ECONNRESET") return request(init);
      throw lost(error);
    }
  }

  async function connect(): Promise<Socket> {
    if (over) throw lost();
    try {
      return await connectInstance(socketPath);
    } catch (error) {
      throw lost(error);
    }
  }

  function take(event: InstanceEvent): void {
    if (event.type === "ready" || (event.type === "state" && event.browser === "ready")) ready.resolve();
    if (event.type === "ending") end ??= { reason: event.reason, ...(event.detail !== undefined && { detail: event.detail }) };
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        log.error({ instance_id: box.id, error: String(error) }, "A listener for an instance's events failed.");
      }
    }
  }

  function distrust(why: string): void {
    if (distrusted) return;
    distrusted = true;
    end ??= { reason: "instance_lost", detail: why };
    log.warn({ instance_id: box.id }, why);
    box.kill();
  }

  function follow(answer: IncomingMessage): void {
    let tokens = eventBurst;
    let counted = performance.now();
    readBoundedLines(answer, maxInstanceEventBytes, (line, cut) => {
      if (over || distrusted) return;
      const now = performance.now();
      tokens = Math.min(eventBurst, tokens + (now - counted) / eventEveryMs) - 1;
      counted = now;
      if (tokens < 0) {
        distrust("The instance was ended: it sent events without end.");
        return;
      }
      if (line === "") return;
      const event = cut ? undefined : parseEvent(line);
      if (event === undefined) distrust("The instance was ended: it sent an event that is none.");
      else take(event);
    });
    answer.on("close", () => {
      // Without it nobody would learn that the session is over. It closes a moment before the instance ends by itself.
      const timer = setTimeout(() => {
        if (!over) distrust("The instance was ended: it closed its control channel.");
      }, graceMs);
      timer.unref();
    });
  }

  request({ method: "GET", path: "/_instance/events" }).then(follow, (error: unknown) => {
    if (!over) distrust(`The instance was ended: its control channel failed (${String(error)}).`);
  });

  const ended = box.gone.then(async (exit): Promise<InstanceEnd> => {
    over = true;
    listeners.clear();
    agent.destroy();
    ready.reject(lost());
    try {
      await box.clear();
    } catch (error) {
      log.error({ instance_id: box.id, error: String(error) }, "Files of an ended instance could not be removed.");
    }
    if (stopping !== undefined) return end ?? { reason: "stopped" };
    // Who is killed may still have seen that its parent was, and said so.
    const wasKilled = exit.signal === "SIGKILL" || exit.code === 137;
    if (end !== undefined && !(wasKilled && end.reason === "stopped")) return end;
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    const lines = lastLines();
    return { reason: "instance_lost", detail: `The instance ended with ${how}.${lines === "" ? "" : ` Its last lines:\n${lines}`}` };
  });

  async function stop(): Promise<void> {
    if (box.asksToEnd && !over) {
      const patience = AbortSignal.timeout(graceMs);
      const waited = new Promise<void>((resolve) => {
        patience.addEventListener("abort", () => {
          resolve();
        });
      });
      const asked = request({ method: "POST", path: "/_instance/stop", signal: patience }).then(
        (answer) => {
          answer.resume();
        },
        () => {
          box.kill();
        },
      );
      await Promise.race([asked.then(() => box.gone), waited]);
    }
    box.kill();
    await ended;
  }

  return {
    id: box.id,
    pid: box.pid,
    kind,
    ready: ready.promise,
    ended,
    request,
    connect,
    setUpstream(given) {
      box.setUpstream(given);
      upstream = given;
    },
    get upstream() {
      return upstream;
    },
    setPrivateHosts: box.setPrivateHosts,
    setProject: box.setProject,
    setPolicies: box.setPolicies,
    setMemory: box.setMemory,
    onEvent(listener) {
      const own = (event: InstanceEvent): void => {
        listener(event);
      };
      if (!over) listeners.add(own);
      return () => listeners.delete(own);
    },
    async assign(assign, signal) {
      const patience = AbortSignal.timeout(assign.launch === undefined && assign.authorities === undefined ? assignMs : assignWithLaunchMs);
      let answer: IncomingMessage;
      let said: string;
      try {
        answer = await request(
          {
            method: "POST",
            path: "/_instance/assign",
            headers: { "content-type": "application/json" },
            signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
          },
          JSON.stringify(assign),
        );
        said = await answerText(answer);
      } catch (error) {
        signal?.throwIfAborted();
        throw PlacementError.isInstance(error) ? error : lost(error);
      }
      if (answer.statusCode !== 200) throw lost(new Error(`it refused the session with status ${String(answer.statusCode)}: ${said.slice(0, 500)}`));
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function parseEvent(line: string): InstanceEvent | undefined {
  try {
    const result = InstanceEvent.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
