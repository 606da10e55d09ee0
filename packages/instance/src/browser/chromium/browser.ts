import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { connectPipe } from "../cdp/pipe-connection.ts";
import { killGroup } from "../../system/kill-group.ts";
import type { SpawnedChromium } from "./spawn.ts";

export interface BrowserExit {
  /** Absent when the process could not be started. */
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: string | null;
  readonly lastLines: string;
}

export interface Browser {
  readonly pid: number | undefined;
  readonly cdp: CdpConnection;
  /** CDP WebSocket on 127.0.0.1. Rejects when the browser exits first or does not report it in time. */
  readonly endpoint: Promise<BrowserEndpoint>;
  /** Resolves when the process has ended and its process group was signalled. */
  readonly exited: Promise<BrowserExit>;
  /** Kills all its processes: an orderly close costs half as much as a start, and the files are deleted anyway. */
  kill(): Promise<BrowserExit>;
}

export interface BrowserEndpoint {
  readonly port: number;
  readonly path: string;
}

/** A browser that has not opened its port by then hangs. */
const startTimeoutMs = 30_000;
const maxLastLines = 20;
const maxLineCharacters = 500;

/** Reads the output of a Chromium that was just started, connects to it, and kills its process group in the end. */
export function superviseChromium(spawned: SpawnedChromium, onLine?: (line: string) => void): Browser {
  const { process: child } = spawned;
  const cdp = connectPipe(spawned.commands, spawned.messages);
  const endpoint = Promise.withResolvers<BrowserEndpoint>();
  const exited = Promise.withResolvers<BrowserExit>();
  const lastLines: string[] = [];
  // It may reject without a waiting caller; `exited` reports the failure too.
  endpoint.promise.catch(() => undefined);

  let ended = false;
  let rest = "";
  spawned.stderr.setEncoding("utf8");
  spawned.stderr.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(0, maxLineCharacters);
    for (const line of lines) {
      const found = /^DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)(\/\S+)/.exec(line);
      if (found?.[1] !== undefined && found[2] !== undefined)
        endpoint.resolve({ port: Number(found[1]), path: found[2] });
      if (line.trim() === "") continue;
      const cut = line.slice(0, maxLineCharacters);
      lastLines.push(cut);
      onLine?.(cut);
    }
    lastLines.splice(0, lastLines.length - maxLastLines);
  });
  spawned.stderr.on("error", () => undefined);

  const startTimer = setTimeout(() => {
    lastLines.push(`The browser did not open its debugging port within ${String(startTimeoutMs / 1000)} s.`);
    endGroup();
  }, startTimeoutMs);
  endpoint.promise.then(
    () => {
      clearTimeout(startTimer);
    },
    () => undefined,
  );

  function endGroup(): void {
    // The process id may have been reused.
    if (!ended) killGroup(child);
  }

  function finish(code: number | null, signal: string | null): void {
    clearTimeout(startTimer);
    // Kills processes that outlived the main one, or the browser itself if the program is a shell script.
    endGroup();
    ended = true;
    spawned.commands.destroy();
    spawned.messages.destroy();
    const exit: BrowserExit = { pid: child.pid, code, signal, lastLines: lastLines.join("\n") };
    endpoint.reject(new Error(`The browser exited before it was ready (${describeExit(exit)}).`));
    exited.resolve(exit);
  }
  void spawned.failed.then((error) => {
    lastLines.push(error.message);
    finish(null, null);
  });
  // `exit`, not `close`: a child may keep stderr open longer.
  child.once("exit", finish);

  return {
    pid: child.pid,
    cdp,
    endpoint: endpoint.promise,
    exited: exited.promise,
    kill() {
      endGroup();
      return exited.promise;
    },
  };
}

export function describeExit(exit: BrowserExit): string {
  return exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
}
