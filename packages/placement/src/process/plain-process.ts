import type { Exit } from "../boxes/box.ts";
import { killStrays, lockLimitOf } from "../boxes/strays.ts";
import { identityOf } from "../host/process-table.ts";
import { type ChildProcess, execFile, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface PlainCommand {
  readonly prlimit: string | undefined;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
  /** Marks the process and its children. */
  readonly sessionDir: string;
}

export class PlainProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly gone: Promise<Exit>;
  readonly #sessionDir: string;

  constructor(child: ChildProcess, pid: number, sessionDir: string) {
    this.child = child;
    this.pid = pid;
    this.#sessionDir = sessionDir;
    const exited = new Promise<Exit>((resolve) => {
      child.once("exit", (code, signal) => {
        resolve({ code, signal });
      });
      child.once("error", () => {
        resolve({ code: null, signal: null });
      });
    });
    this.gone = this.#follow(exited, identityOf(pid).startTicks);
  }

  async #follow(exited: Promise<Exit>, startTicks: number): Promise<Exit> {
    const exit = await exited;
    await killTree(this.pid);
    await killStrays(this.#sessionDir, startTicks);
    return exit;
  }

  kill(): void {
    if (this.child.exitCode === null && this.child.signalCode === null) void killTree(this.pid);
  }
}

export async function startPlain({ prlimit, args, cwd, env, stdio, sessionDir }: PlainCommand): Promise<PlainProcess> {
  const node = [process.execPath, ...args];
  const limit = prlimit === undefined ? [] : [prlimit, `--locks=${String(lockLimitOf(sessionDir))}`, "--"];
  const [file = process.execPath, ...given] = [...limit, ...node];
  const child = spawn(file, given, {
    cwd,
    // A separate process group can be killed as a whole and does not receive a terminal's Ctrl-C.
    detached: true,
    stdio,
    env: { ...env, SHOAL_SESSION_DIR: sessionDir },
  });
  if (child.pid === undefined) {
    const reason: unknown = await once(child, "error").then(([error]: unknown[]) => error);
    throw new Error(`Cannot start Node (${process.execPath}).`, { cause: reason });
  }
  return new PlainProcess(child, child.pid, sessionDir);
}

async function killTree(pid: number): Promise<void> {
  if (process.platform === "win32") {
    await run("taskkill", ["/pid", String(pid), "/T", "/F"]).catch(() => undefined);
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
