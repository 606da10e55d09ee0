import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

export interface Step {
  readonly title: string;
  readonly seconds: number;
  /** Why a user cannot go on, if so. */
  readonly deadEnd?: string;
}

export interface ReadyService {
  readonly base_url: string;
  readonly api_key: string;
  readonly pid: number;
}

interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Gets each line of stdout. */
  readonly onLine?: (line: string) => void;
}

const keptCharacters = 2_000;
const startMs = 600_000;

/** One kind of user, with a separate home folder: what they typed, how long it took, and where they were stuck. */
export class Way {
  readonly name: string;
  readonly clone: string;
  readonly home: string;
  readonly steps: Step[] = [];
  readonly #services: ChildProcess[] = [];

  constructor(name: string, { clone, home }: { readonly clone: string; readonly home: string }) {
    this.name = name;
    this.clone = clone;
    this.home = home;
    mkdirSync(home, { recursive: true });
  }

  /** A failure is a dead end, and ends the way. */
  async step<T>(title: string, act: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const result = await act();
      this.note(title, began);
      return result;
    } catch (error) {
      this.note(title, began, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Types a command that one of these pages shows. Returns its output. */
  async typed(command: string, pages: readonly string[], options: CommandOptions = {}): Promise<string> {
    return this.step(`$ ${command}`, () => {
      if (!pages.some((page) => readFileSync(join(this.clone, page), "utf8").includes(command)))
        throw new Error(`Neither ${pages.join(" nor ")} shows this command.`);
      return this.run(command, options);
    });
  }

  /** Runs a command of the shell. Returns its output. */
  async run(command: string, { cwd = this.clone, env = {}, onLine }: CommandOptions = {}): Promise<string> {
    const child = spawn("sh", ["-c", command], { cwd, env: this.environment(env), stdio: ["ignore", "pipe", "pipe"] });
    let [output, problem] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (problem = (problem + text).slice(-keptCharacters)));
    createInterface(child.stdout).on("line", (line) => onLine?.(line));
    const status = await new Promise((resolve) => child.once("close", resolve));
    if (status !== 0)
      throw new Error(`${command} ended with ${String(status)}.\n${output.slice(-keptCharacters)}\n${problem}`);
    return output;
  }

  environment(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const { PATH = "" } = process.env;
    const local = join(this.home, ".local");
    const own = { HOME: this.home, TMPDIR: this.home, npm_config_prefix: local, SHOAL_KEYCHAIN: "0", NO_COLOR: "1" };
    const names = ["LANG", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"] as const;
    const passed = Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
    return { ...passed, ...own, PATH: `${join(local, "bin")}:${PATH}`, ...env };
  }

  /** Types the command of a service, and waits until it answers. It ends with the way. */
  async serve(command: string, env: NodeJS.ProcessEnv = {}): Promise<ReadyService> {
    return this.step(`$ ${command}`, async () => {
      const file = join(this.home, `ready-${String(this.#services.length)}.json`);
      const child = spawn("sh", ["-c", `exec ${command}`], {
        cwd: this.clone,
        env: this.environment({ SHOAL_PORT: "0", SHOAL_READY_FILE: file, ...env }),
        stdio: ["ignore", "ignore", "pipe"],
      });
      this.#services.push(child);
      let problem = "";
      child.stderr
        .setEncoding("utf8")
        .on("data", (text: string) => (problem = (problem + text).slice(-keptCharacters)));
      const deadline = performance.now() + startMs;
      while (!existsSync(file)) {
        if (child.exitCode !== null || performance.now() > deadline)
          throw new Error(`The service does not answer. It printed last:\n${problem}`);
        await sleep(100);
      }
      return JSON.parse(readFileSync(file, "utf8")) as ReadyService;
    });
  }

  async stopServices(): Promise<void> {
    for (const child of this.#services.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGTERM");
      await ended;
    }
  }

  note(title: string, beganMs: number, deadEnd?: string): void {
    const seconds = (performance.now() - beganMs) / 1000;
    this.steps.push({ title, seconds, ...(deadEnd !== undefined && { deadEnd }) });
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${title}${deadEnd === undefined ? "" : "  ✗ dead end"}`);
  }
}
