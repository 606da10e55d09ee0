import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { constants } from "node:fs";
import { access, chown, readdir, readFile, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DatabaseError } from "../database-error.ts";

/** The real user that files made for PostgreSQL must belong to. */
export interface RealUser {
  readonly uid: number;
  readonly gid: number;
}

/** Starts PostgreSQL's programs as a user that they accept (not root, and one with a name), so that they end when we do. */
export interface Launcher {
  /** `whenOrphaned` is what the program gets, from the kernel, at the death of this process. Linux with util-linux only. */
  launch(program: string, args: readonly string[], whenOrphaned: "SIGINT" | "SIGKILL"): ChildProcess;
  /** Set when the programs run as another user of the machine, who must be given the files. */
  readonly realUser: RealUser | undefined;
}

/** Paths that a launcher's user must get at. */
export interface Needs {
  /** To run. */
  readonly program: string;
  /** To write to. */
  readonly directory: string;
}

const systemPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Ends at once when the parent died before the kernel was told to watch it. */
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

/** Users of the machine with a name, root excepted: initdb insists on one, and maps nothing else. */
async function namedUsers(): Promise<Map<string, RealUser>> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const users = text.split("\n").map((line) => line.split(":"));
  return new Map(
    users
      .filter(([name = "", , uid = "", gid = ""]) => name !== "" && Number(uid) > 0 && /^\d+$/.test(uid) && /^\d+$/.test(gid))
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

/** On Windows the environment is inherited, because programs do not start there without some of it. */
const cleanEnvironment: SpawnOptions = process.platform === "win32" ? {} : { env: { PATH: systemPath.join(":"), LANG: "C", LC_ALL: "C", TZ: "UTC" } };

/** Starts a program in a session of its own, so that Ctrl-C in our terminal does not end the database before its users. */
function start(command: readonly string[]): ChildProcess {
  const [file = "", ...args] = command;
  return spawn(file, args, { ...cleanEnvironment, stdio: ["ignore", "pipe", "pipe"], detached: process.platform !== "win32", windowsHide: true });
}

interface Way {
  /** What comes before `setpriv`. */
  readonly enter: readonly string[];
  /** Options of `setpriv`. */
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

/** Tries what a way can reach, as the user it leads to. */
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

/** Ways for root and for users without a name, best first. */
async function waysOut(cluster: string, directory: string, unshare: string | undefined): Promise<Way[]> {
  const users = await namedUsers();
  const [insider] = users.values();
  const ways: Way[] = [];
  const owner = await stat(cluster).catch(() => undefined);
  // A user namespace of one user: outside it is us, so all files stay ours, and inside it is not root.
  if (unshare !== undefined && insider !== undefined && (owner === undefined || owner.uid === process.geteuid?.())) {
    ways.push({ enter: [unshare, "--user", `--map-user=${insider.uid}`, `--map-group=${insider.gid}`, "--"], become: [], realUser: undefined });
  }
  if (process.geteuid?.() !== 0) return [...ways, asWeAre];
  // Containers often forbid user namespaces; root can still become another user of the machine.
  const home = await stat(directory);
  const candidates = [owner, home, users.get("postgres"), users.get("nobody"), insider];
  const other = candidates.find((user) => user !== undefined && user.uid !== 0);
  if (other !== undefined && (owner === undefined || owner.uid === other.uid)) {
    const { uid, gid } = other;
    ways.push({ enter: [], become: [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"], realUser: { uid, gid } });
  }
  return ways;
}

/** Whether nothing in a directory speaks against giving it to another user. */
async function holdsOnlyOurs(directory: string): Promise<boolean> {
  const ours = new Set(["lock", "owner.json", "run"]);
  return (await readdir(directory)).every((name) => ours.has(name) || name.startsWith("postgresql-"));
}

/**
 * Chooses how PostgreSQL's programs are started for a directory.
 *
 * @param needs - where the programs and the directory are, and the folder of the database itself, made or not.
 * @returns the launcher, and whether its user reaches the programs; if not, they have to be copied into the directory.
 * @throws {DatabaseError} `data_dir_unreachable` or `embedded_failed`, when no user does who is not root.
 */
export async function chooseLauncher(needs: Needs & { readonly cluster: string }): Promise<{ launcher: Launcher; reachesProgram: boolean }> {
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
    // The directory is fine, so the programs can be copied into it.
    if (verdict === "no_program") return { launcher, reachesProgram: false };
    verdicts.push(verdict);
  }
  if (verdicts.includes("no_directory")) {
    throw new DatabaseError(`PostgreSQL does not run as root, and no other user can get at the data directory ${needs.directory}.`, {
      code: "data_dir_unreachable",
      hint: "Choose a data directory outside of folders that are closed to others, or start as the user who owns it.",
    });
  }
  throw new DatabaseError(
    "PostgreSQL does not run as root, and this system lets root neither open a user namespace (unshare) nor become another user (setpriv).",
    {
      code: "embedded_failed",
      hint: "Start as a plain user, install util-linux, or give the URL of a PostgreSQL 14 or newer.",
    },
  );
}
