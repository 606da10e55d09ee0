import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Distributions wrap these in scripts, which add flags. */
const linuxShells = [
  "/usr/lib/chromium/chromium-headless-shell",
  "/usr/lib64/chromium-browser/headless_shell",
  "/usr/lib/chromium/headless_shell",
  "/opt/google/chrome-headless-shell/chrome-headless-shell",
];
const linuxBrowsers = [
  "/opt/google/chrome/chrome",
  "/usr/lib/chromium/chromium",
  "/usr/lib64/chromium-browser/chromium-browser",
  "/usr/lib/chromium-browser/chromium-browser",
  "/opt/chromium.org/chromium/chrome",
  "/opt/google/chrome-beta/chrome",
  "/opt/google/chrome-unstable/chrome",
];
const macApplications = [
  "Google Chrome.app/Contents/MacOS/Google Chrome",
  "Chromium.app/Contents/MacOS/Chromium",
  "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
  "Google Chrome Beta.app/Contents/MacOS/Google Chrome Beta",
];
const windowsPrograms = [
  "Google\\Chrome\\Application\\chrome.exe",
  "Chromium\\Application\\chrome.exe",
  "Google\\Chrome Beta\\Application\\chrome.exe",
];
const commands = [
  "chrome-headless-shell",
  "chromium-headless-shell",
  "headless_shell",
  "google-chrome-stable",
  "google-chrome",
  "chromium",
  "chromium-browser",
  "chrome",
];

export function installedPlaces(): readonly string[] {
  switch (process.platform) {
    case "darwin":
      return ["/Applications", join(homedir(), "Applications")].flatMap((folder) =>
        macApplications.map((name) => join(folder, name)),
      );
    case "win32":
      return ["C:\\Program Files", "C:\\Program Files (x86)", join(homedir(), "AppData\\Local")].flatMap((folder) =>
        windowsPrograms.map((name) => join(folder, name)),
      );
    default:
      return [...linuxShells, ...linuxBrowsers];
  }
}

export async function placesOnSearchPath(): Promise<readonly string[]> {
  const found =
    process.platform === "win32"
      ? run("where.exe", commands)
      : // `where.exe` fails if one command is missing, but still prints the others.
        run("/bin/sh", ["-c", 'for each in "$@"; do command -v "$each"; done; true', "sh", ...commands]);
  const { stdout } = await found.catch(() => ({ stdout: "" }));
  return stdout.split(/\r?\n/).filter((line) => /[/\\]/.test(line));
}

export async function fetchedPlaces(): Promise<readonly string[]> {
  const cache = join(homedir(), ".cache", "puppeteer");
  const programs: readonly (readonly [folder: string, file: RegExp])[] = [
    ["chrome-headless-shell", /^chrome-headless-shell(?:\.exe)?$/],
    ["chrome", /^(?:chrome(?:\.exe)?|Google Chrome for Testing\.app)$/],
    ["chromium", /^(?:chrome(?:\.exe)?|Chromium\.app)$/],
  ];
  const places: string[] = [];
  for (const [folder, file] of programs) {
    const versions = await readdir(join(cache, folder)).catch(() => []);
    for (const version of versions.sort(newestFirst)) {
      for (const inner of await readdir(join(cache, folder, version)).catch(() => [])) {
        for (const name of await readdir(join(cache, folder, version, inner)).catch(() => [])) {
          if (file.test(name))
            places.push(
              join(
                cache,
                folder,
                version,
                inner,
                name,
                ...(name.endsWith(".app") ? ["Contents", "MacOS", name.slice(0, -4)] : []),
              ),
            );
        }
      }
    }
  }
  return places;
}

function newestFirst(a: string, b: string): number {
  return b.localeCompare(a, "en", { numeric: true });
}
