import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { LocatedChromium } from "../chromium/find-chromium.ts";
import type { Bind } from "./command.ts";

/** A browser in `/usr` needs none. Others are in a folder with their libraries, or a single file. */
export async function bindsOfChromium(
  { executable }: LocatedChromium,
  place: string,
): Promise<{ readonly executable: string; readonly binds: readonly Bind[] }> {
  if (executable.startsWith("/usr/")) return { executable, binds: [] };
  const folder = dirname(executable);
  const to = join(place, basename(executable));
  const names = await readdir(folder);
  const isBrowserFolder =
    names.some((name) => name === "icudtl.dat" || name === "libGLESv2.so") &&
    ((await stat(folder)).mode & 0o1000) === 0;
  return { executable: to, binds: [isBrowserFolder ? { from: folder, to: place } : { from: executable, to }] };
}
