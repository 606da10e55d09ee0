import { sharedDatabase } from "@shoal/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../run-command-line.ts";
import { type ServiceProcess, startService } from "../service.ts";

const dist = new URL("../../dist/", import.meta.url);
export const shoalPath = fileURLToPath(new URL("shoal.js", dist));
if (!existsSync(shoalPath))
  throw new Error(`${shoalPath} is missing. Build it first: pnpm exec turbo run build --filter @shoal/cli`);

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Env = Readonly<Record<string, string>>;

export function bareEnv(env: Env = {}): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME, SHOAL_CONFIG_DIR: join(tmpdir(), "shoal-no-config"), ...env };
}

export interface Running {
  stdout(): string;
  stderr(): string;
  kill(signal: "SIGHUP" | "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  readonly stdin: NodeJS.WritableStream;
  readonly outcome: Promise<Outcome>;
}

/**
 * Runs a command in this process, with an own environment, signal and streams, which are not a terminal. A command
 * takes 0.15 s less than with {@link startProcess}, which is needed for values that are read from stdin (`--value pin=-`).
 */
export function start(args: readonly string[], env: Env = {}): Running {
  const stdin = new PassThrough();
  const [stdout, stderr] = [new Captured(), new Captured()];
  const stop = new AbortController();
  let status = 0;
  let stoppedAs: number | undefined;
  const running = runCommandLine(args, {
    terminal: {
      stdin,
      stdout,
      stderr,
      print: (text) => stdout.write(text),
      help: (text) => stdout.write(text),
      interactive: false,
      progress: false,
      keyboard: false,
      screen: false,
      colour: false,
      errorColour: false,
      width: 80,
    },
    env: bareEnv(env),
    signal: stop.signal,
    dist,
    exitWith: (given) => (status = given),
  });
  return {
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    kill(signal) {
      stoppedAs = 128 + constants.signals[signal];
      stop.abort();
    },
    stdin,
    outcome: running.then(() => ({ status: stoppedAs ?? status, stdout: stdout.text, stderr: stderr.text })),
  };
}

class Captured extends Writable {
  readonly #chunks: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}

/** Runs the built command in a separate process: for exit statuses, signals and pipes, and for the service. */
export function startProcess(args: readonly string[], env: Env = {}): Running {
  const child = spawn(process.execPath, [shoalPath, ...args], { env: bareEnv(env) });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  const outcome = once(child, "close").then(() => ({ status: child.exitCode, stdout, stderr }));
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    stdin: child.stdin,
    outcome,
  };
}

interface Given {
  readonly env?: Env;
  readonly input?: string;
}

export function shoal(args: readonly string[], { env, input }: Given = {}): Promise<Outcome> {
  return ended(start(args, env), input);
}

/** Like {@link shoal}, with {@link startProcess}. */
export function shoalProcess(args: readonly string[], { env, input }: Given = {}): Promise<Outcome> {
  return ended(startProcess(args, env), input);
}

function ended({ outcome, stdin }: Running, input = ""): Promise<Outcome> {
  stdin.end(input);
  return outcome;
}

/** Throws with SHOAL_REQUIRE_ALL=1. */
export async function noChromium(): Promise<string | undefined> {
  // The built service: its sources take seconds to load.
  const { examine } = createRequire(import.meta.url)("@shoal/server") as typeof import("@shoal/server");
  const { state, detail } = (await examine({ env: process.env })).find(({ name }) => name === "chromium") ?? {
    state: "missing",
    detail: "Chromium was not found.",
  };
  if (state !== "missing") return undefined;
  if (process.env.SHOAL_REQUIRE_ALL === "1") throw new Error(`SHOAL_REQUIRE_ALL is set, but: ${detail}`);
  return detail;
}

export interface TestService {
  readonly service: ServiceProcess;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  run(...args: string[]): Promise<Outcome>;
  /** @throws {Error} if the command fails. */
  json(...args: string[]): Promise<unknown>;
  close(): Promise<void>;
}

export async function startTestService(): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-cli-"));
  const dataDir = join(folder, "data");
  const database = await sharedDatabase();
  const settings = { SHOAL_DATA_DIR: dataDir, ...(database !== undefined && { DATABASE_URL: database.url }) };
  // A busy machine must not reject requests of tests.
  const service = await startService(
    dataDir,
    ["--warm", "0", "--placement", "process", "--log-level", "warn", "--max-event-loop-delay-ms", "0"],
    bareEnv({ ...settings, SHOAL_DEFAULT_TELEMETRY: "off" }),
  );
  // Completion gives up after its own time.
  const env = { ...settings, SHOAL_COMPLETION_TIMEOUT: "600" };
  const run = (...args: string[]) => shoal(args, { env });
  return {
    service,
    folder,
    env,
    run,
    async json(...args) {
      const { status, stdout, stderr } = await run(...args, "-o", "json");
      if (status !== 0) throw new Error(`shoal ${args.join(" ")}: ${stderr}`);
      return JSON.parse(stdout) as unknown;
    },
    async close() {
      await service.stop();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
