import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findTool } from "./tools.ts";

const run = promisify(execFile);

/** Scripts of the world's pages, with the pattern of fontconfig and the Debian package of a font. */
const scripts = [
  { name: "Japanese", pattern: ":lang=ja", package: "fonts-noto-cjk" },
  { name: "Chinese", pattern: ":lang=zh-cn", package: "fonts-noto-cjk" },
  { name: "Korean", pattern: ":lang=ko", package: "fonts-noto-cjk" },
  { name: "Thai", pattern: ":lang=th", package: "fonts-noto-core" },
  { name: "Hindi", pattern: ":lang=hi", package: "fonts-noto-core" },
  { name: "Arabic", pattern: ":lang=ar", package: "fonts-noto-core" },
  { name: "Hebrew", pattern: ":lang=he", package: "fonts-noto-core" },
  { name: "emoji", pattern: ":charset=1f600", package: "fonts-noto-color-emoji" },
] as const;

export interface FontReport {
  /** Scripts that pages show as empty boxes. */
  readonly missing: readonly string[];
  /** Debian packages with fonts for them. */
  readonly packages: readonly string[];
}

/** @param hasFont - for a pattern of fontconfig. */
export async function missingFonts(hasFont: (pattern: string) => Promise<boolean>): Promise<FontReport> {
  const found = await Promise.all(scripts.map(({ pattern }) => hasFont(pattern)));
  const missing = scripts.filter((_script, index) => found[index] === false);
  return { missing: missing.map(({ name }) => name), packages: [...new Set(missing.map((script) => script.package))] };
}

/** `undefined` without fontconfig, which lists the fonts. */
export async function examineFonts(): Promise<FontReport | undefined> {
  const list = await findTool("fc-list");
  if (list === undefined) return undefined;
  return missingFonts(async (pattern) => {
    const { stdout } = await run(list, [pattern, "family"]).catch(() => ({ stdout: "" }));
    return stdout.trim() !== "";
  });
}
