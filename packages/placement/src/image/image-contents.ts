import { localesIn } from "../boxes/locales.ts";
import { installedPlaces } from "../chromium/places.ts";
import { PlacementError } from "../interface/placement-error.ts";
import * as z from "zod/mini";

export interface ImageContents {
  readonly node: string;
  /** Unreadable copy of the dynamic loader. @see makeNodeLoader */
  readonly loader: string | undefined;
  readonly chromium: { readonly executable: string; readonly kind: "headless_shell" | "chrome" };
  readonly full: string | undefined;
  readonly innerSandbox: boolean;
  readonly windows: boolean;
  readonly authorities: boolean;
  /** Of the full Chromium. */
  readonly locales: readonly string[];
}

/** What a program inside the image finds. */
export const ImageReport = z.object({
  token: z.string(),
  node: z.string(),
  version: z.string(),
  found: z.array(z.string()),
  /** Names of the files next to each browser in `found`. */
  locales: z.record(z.string(), z.array(z.string())),
  userNamespaces: z.boolean(),
});

/** Where the image keeps the instance program. */
export const imageProgramFolder = "/opt/shoal/instance";
export const loaderPath = "/opt/shoal/loader";
const wantedMajor = 24;

/** @param image - as the subject of an error. @throws {PlacementError} `bad_option` if it lacks a part. */
export function contentsOf(
  { found, locales, node, userNamespaces, version }: z.output<typeof ImageReport>,
  image: string,
): ImageContents {
  const lacks = (part: string): PlacementError =>
    new PlacementError("bad_option", `${image} has no ${part}. Use the image of Shoal's Dockerfile.`);
  if (Number.parseInt(version) < wantedMajor) throw lacks(`Node ${String(wantedMajor)} or later`);
  const browsers = found.filter((path) => installedPlaces().includes(path));
  const executable = browsers[0];
  if (executable === undefined) throw lacks("Chromium");
  const isShell = (path: string): boolean => path.includes("headless");
  const full = browsers.find((path) => !isShell(path));
  return {
    node,
    loader: found.includes(loaderPath) ? loaderPath : undefined,
    chromium: { executable, kind: isShell(executable) ? "headless_shell" : "chrome" },
    full: isShell(executable) ? full : undefined,
    innerSandbox: userNamespaces,
    windows: found.includes("/usr/bin/Xvfb"),
    authorities: found.includes("/usr/bin/certutil"),
    locales: full === undefined ? [] : localesIn(locales[full] ?? []),
  };
}

/** What all of them have; the places are those of the first, since the images are of one version. */
export function commonContents([first, ...others]: readonly ImageContents[]): ImageContents {
  if (first === undefined) throw new Error("Expected an image.");
  const all = [first, ...others];
  return {
    ...first,
    full: all.every(({ full }) => full !== undefined) ? first.full : undefined,
    innerSandbox: all.every(({ innerSandbox }) => innerSandbox),
    windows: all.every(({ windows }) => windows),
    authorities: all.every(({ authorities }) => authorities),
    locales: first.locales.filter((locale) => others.every(({ locales }) => locales.includes(locale))),
  };
}
