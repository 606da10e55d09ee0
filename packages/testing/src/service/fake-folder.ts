import { identityOf, isRunning, processNamespace } from "@shoal/placement";
import { readdirSync, rmSync } from "node:fs";
import { chmod, lstat, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";

export interface FakeFolder extends AsyncDisposable {
  readonly path: string;
}

const ownerFile = "owner.json";
const removal = { recursive: true, force: true, maxRetries: 5 } as const;

const Owner = z.object({
  pid: z.int(),
  start_ticks: z.number(),
  host: z.string(),
  boot: z.optional(z.string()),
  namespace: z.optional(z.string()),
});

/** Folders of this process that an exit without `close` removes. */
const present = new Set<string>();

function removePresent(): void {
  for (const path of present)
    try {
      for (const name of readdirSync(path)) if (name !== ownerFile) rmSync(join(path, name), removal);
      rmSync(path, removal);
    } catch {
      // PostgreSQL still writes. The next start sweeps the rest.
    }
}

/** The file of the owner last: what it names can be swept after a failure. */
async function removeFolder(path: string): Promise<void> {
  const names = await readdir(path).catch(() => []);
  for (const name of names) if (name !== ownerFile) await rm(join(path, name), removal);
  await rm(path, removal);
}

/** Moves the removal of the folders behind the other listeners for the exit of this process: one ends PostgreSQL. */
export function removeLastAtExit(): void {
  process.off("exit", removePresent);
  process.on("exit", removePresent);
}

/** As root, PostgreSQL may run as another user, which has to pass through the folder. */
export const folderMode = process.geteuid?.() === 0 ? 0o711 : 0o700;

/**
 * Creates an empty folder that ends with this process. Removes those of killed processes.
 * @param prefix - of the names of these folders in `parent`.
 */
export async function openFakeFolder(parent: string, prefix: string): Promise<FakeFolder> {
  await sweep(parent, prefix);
  const path = await mkdtemp(join(parent, prefix));
  present.add(path);
  removeLastAtExit();
  const remove = async (): Promise<void> => {
    await removeFolder(path);
    present.delete(path);
  };
  try {
    await chmod(path, folderMode);
    const { pid, startTicks } = identityOf(process.pid);
    const owner: z.output<typeof Owner> = {
      pid,
      start_ticks: startTicks,
      host: hostname(),
      ...(await processNamespace()),
    };
    await writeFile(join(path, ownerFile), JSON.stringify(owner));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, [Symbol.asyncDispose]: remove };
}

async function sweep(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (name.startsWith(prefix) && (await isOurs(path)) && (await isOrphaned(path)))
      await removeFolder(path).catch(() => undefined);
  }
}

async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && (process.platform === "win32" || found.uid === process.geteuid?.());
}

/** False for processes that are invisible from here, in another container for instance. */
async function isOrphaned(path: string): Promise<boolean> {
  let owner: z.output<typeof Owner>;
  try {
    owner = Owner.parse(JSON.parse(await readFile(join(path, ownerFile), "utf8")));
  } catch {
    return false;
  }
  const here = await processNamespace();
  if (owner.host !== hostname()) return false;
  if (owner.boot !== here?.boot) return true;
  return owner.namespace === here?.namespace && !isRunning({ pid: owner.pid, startTicks: owner.start_ticks });
}
