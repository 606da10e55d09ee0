import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";

/** A service that runs as a program of its own, as a user would start it. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pid: number;
  /** Sends SIGTERM and waits for the end. @returns the exit status. */
  stop(): Promise<number | null>;
}

/** Runs `shoal serve` on a free port with everything it keeps in `dataDir`. */
export async function startService(dataDir: string, flags: readonly string[]): Promise<Service> {
  const shoal = join(dirname(createRequire(import.meta.url).resolve("@shoal/cli/package.json")), "dist", "shoal.js");
  const readyFile = join(dataDir, "ready.json");
  const child = spawn(process.execPath, [shoal, "serve", "--port", "0", "--data-dir", dataDir, "--ready-file", readyFile, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "exit");

  const ready = new Promise<void>((resolve) => {
    const watcher = watch(dataDir, () => {
      if (existsSync(readyFile)) resolve();
    });
    void ended.then(() => {
      watcher.close();
    });
    if (existsSync(readyFile)) resolve();
    void Promise.resolve().then(() => ready.then(() => { watcher.close(); }));
  });
  const first = await Promise.race([ready.then(() => "ready" as const), ended.then(() => "ended" as const)]);
  if (first === "ended") throw new Error(`The service did not start:\n${output}`);

  const { base_url, api_key, pid } = JSON.parse(readFileSync(readyFile, "utf8")) as { base_url: string; api_key: string; pid: number };
  return {
    baseUrl: base_url,
    apiKey: api_key,
    pid,
    async stop() {
      child.kill("SIGTERM");
      const [status] = (await ended) as [number | null];
      return status;
    },
  };
}
