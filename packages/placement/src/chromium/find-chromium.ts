import { fetchedPlaces, installedPlaces, placesOnSearchPath } from "./places.ts";
import { packagedChromium } from "./packaged-chromium.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { execFile } from "node:child_process";
import { access, constants, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, sep } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A headless shell is smaller and faster than a full browser, but has no extensions, policies and windows. */
export type ChromiumKind = "headless_shell" | "chrome";

/** `fetched`: by `@puppeteer/browsers`; `packaged`: an npm package. */
export type ChromiumSource = "named" | "installed" | "fetched" | "packaged";

export interface LocatedChromium {
  readonly executable: string;
  readonly kind: ChromiumKind;
  readonly source: ChromiumSource;
}

export interface FoundChromium extends LocatedChromium {
  readonly version: string;
}

const behindScripts: ReadonlyMap<string, string> = new Map([
  ["/usr/bin/chromium", "/usr/lib/chromium/chromium"],
  ["/usr/bin/chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell"],
  ["/usr/bin/google-chrome", "/opt/google/chrome/chrome"],
  ["/usr/bin/google-chrome-stable", "/opt/google/chrome/chrome"],
]);

/**
 * Finds `executable`, else an installed, fetched or packaged browser. Prefers headless shells of the same origin.
 * @throws {PlacementError} `no_chromium` if `executable` is not a program or a browser does not start.
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

/** Does not start the browser, and so does not know its version. */
export async function locateChromium(executable?: string): Promise<LocatedChromium | undefined> {
  if (executable !== undefined) {
    const path = await programAt(executable);
    if (path === undefined)
      throw new PlacementError(
        "no_chromium",
        `chromium: ${executable} is not a program that this user may run. Give the path of the browser's executable, or omit the option to search for one.`,
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

/** Finds a Chromium with windows, which `stealth` and extensions need. */
export async function locateFullChromium(): Promise<LocatedChromium | undefined> {
  for (const [places, source] of searches) {
    for (const place of await places()) {
      const path = await programAt(place);
      if (path !== undefined && kindOf(path) === "chrome" && !(await isSnap(path)))
        return { executable: path, kind: "chrome", source };
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

const versionPattern = /(?<!\d)\d+\.\d+\.\d+\.\d+/;

async function askVersion(executable: string): Promise<string> {
  // On Windows it prints nothing, but a folder next to it is named after its version.
  if (process.platform === "win32") {
    const beside = await readdir(dirname(executable));
    return beside.find((name) => versionPattern.test(name)) ?? "unknown";
  }
  try {
    const { stdout } = await run(executable, ["--version"], {
      timeout: 20_000,
      env: { HOME: "/nonexistent", PATH: "/usr/bin:/bin" },
    });
    return versionPattern.exec(stdout)?.[0] ?? "unknown";
  } catch (error) {
    const printed =
      typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr).trim() : String(error);
    const library = /loading shared libraries: ([^:]+)/.exec(printed)?.[1];
    const way = library === undefined ? "" : ` Install the package that contains ${library}${debianPackage(library)}.`;
    throw new PlacementError(
      "no_chromium",
      `The browser ${executable} does not start: ${printed.slice(0, 500)}.${way}`,
      { cause: error },
    );
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

/** Snaps run only under snapd, whose view of files excludes boxes and session directories. */
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

/** The npm package is `chromium` in a folder named after its version. */
function kindOf(executable: string): ChromiumKind {
  return /headless[-_]?shell/i.test(basename(executable)) ||
    (basename(executable) === "chromium" && /[/\\]chromium-[\d.]+$/.test(dirname(executable)))
    ? "headless_shell"
    : "chrome";
}
