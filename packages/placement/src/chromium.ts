import { fetchedPlaces, installedPlaces, placesOnSearchPath } from "./chromium-places.ts";
import { packagedChromium } from "./packaged-chromium.ts";
import { PlacementError } from "./placement-error.ts";
import { execFile } from "node:child_process";
import { access, constants, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, sep } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A headless shell starts in a third of the time and a quarter of the memory; a full browser can do what needs a whole one: extensions, policies, windows. */
export type ChromiumKind = "headless_shell" | "chrome";

/** Where a browser comes from: named by the caller, installed on the host, fetched by `@puppeteer/browsers`, or shipped by npm. */
export type ChromiumSource = "named" | "installed" | "fetched" | "packaged";

export interface LocatedChromium {
  /** Absolute path. */
  readonly executable: string;
  readonly kind: ChromiumKind;
  readonly source: ChromiumSource;
}

/** A Chromium that was found, and ran to tell its version. */
export interface FoundChromium extends LocatedChromium {
  /** Four numbers, `156.0.8078.79`. */
  readonly version: string;
}

/** Debian's and Google's start scripts, and the programs that they start. */
const behindScripts: ReadonlyMap<string, string> = new Map([
  ["/usr/bin/chromium", "/usr/lib/chromium/chromium"],
  ["/usr/bin/chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell"],
  ["/usr/bin/google-chrome", "/opt/google/chrome/chrome"],
  ["/usr/bin/google-chrome-stable", "/opt/google/chrome/chrome"],
]);

/**
 * Finds the browser to run: `executable` if it is given, else one that is installed, one that `@puppeteer/browsers` fetched, or the one that npm ships; a
 * headless shell before a full browser of the same origin. Its version is asked for once per file.
 *
 * @throws {PlacementError} `no_chromium` when `executable` is given and is not a program, or a browser does not start; the message names the missing library.
 */
export async function findChromium(options: { readonly executable?: string } = {}): Promise<FoundChromium | undefined> {
  const located = await locateChromium(options.executable);
  return located && { ...located, version: await versionOf(located.executable) };
}

const searches = [
  [installedPlaces, "installed"],
  [placesOnSearchPath, "installed"],
  [fetchedPlaces, "fetched"],
] as const;

/** {@link findChromium} without the version, so without starting the browser. */
export async function locateChromium(executable?: string): Promise<LocatedChromium | undefined> {
  if (executable !== undefined) {
    const path = await programAt(executable);
    if (path === undefined)
      throw new PlacementError(
        "no_chromium",
        `chromium: ${executable} is not a program that this user may run. Name the browser's own executable, or leave the option out to have one searched for.`,
      );
    return { executable: path, kind: kindOf(path), source: "named" };
  }
  for (const [places, source] of searches) {
    for (const place of await places()) {
      const path = await programAt(place);
      if (path !== undefined && !(await isSnap(path))) return { executable: path, kind: kindOf(path), source };
    }
  }
  const packaged = await packagedChromium();
  return packaged === undefined ? undefined : { executable: packaged, kind: "headless_shell", source: "packaged" };
}

/** The first full browser that is installed or was fetched; for hosts whose sessions run in a headless shell unless they ask for more. */
export async function locateFullChromium(): Promise<LocatedChromium | undefined> {
  for (const [places, source] of searches) {
    for (const place of await places()) {
      const path = await programAt(place);
      if (path !== undefined && kindOf(path) === "chrome" && !(await isSnap(path))) return { executable: path, kind: "chrome", source };
    }
  }
  return undefined;
}

const versions = new Map<string, Promise<string>>();

async function versionOf(executable: string): Promise<string> {
  const { mtimeMs, size } = await stat(executable);
  const key = `${executable}\0${mtimeMs}\0${size}`;
  const known = versions.get(key);
  if (known !== undefined) return known;
  const asked = askVersion(executable);
  versions.set(key, asked);
  asked.catch(() => versions.delete(key));
  return asked;
}

const versionPattern = /\d+\.\d+\.\d+\.\d+/;

async function askVersion(executable: string): Promise<string> {
  // On Windows the browser prints nothing, but has a folder named after its version beside it.
  if (process.platform === "win32") {
    const beside = await readdir(dirname(executable));
    return beside.find((name) => versionPattern.test(name)) ?? "unknown";
  }
  try {
    const { stdout } = await run(executable, ["--version"], { timeout: 20_000, env: { HOME: "/nonexistent", PATH: "/usr/bin:/bin" } });
    return versionPattern.exec(stdout)?.[0] ?? "unknown";
  } catch (error) {
    const printed = typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr).trim() : String(error);
    const library = /loading shared libraries: ([^:]+)/.exec(printed)?.[1];
    const way = library === undefined ? "" : ` Install the package that holds ${library}${debianPackage(library)}.`;
    throw new PlacementError("no_chromium", `The browser ${executable} does not start: ${printed.slice(0, 500)}.${way}`, { cause: error });
  }
}

function debianPackage(library: string): string {
  const name = new Map([
    ["libnss3.so", "libnss3"],
    ["libnssutil3.so", "libnss3"],
    ["libsmime3.so", "libnss3"],
    ["libnspr4.so", "libnspr4"],
  ]).get(library);
  return name === undefined ? "" : ` (on Debian and Ubuntu: apt-get install ${name})`;
}

async function programAt(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    if (!(await stat(path)).isFile()) return undefined;
    const behind = behindScripts.get(path);
    if (behind !== undefined && (await isProgram(behind))) return behind;
    return await realpath(path);
  } catch {
    return undefined;
  }
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** A snap runs only under snapd, with a view of the files of its own: neither a box nor a session's directory would be seen by it. */
async function isSnap(path: string): Promise<boolean> {
  if (path.split(sep).includes("snap")) return true;
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    const head = buffer.toString("latin1", 0, bytesRead);
    return head.startsWith("#!") && head.includes("/snap/");
  } finally {
    await file.close();
  }
}

/** By its name: the one that npm ships is `chromium` in a folder named after its version. */
function kindOf(executable: string): ChromiumKind {
  return /headless[-_]?shell/i.test(basename(executable)) ||
    (basename(executable) === "chromium" && /[/\\]chromium-[\d.]+$/.test(dirname(executable)))
    ? "headless_shell"
    : "chrome";
}
