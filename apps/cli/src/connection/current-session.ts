import { createHash } from "node:crypto";
import { chmodSync, fstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { configDir } from "./contexts.ts";
import { reach } from "./reach.ts";
import { ExitError } from "../core/errors.ts";
import { exitCodes } from "../core/exit-codes.ts";
import { homeFolder } from "../core/home-folder.ts";
import { printable } from "../output/format.ts";
import type { GlobalFlags, Run } from "../core/types.ts";

/** Which session the commands of a terminal use, per service. */
export class CurrentSession {
  readonly #path: string;

  constructor(env: NodeJS.ProcessEnv, baseUrl: string) {
    const name = createHash("sha256").update(`${terminalName()} ${baseUrl}`).digest("hex").slice(0, 32);
    this.#path = join(stateDir(env), "sessions", name);
  }

  read(): string | undefined {
    try {
      const id = readFileSync(this.#path, "utf8").trim();
      return /^[\w-]{1,255}$/.test(id) ? id : undefined;
    } catch {
      return undefined;
    }
  }

  write(sessionId: string): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const part = `${this.#path}.${String(process.pid)}.part`;
    writeFileSync(part, `${sessionId}\n`, { mode: 0o600 });
    // An existing file would keep its mode.
    chmodSync(part, 0o600);
    renameSync(part, this.#path);
  }

  clear(): void {
    rmSync(this.#path, { force: true });
  }
}

/** @returns `SHOAL_SESSION` or the terminal's session. */
export function findCurrentSession(flags: GlobalFlags, run: Run): string | undefined {
  const { SHOAL_SESSION: given } = run.env;
  return given === undefined || given === "" ? new CurrentSession(run.env, reach(flags, run).baseUrl).read() : given;
}

/** @param named - ID or name; otherwise `SHOAL_SESSION` or the terminal's session. @throws {ExitError} without one. */
export function currentSessionId(named: string | undefined, flags: GlobalFlags, run: Run): string {
  const id = named === undefined || named === "" ? findCurrentSession(flags, run) : named;
  if (id !== undefined) return id;
  throw new ExitError(
    exitCodes.usage.status,
    "This terminal has no current session.",
    "Start one with shoal open URL, or name one: see --help. SHOAL_SESSION also names one.",
  );
}

interface NamedSession {
  readonly name: string;
  readonly by: "flag" | "variable";
}

/** @returns `undefined` if only the terminal's session is left. */
export function namedSession(flag: string | undefined, { env }: Run): NamedSession | undefined {
  if (flag !== undefined && flag !== "") return { name: flag, by: "flag" };
  const { SHOAL_SESSION: name } = env;
  return name === undefined || name === "" ? undefined : { name, by: "variable" };
}

/** The error for a session that does not exist. @param named - how it was named; otherwise it was the terminal's. */
export function sessionEnded(id: string, named: NamedSession | undefined): ExitError {
  const hints = {
    flag: "List running sessions with: shoal browsers list",
    variable: "SHOAL_SESSION names it. Set the variable to a running session, or unset it.",
  };
  return new ExitError(
    exitCodes.notFound.status,
    `The session ${printable(id)} ${named === undefined ? "has ended" : "was not found. It may have ended"}.`,
    named === undefined ? "Start another one: shoal open URL" : hints[named.by],
  );
}

/** The terminal's device; one name for all programs without a terminal. */
function terminalName(): string {
  for (const descriptor of [0, 1, 2]) {
    try {
      const { mode, rdev } = fstatSync(descriptor);
      const isCharacterDevice = (mode & 0o170000) === 0o020000;
      // 1:3 is /dev/null.
      if (isCharacterDevice && rdev !== 0x103) return `device ${String(rdev)}`;
    } catch {
      // Closed.
    }
  }
  return "no terminal";
}

function stateDir(env: NodeJS.ProcessEnv): string {
  if (env.SHOAL_CONFIG_DIR !== undefined && env.SHOAL_CONFIG_DIR !== "") return configDir(env);
  if (env.XDG_STATE_HOME !== undefined && env.XDG_STATE_HOME !== "") return join(env.XDG_STATE_HOME, "shoal");
  return process.platform === "linux" ? join(homeFolder(env), ".local", "state", "shoal") : configDir(env);
}
