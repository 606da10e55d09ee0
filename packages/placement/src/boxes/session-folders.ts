import type { PlacementLog } from "../interface/placement-log.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { identityOf, isRunning, processNamespace } from "../host/process-table.ts";
import { killStrays } from "./strays.ts";
import { removeTree } from "../host/remove-tree.ts";
import { messageOf } from "@shoal/primitives";
import * as z from "zod/mini";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

export interface SessionFolders {
  readonly sessionsDir: string;
  /** For sockets, whose path Unix limits to 107 bytes. */
  readonly runtimeDir: string;
  close(): Promise<void>;
}

const folderPrefix = "server-";
const runtimePrefix = "shoal-";
const runtimeName = /^shoal-[A-Za-z0-9]{6}$/;
const ownerFile = "owner.json";
const heartbeatMs = 60_000;
/** Milliseconds without a heartbeat after which an uncheckable owner (other container or boot) counts as dead. */
const silentMs = 10 * heartbeatMs;
const socketNameBytes = 32;

const Owner = z.object({
  pid: z.int(),
  start_ticks: z.number(),
  host: z.string(),
  boot: z.optional(z.string()),
  namespace: z.optional(z.string()),
  runtime_dir: z.string(),
});

/** Removes leftovers of killed servers. @throws {PlacementError} `bad_option` if `sessionsDir` is not writable. */
export async function openSessionFolders(sessionsDir: string, log: PlacementLog): Promise<SessionFolders> {
  const parent = resolve(sessionsDir);
  const name = `${folderPrefix}${randomBytes(6).toString("hex")}`;
  const fresh = join(parent, `.new-${name}`);
  const own = join(parent, name);
  let runtimeDir: string | undefined;
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await sweep(parent, log);
    await mkdir(fresh, { mode: 0o700 });
    runtimeDir = await mkdtemp(join(shortTemporaryDirectory(), runtimePrefix));
    const identity = identityOf(process.pid);
    const owner: z.output<typeof Owner> = {
      pid: identity.pid,
      start_ticks: identity.startTicks,
      host: hostname(),
      ...(await processNamespace()),
      runtime_dir: runtimeDir,
    };
    for (const folder of [runtimeDir, fresh]) await writeFile(join(folder, ownerFile), JSON.stringify(owner));
    // Renamed once it names its owner, because other servers remove folders without one.
    await rename(fresh, own);
    const made = { sessionsDir: own, runtimeDir };
    const heartbeat = setInterval(() => {
      const now = new Date();
      for (const folder of Object.values(made)) {
        utimes(join(folder, ownerFile), now, now).catch((error: unknown) => {
          log.warn({ path: folder, error: String(error) }, "Cannot update the heartbeat file of the session folders.");
        });
      }
    }, heartbeatMs);
    heartbeat.unref();
    return {
      ...made,
      async close() {
        clearInterval(heartbeat);
        await Promise.all(Object.values(made).map(removeTree));
      },
    };
  } catch (error) {
    await Promise.all([fresh, own, runtimeDir ?? fresh].map((path) => removeTree(path).catch(() => undefined)));
    if (PlacementError.isInstance(error)) throw error;
    throw new PlacementError(
      "bad_option",
      `sessionsDir: cannot use ${parent} (${messageOf(error)}). Choose a directory that this user may write to.`,
      { cause: error },
    );
  }
}

async function sweep(parent: string, log: PlacementLog): Promise<void> {
  for (const name of await readdir(parent)) {
    if (/^\.(?:compiling|loader|program)-/.test(name) && !(await isFresh(join(parent, name))))
      await removeTree(join(parent, name));
    if (!name.startsWith(folderPrefix) && !name.startsWith(`.new-${folderPrefix}`)) continue;
    const folder = join(parent, name);
    const owner = await readOwner(folder);
    if (owner === undefined ? await isFresh(folder) : await isAlive(owner, folder)) continue;
    for (const session of await readdir(folder).catch(() => [])) await killStrays(join(folder, session));
    await removeTree(folder);
    // The file may be forged: remove only folders named like those of this program.
    if (owner !== undefined && runtimeName.test(basename(owner.runtime_dir))) await removeTree(owner.runtime_dir);
    log.info({ path: folder, pid: owner?.pid }, "Removed the leftovers of a killed server.");
  }
  await sweepRuntime();
}

async function sweepRuntime(): Promise<void> {
  const parent = shortTemporaryDirectory();
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (!runtimeName.test(name) || (await stat(folder).catch(() => undefined))?.uid !== process.getuid?.()) continue;
    const owner = await readOwner(folder);
    if (owner !== undefined && !(await isAlive(owner, folder))) await removeTree(folder);
  }
}

async function readOwner(folder: string): Promise<z.output<typeof Owner> | undefined> {
  try {
    return Owner.parse(JSON.parse(await readFile(join(folder, ownerFile), "utf8")));
  } catch {
    return undefined;
  }
}

async function isAlive(owner: z.output<typeof Owner>, folder: string): Promise<boolean> {
  const here = await processNamespace();
  const sameHost = owner.host === hostname();
  if (owner.boot === here?.boot && owner.namespace === here?.namespace && (here !== undefined || sameHost))
    return isRunning({ pid: owner.pid, startTicks: owner.start_ticks });
  if (sameHost && owner.boot !== here?.boot) return false;
  return isFresh(join(folder, ownerFile));
}

async function isFresh(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < silentMs;
}

function shortTemporaryDirectory(): string {
  const usual = tmpdir();
  const tooLong = Buffer.byteLength(join(usual, `${runtimePrefix}XXXXXX`)) + socketNameBytes > 103;
  return tooLong && process.platform !== "win32" ? "/tmp" : usual;
}
