import { connectPipe, type CdpConnection } from "../cdp/pipe-connection.ts";
import type { SpawnedChromium } from "./spawn.ts";

/** How a browser's process ended. */
export interface BrowserExit {
  /** Its process id; absent when it could not be started. */
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines that it printed, at most {@link maxLastLines}. */
  readonly lastLines: string;
}

/** One running Chromium. */
export interface Browser {
  readonly pid: number | undefined;
  readonly cdp: CdpConnection;
  /** Port and path of its CDP WebSocket on 127.0.0.1. Rejects when it exits first, or does not say it within {@link startTimeoutMs}. */
  readonly endpoint: Promise<BrowserEndpoint>;
  /** Resolves when the process has ended and its whole group was told to. */
  readonly exited: Promise<BrowserExit>;
  /**
   * Kills it and everything that it started; resolves with {@link Browser.exited}. Nothing that it keeps outlives the session, and asking it
   * to close costs it as much as half a start.
   */
  kill(): Promise<BrowserExit>;
}

export interface BrowserEndpoint {
  readonly port: number;
  readonly path: string;
}

/** A browser that has not opened its port by then has hung. */
const startTimeoutMs = 30_000;
const maxLastLines = 20;
const maxLineCharacters = 500;

/**
 * Takes charge of a Chromium that was just started: reads what it prints, connects to it, ends it with everything it started.
 *
 * @param onLine - told of each line that it prints, cut to {@link maxLineCharacters}.
 */
export function superviseChromium(spawned: SpawnedChromium, onLine?: (line: string) => void): Browser {
  const { process: child } = spawned;
  const cdp = connectPipe(spawned.commands, spawned.messages);
  const endpoint = Promise.withResolvers<BrowserEndpoint>();
  const exited = Promise.withResolvers<BrowserExit>();
  const lastLines: string[] = [];
  // Nobody may be waiting when it fails; `exited` tells it too.
  endpoint.promise.catch(() => undefined);

  let ended = false;
  let rest = "";
  spawned.stderr.setEncoding("utf8");
  spawned.stderr.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(0, maxLineCharacters);
    for (const line of lines) {
      const found = /^DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)(\/\S+)/.exec(line);
      if (found?.[1] !== undefined && found[2] !== undefined) endpoint.resolve({ port: Number(found[1]), path: found[2] });
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
    killGroup();
  }, startTimeoutMs);
  endpoint.promise.then(
    () => {
      clearTimeout(startTimer);
    },
    () => undefined,
  );

  function killGroup(): void {
    // Its number may be another's by then.
    if (child.pid === undefined || ended) return;
    try {
      if (process.platform === "win32") child.kill("SIGKILL");
      else process.kill(-child.pid, "SIGKILL");
    } catch {
      // ESRCH: all of it is gone already.
    }
  }

  function finish(code: number | null, signal: string | null): void {
    clearTimeout(startTimer);
    // Processes of the browser that outlived its main one, or, where the program is a shell script, the browser itself.
    killGroup();
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
  // `exit`, not `close`: a child of the browser may hold its stderr for longer.
  child.once("exit", finish);

  return {
    pid: child.pid,
    cdp,
    endpoint: endpoint.promise,
    exited: exited.promise,
    kill() {
      killGroup();
      return exited.promise;
    },
  };
}

/** `exit code 1` or `signal SIGSEGV`. */
export function describeExit(exit: BrowserExit): string {
  return exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
}
