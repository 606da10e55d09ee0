import { hasCode } from "@shoal/primitives";
import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { log } from "../../system/log.ts";
import { candidateNames, safeFileName } from "./file-names.ts";
import { copyFileTo } from "./finished-file.ts";

export interface CompleteFile {
  readonly id: string;
  /** Suggested by the site. */
  readonly name: string;
  /** According to Chromium. */
  readonly path: string | undefined;
}

/** Of Chromium, after the guid of a file that it still writes. */
const partialEnding = ".crdownload";

/**
 * Chromium overwrites files of suggested names, so it writes each file under its guid into a folder next to
 * `Downloads`; a finished file moves atomically to the next free name. Files in other folders are also linked there.
 */
export class DownloadPlaces {
  readonly folder: string;
  readonly incoming: string;
  /** For Playwright code: its files are linked into `Downloads`, not moved. */
  readonly codeFolder: string;

  constructor(home: string) {
    this.folder = join(home, "Downloads");
    this.incoming = join(home, ".incoming-downloads");
    this.codeFolder = join(this.incoming, "code");
  }

  /** Removes partial downloads of a crashed browser. */
  reset(): void {
    rmSync(this.incoming, { recursive: true, force: true });
    mkdirSync(this.incoming, { recursive: true });
  }

  /** Removes complete files there, and the folder itself unless a download still runs. */
  clearCodeFolder(isRunning: (id: string) => boolean): void {
    // A crash of the browser has removed the folder.
    if (!existsSync(this.codeFolder)) return;
    try {
      const names = readdirSync(this.codeFolder);
      const complete = names.filter((name) => !isRunning(basename(name, partialEnding)));
      if (complete.length === names.length) rmSync(this.codeFolder, { recursive: true });
      else for (const name of complete) rmSync(join(this.codeFolder, name), { recursive: true });
    } catch (error) {
      log("warn", "the downloads of Playwright code could not be removed", { error: String(error) });
    }
  }

  /**
   * Returns the file's path in `Downloads`, or where its client wanted it if that is impossible. Only a copy between
   * filesystems is asynchronous: clients expect the file when they receive Chromium's event.
   */
  place({ id, name, path }: CompleteFile): string | undefined | Promise<string | undefined> {
    if (!/^[\w-]{1,64}$/.test(id)) return path;
    const moved = join(this.incoming, id);
    const linked = join(this.codeFolder, id);
    try {
      if (existsSync(moved)) return this.#give(name, move.bind(undefined, moved));
      if (existsSync(linked)) return this.#give(name, linkSync.bind(undefined, linked));
    } catch (error) {
      logFailure(error);
      return path;
    }
    return path === undefined ? undefined : this.#repeat(id, name, path);
  }

  #repeat(id: string, name: string, path: string): string | undefined | Promise<string | undefined> {
    if (dirname(path) === this.folder && basename(path) !== id) return path;
    try {
      if (!lstatSync(path).isFile()) return undefined;
      return this.#give(name, linkSync.bind(undefined, path));
    } catch {
      return this.#copy(name, path);
    }
  }

  #give(name: string, give: (to: string) => void): string {
    mkdirSync(this.folder, { recursive: true });
    for (const candidate of candidateNames(safeFileName(name))) {
      const to = join(this.folder, candidate);
      try {
        give(to);
        return to;
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
    }
    throw new Error(`every name like ${name} is taken`);
  }

  /** @returns the given path on failure. */
  async #copy(name: string, path: string): Promise<string> {
    try {
      for (const candidate of candidateNames(safeFileName(name))) {
        const to = join(this.folder, candidate);
        if (await copyUnlessTaken(path, to)) return to;
      }
    } catch (error) {
      logFailure(error);
    }
    return path;
  }
}

async function copyUnlessTaken(from: string, to: string): Promise<boolean> {
  try {
    await copyFileTo(from, to);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** Unlike a rename, a link fails when the file exists. */
function move(from: string, to: string): void {
  linkSync(from, to);
  unlinkSync(from);
}

function isTaken(error: unknown): boolean {
  return hasCode(error, "EEXIST");
}

function logFailure(error: unknown): void {
  log("error", "a download could not be moved to its folder", { error: String(error) });
}
