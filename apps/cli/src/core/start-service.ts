import { hasCode } from "@shoal/primitives";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, watch } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A service in a separate process, started with `shoal serve`. */
export interface ServiceProcess {
  readonly baseUrl: string;
  /** An organisation-wide admin key. */
  readonly apiKey: string;
  readonly pid: number;
  /** Returns stdout and stderr so far. */
  output(): string;
  /** Sends a signal and waits for the exit. @returns the exit status, or `null` if the signal killed the process. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Runs `shoal serve` on a free port and waits until it is ready; for scripts and tests.
 * @param dataDir - created if missing.
 * @param flags - more flags of `shoal serve`.
 * @throws {Error} with the output, if the process exits instead.
 */
export async function startService(
  dataDir: string,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ServiceProcess> {
  mkdirSync(dataDir, { recursive: true });
  const readyFile = join(dataDir, "ready.json");
  // By the package's name, because the bundler may move this code into a chunk.
  const shoal = join(dirname(createRequire(import.meta.url).resolve("@shoal/cli/package.json")), "dist", "shoal.js");
  if (!existsSync(shoal)) throw new Error(`${shoal} is missing: run "pnpm build" first.`);
  const child = spawn(
    process.execPath,
    [shoal, "serve", "--port", "0", "--data-dir", dataDir, "--ready-file", readyFile, ...flags],
    {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "close");

  const watcher = watch(dataDir);
  const ready = new Promise<ReadyFile>((resolve) => {
    const look = () => {
      // The service writes the file atomically. A file of an earlier run names another process.
      const read = readReadyFile(readyFile);
      if (read !== undefined && read.pid === child.pid) resolve(read);
    };
    watcher.on("change", look);
    look();
  });
  const first = await Promise.race([ready, ended]);
  watcher.close();
  if (!("pid" in first)) throw new Error(`The service did not start:\n${output}`);

  const { base_url, api_key, pid } = first;
  return {
    baseUrl: base_url,
    apiKey: api_key,
    pid,
    output: () => output,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

interface ReadyFile {
  readonly base_url: string;
  readonly api_key: string;
  readonly pid: number;
}

/** @returns `undefined` if the file is missing. */
function readReadyFile(path: string): ReadyFile | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ReadyFile;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
