import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export interface HolderOptions {
  readonly dataDir: string;
  readonly url?: string;
}

export type HolderReport =
  | { readonly ok: true; readonly pid: number; readonly duration_ms: number; readonly projects: readonly string[] }
  | {
      readonly ok: false;
      readonly pid: number;
      readonly duration_ms: number;
      readonly code: string;
      readonly message: string;
      readonly hint: string;
    };

export interface Holder {
  readonly child: ChildProcess;
  readonly report: Promise<HolderReport>;
  close(): Promise<number | null>;
  /** Sends SIGKILL to that process alone, and waits for its end. */
  kill(): Promise<void>;
}

const program = fileURLToPath(new URL("./holder.ts", import.meta.url));

export function holderCommand(options: HolderOptions, prefix: readonly string[] = []): string[] {
  return [...prefix, process.execPath, "--conditions=@shoal/source", program, JSON.stringify(options)];
}

export function startHolder(options: HolderOptions, prefix: readonly string[] = []): Holder {
  return followHolder(holderCommand(options, prefix));
}

export function followHolder([file = "", ...args]: readonly string[]): Holder {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const errors = text(child.stderr);
  const report = new Promise<HolderReport>((resolve, reject) => {
    child.once("error", reject);
    createInterface({ input: child.stdout }).once("line", (line) => {
      resolve(JSON.parse(line) as HolderReport); // written by holder.ts
    });
    void ended.then(async (code) => {
      reject(new Error(`the holder ended with code ${String(code)} and no report: ${await errors}`));
    });
  });
  report.catch(() => undefined);
  return {
    child,
    report,
    close: () => {
      child.stdin.end();
      return ended;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** PostgreSQL's processes in `directory` or below. Linux only. */
export function postgresIn(directory: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const commandLine = readFileSync(`/proc/${name}/cmdline`, "utf8");
      const isHolder = commandLine.includes("holder.ts");
      if (!isHolder && commandLine.includes(directory)) found.push(Number(name));
      else if (commandLine.startsWith("postgres: ") && existsSync(join(directory, "pgdata"))) {
        const ours = statSync(join(directory, "pgdata"));
        const theirs = statSync(`/proc/${name}/cwd`);
        if (ours.ino === theirs.ino && ours.dev === theirs.dev) found.push(Number(name));
      }
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

export function postmasterOf(directory: string): number {
  return Number.parseInt(readFileSync(join(directory, "pgdata", "postmaster.pid"), "utf8"), 10);
}
