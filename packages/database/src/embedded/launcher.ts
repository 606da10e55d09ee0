import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { constants } from "node:fs";
import { access, chown, readdir, readFile, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DatabaseError } from "../database-error.ts";

export interface RealUser {
  readonly uid: number;
  readonly gid: number;
}

/** Starts programs as a user that PostgreSQL accepts (not root, and with a name), and ends them with this process. */
export interface Launcher {
  /** `whenOrphaned`: signal that the kernel sends when this process dies. Only on Linux with util-linux. */
  launch(program: string, args: readonly string[], whenOrphaned: "SIGINT" | "SIGKILL"): ChildProcess;
  /** Set if the programs run as another user. The files must belong to that user. */
  readonly realUser: RealUser | undefined;
}

export interface Needs {
  readonly program: string;
  readonly directory: string;
}

const systemPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Exits if the parent died before the death signal was set up. */
const guard = 'test "$PPID" = "$1" || exit 1; shift; exec "$@"';

async function findTool(name: string): Promise<string | undefined> {
  for (const folder of systemPath) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** initdb requires a named user other than root. */
async function namedUsers(): Promise<Map<string, RealUser>> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const users = text.split("\n").map((line) => line.split(":"));
  return new Map(
    users
      .filter(
        ([name = "", , uid = "", gid = ""]) => name !== "" && Number(uid) > 0 && /^\d+$/.test(uid) && /^\d+$/.test(gid),
      )
      .map(([name = "", , uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]),
  );
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/** Windows programs need the inherited environment. */
const cleanEnvironment: SpawnOptions =
  process.platform === "win32" ? {} : { env: { PATH: systemPath.join(":"), LANG: "C", LC_ALL: "C", TZ: "UTC" } };

/** A separate `setsid` session, so that Ctrl-C does not end the database before its clients. */
function start(command: readonly string[]): ChildProcess {
  const [file = "", ...args] = command;
  return spawn(file, args, {
    ...cleanEnvironment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
}

interface Way {
  readonly enter: readonly string[];
  readonly become: readonly string[];
  readonly realUser: RealUser | undefined;
}

const asWeAre: Way = { enter: [], become: [], realUser: undefined };

function launcherFor(way: Way, setpriv: string | undefined): Launcher {
  return {
    realUser: way.realUser,
    launch(program, args, whenOrphaned) {
      if (setpriv === undefined) return start([...way.enter, program, ...args]);
      const watch = [setpriv, `--pdeathsig=${whenOrphaned.slice(3)}`, ...way.become, "--"];
      return start([...way.enter, ...watch, "/bin/sh", "-c", guard, "sh", String(process.pid), program, ...args]);
    },
  };
}

type Verdict = "fit" | "cannot_start" | "no_program" | "no_directory";

async function examine(launcher: Launcher, { program, directory }: Needs): Promise<Verdict> {
  const script = 'test -w "$2" && test -x "$2" || exit 11; test -x "$1" || exit 10';
  const child = launcher.launch("/bin/sh", ["-c", script, "sh", program, directory], "SIGKILL");
  child.stdout?.resume();
  child.stderr?.resume();
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => {
      resolve(null);
    });
    child.once("close", resolve);
  });
  if (code === 0) return "fit";
  if (code === 10) return "no_program";
  return code === 11 ? "no_directory" : "cannot_start";
}

async function waysOut(cluster: string, directory: string, unshare: string | undefined): Promise<Way[]> {
  const users = await namedUsers();
  const [insider] = users.values();
  const ways: Way[] = [];
  const owner = await stat(cluster).catch(() => undefined);
  // A user namespace with one user: inside it is not root, and outside it is the current user, the owner of all files.
  if (unshare !== undefined && insider !== undefined && (owner === undefined || owner.uid === process.geteuid?.())) {
    ways.push({
      enter: [unshare, "--user", `--map-user=${insider.uid}`, `--map-group=${insider.gid}`, "--"],
      become: [],
      realUser: undefined,
    });
  }
  if (process.geteuid?.() !== 0) return [...ways, asWeAre];
  // Containers often forbid user namespaces, but root can become another user.
  const home = await stat(directory);
  const candidates = [owner, home, users.get("postgres"), users.get("nobody"), insider];
  const other = candidates.find((user) => user !== undefined && user.uid !== 0);
  if (other !== undefined && (owner === undefined || owner.uid === other.uid)) {
    const { uid, gid } = other;
    ways.push({ enter: [], become: [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"], realUser: { uid, gid } });
  }
  return ways;
}

/** Returns whether a directory has only files of this program, so that another user may own it. */
async function holdsOnlyOurs(directory: string): Promise<boolean> {
  const ours = new Set(["lock", "owner.json", "run"]);
  return (await readdir(directory)).every((name) => ours.has(name) || name.startsWith("postgresql-"));
}

/**
 * @returns the launcher, and whether its user can access the programs; if not, copy them into the directory.
 * @throws {DatabaseError} `data_dir_unreachable` or `embedded_failed` if no user except root can access the directory.
 */
export async function chooseLauncher(
  needs: Needs & { readonly cluster: string },
): Promise<{ launcher: Launcher; reachesProgram: boolean }> {
  if (process.platform !== "linux") return { launcher: launcherFor(asWeAre, undefined), reachesProgram: true };
  const setpriv = await findTool("setpriv");
  if (process.geteuid?.() !== 0 && hasName()) return { launcher: launcherFor(asWeAre, setpriv), reachesProgram: true };
  const verdicts: Verdict[] = [];
  for (const way of await waysOut(needs.cluster, needs.directory, await findTool("unshare"))) {
    if (way.become.length > 0 && setpriv === undefined) continue;
    const launcher = launcherFor(way, setpriv);
    let verdict = await examine(launcher, needs);
    if (verdict === "no_directory" && way.realUser !== undefined && (await holdsOnlyOurs(needs.directory))) {
      await chown(needs.directory, way.realUser.uid, way.realUser.gid);
      verdict = await examine(launcher, needs);
    }
    if (verdict === "fit") return { launcher, reachesProgram: true };
    if (verdict === "no_program") return { launcher, reachesProgram: false };
    verdicts.push(verdict);
  }
  if (verdicts.includes("no_directory")) {
    throw new DatabaseError(
      `PostgreSQL does not run as root, and no other user can access the data directory ${needs.directory}.`,
      {
        code: "data_dir_unreachable",
        hint: "Choose a data directory that other users can access, or start as its owner.",
      },
    );
  }
  throw new DatabaseError(
    "PostgreSQL does not run as root, and this system does not allow root to create a user namespace (unshare) or become another user (setpriv).",
    {
      code: "embedded_failed",
      hint: "Start as a plain user, install util-linux, or set the URL of a PostgreSQL 14 or newer.",
    },
  );
}
