import type { ExecProcess } from "@shoal/schemas";
import { statSync, type Stats } from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";
import { invalidInput } from "../fs/errors.ts";
import { hostPath, normalisePath, type SessionRoot } from "../fs/paths.ts";
import { findUser } from "./users.ts";

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

export type CommandRequest = Pick<ExecProcess, "command" | "args" | "cwd" | "env" | "as_user" | "as_root">;

export interface CommandSurroundings {
  readonly root: SessionRoot;
  readonly env: Readonly<Record<string, string>>;
  /** A request cannot override these variables: they identify the process's session. */
  readonly fixedEnv: Readonly<Record<string, string>>;
}

/** Characters that turn a command without arguments into a shell line. */
const shellCharacters = /[\s|&;<>()$`\\"'*?[\]#~=%!{}]/;

/** Without arguments, a command with a shell character is a shell line, unless a program has exactly this name. */
export async function findCommand(request: CommandRequest, surroundings: CommandSurroundings): Promise<Command> {
  const { command, args = [] } = request;
  const { root } = surroundings;
  const user = await findUser(request);
  const cwd = await findDirectory(root, request.cwd ?? root.home);
  const env = { ...surroundings.env, ...request.env, ...surroundings.fixedEnv };
  const base = { cwd, env, ...user };
  const isLine = args.length === 0 && shellCharacters.test(command);
  const program = isLine && !command.includes("/") ? undefined : findProgram(command, cwd, env);
  if (program !== undefined) return { ...base, file: program, args };
  if (isLine)
    return process.platform === "win32"
      ? { ...base, file: env.ComSpec ?? "cmd.exe", args: ["/d", "/s", "/c", command] }
      : { ...base, file: "/bin/sh", args: ["-c", command] };
  throw invalidInput(
    "body.command",
    `${shortened(command)} was not found${command.includes("/") ? " or may not be run" : ` in PATH (${shortened(env.PATH ?? "")})`}`,
    { hint: "Use the path or the name of an existing program." },
  );
}

async function findDirectory(root: SessionRoot, path: string): Promise<string> {
  const directory = await hostPath(root, normalisePath(path, "body.cwd"), { follow: true, action: "run a command in" });
  const found = statOf(directory);
  if (found?.isDirectory() !== true)
    throw invalidInput(
      "body.cwd",
      `${shortened(path)} ${found === undefined ? "does not exist, or is not accessible" : "is not a directory"}`,
      { hint: "Create it first, or omit cwd for the home directory." },
    );
  return directory;
}

/** Spawn errors do not distinguish a missing program from a missing interpreter, and terminals report none. */
function findProgram(command: string, cwd: string, env: Readonly<Record<string, string>>): string | undefined {
  if (command.includes("/")) return isProgram(resolve(cwd, command));
  for (const directory of (env.PATH ?? "").split(delimiter)) {
    for (const ending of process.platform === "win32" ? (env.PATHEXT ?? ".EXE;.CMD").split(";").concat("") : [""]) {
      const found = isProgram(resolve(cwd, directory, command + ending));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function isProgram(path: string): string | undefined {
  const found = statOf(path);
  return found?.isFile() === true && (process.platform === "win32" || (found.mode & 0o111) !== 0) ? path : undefined;
}

/** Synchronous: a check takes microseconds, less than a turn through the thread pool. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

export function commandEnvironment(
  root: SessionRoot,
  environment: NodeJS.ProcessEnv,
  proxyUrl: string | undefined,
): Pick<CommandSurroundings, "env" | "fixedEnv"> {
  const { SHOAL_INSTANCE: _, TERM: __, SHOAL_SESSION_DIR: sessionDir, ...rest } = environment;
  const env = Object.fromEntries(
    Object.entries(rest).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const network =
    proxyUrl === undefined
      ? {}
      : {
          http_proxy: proxyUrl,
          https_proxy: proxyUrl,
          HTTP_PROXY: proxyUrl,
          HTTPS_PROXY: proxyUrl,
          no_proxy: "localhost,127.0.0.1,::1",
          NO_PROXY: "localhost,127.0.0.1,::1",
        };
  return {
    env: { ...env, HOME: join(root.directory, root.home), USER: basename(root.home), ...network },
    fixedEnv: sessionDir === undefined ? {} : { SHOAL_SESSION_DIR: sessionDir },
  };
}
