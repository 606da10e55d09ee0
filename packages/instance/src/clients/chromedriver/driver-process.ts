import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { findProgram } from "../../system/find-program.ts";
import { killGroup } from "../../system/kill-group.ts";

export interface DriverProcessOptions {
  /** Chromium's, whose folder may contain its driver too. */
  readonly executable: string;
  /** Receives the id of the process group. */
  readonly onStarted: (pid: number) => void;
  readonly onExit: () => void;
}

const startMs = 30_000;
/** The driver ended with 1 on a busy machine before it named its port. */
const maxStarts = 3;
/** Of its first lines, which name version and port. */
const maxStartCharacters = 16_384;

export const driverAdvice =
  "WebDriver needs chromedriver of Chromium's version: on Debian, install the package chromium-driver where sessions run.";

/** The driver cannot be used; the message is for the client. */
export class DriverProblem extends Error {
  override readonly name = "DriverProblem";
}

/** A chromedriver on a loopback port of the session. */
export class DriverProcess {
  readonly port: number;
  readonly version: string;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, { port, version }: Started) {
    this.#child = child;
    this.port = port;
    this.version = version;
  }

  /** Ends its whole process group. */
  kill(): void {
    kill(this.#child);
  }
}

/** @throws {DriverProblem} if it is not installed or does not start. */
export async function startDriver(options: DriverProcessOptions): Promise<DriverProcess> {
  const program = await findProgram("chromedriver", [dirname(options.executable)]);
  if (program === undefined)
    throw new DriverProblem(`chromedriver is not installed where this session runs. ${driverAdvice}`);
  for (let starts = 1; ; starts++) {
    try {
      return await start(program, options);
    } catch (error) {
      if (!(error instanceof EndedDriver) || starts === maxStarts) throw error;
    }
  }
}

/** Before it named its port. */
class EndedDriver extends DriverProblem {}

/** @throws {DriverProblem} if it does not start. */
async function start(program: string, { onExit, onStarted }: DriverProcessOptions): Promise<DriverProcess> {
  const { SHOAL_INSTANCE: _, ...env } = process.env;
  const child = spawn(program, ["--port=0", "--log-level=SEVERE"], {
    detached: process.platform !== "win32",
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  if (child.pid !== undefined) onStarted(child.pid);
  try {
    const driver = new DriverProcess(child, await started(child));
    if (child.exitCode !== null || child.signalCode !== null)
      throw new EndedDriver("chromedriver ended after its start.");
    child.once("exit", onExit);
    return driver;
  } catch (error) {
    kill(child);
    throw error;
  }
}

interface Started {
  readonly port: number;
  readonly version: string;
}

function started(child: ChildProcess): Promise<Started> {
  const { promise, reject, resolve } = Promise.withResolvers<Started>();
  const fail = (problem: string): void => {
    reject(new DriverProblem(`chromedriver did not start: ${problem}.`));
  };
  const timer = setTimeout(() => {
    fail(`no port after ${String(startMs / 1000)} seconds`);
  }, startMs);
  let text = "";
  child.once("error", (error) => {
    fail(error.message);
  });
  // After its last output.
  child.once("close", (code, signal) => {
    const said = text.trim().split("\n").at(-1)?.slice(0, 200) ?? "";
    reject(new EndedDriver(`chromedriver did not start: it ended with ${String(signal ?? code)}. ${said}`.trim()));
  });
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    // Later output is discarded.
    if (text.length >= maxStartCharacters) return;
    text += chunk;
    const port = /started successfully on port (\d{1,5})\./.exec(text)?.[1];
    if (port !== undefined)
      resolve({ port: Number(port), version: /^Starting \S+ (\d[\d.]{0,40})/.exec(text)?.[1] ?? "" });
  });
  return promise.finally(() => {
    clearTimeout(timer);
  });
}

function kill(child: ChildProcess): void {
  // The process id may have been reused.
  if (child.exitCode === null && child.signalCode === null) killGroup(child);
}
