import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Notices of the packages whose code is in the bundle: each one's name, licence and the licence's text. @param inputs - files of the bundle, as esbuild names them. */
export function licenceNotices(inputs: readonly string[]): string {
  const roots = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  const notices = [...roots].flatMap((root) => {
    const manifest = join(resolve(root), "package.json");
    if (!existsSync(manifest)) return [];
    const { name, version, license, repository } = JSON.parse(readFileSync(manifest, "utf8")) as {
      name: string;
      version: string;
      license?: string;
      repository?: string | { url?: string };
    };
    const file = readdirSync(root).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
    const source = typeof repository === "string" ? repository : repository?.url;
    return [
      `${name} ${version}, ${license ?? "see below"}${source === undefined ? "" : `\n${source}`}\n\n${file === undefined ? "" : readFileSync(join(root, file), "utf8").trim()}\n`,
    ];
  });
  return `This command holds code of the packages below.\n\n${[...new Set(notices)].sort().join(`\n${"-".repeat(80)}\n\n`)}`;
}
