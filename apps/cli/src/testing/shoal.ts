import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { examine } from "@shoal/server";
import { type ServiceProcess, startService } from "../service.ts";

export const shoalPath = fileURLToPath(new URL("../../dist/shoal.js", import.meta.url));
if (!existsSync(shoalPath))
  throw new Error(`${shoalPath} is missing. Build it first: pnpm exec turbo run build --filter @shoal/cli`);

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function bareEnv(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME, SHOAL_CONFIG_DIR: join(tmpdir(), "shoal-no-config"), ...env };
}

export interface Running {
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  readonly stdin: NodeJS.WritableStream;
  readonly outcome: Promise<Outcome>;
}

export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
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

export async function shoal(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
): Promise<Outcome> {
  const run = start(args, options.env);
  run.stdin.end(options.input ?? "");
  return run.outcome;
}

/** Throws with SHOAL_REQUIRE_ALL=1. */
export async function noChromium(): Promise<string | undefined> {
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
  // A busy machine must not reject requests of tests.
  const service = await startService(
    dataDir,
    ["--warm", "0", "--placement", "process", "--log-level", "warn", "--max-event-loop-delay-ms", "0"],
    bareEnv(),
  );
  const env = { SHOAL_DATA_DIR: dataDir };
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
