import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Returns the files whose code is in the outputs, without files that esbuild read and left out.
 * @param {Pick<import("esbuild").Metafile, "outputs">} metafile
 */
export function bundledFiles({ outputs }) {
  const entries = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return [...new Set(entries.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path))];
}

/**
 * Returns the licence notices of the packages whose code is in a bundle: name, version, repository, licence, and the text of its licence files.
 * @param {string} product - begins the first sentence: `This command`
 * @param {readonly string[]} inputs - files of the bundle: {@link bundledFiles}
 * @throws {Error} for a package without a licence text
 */
export function licenceNotices(product, inputs) {
  const roots = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  const notices = [...roots].flatMap((root) => {
    const manifest = join(resolve(root), "package.json");
    if (!existsSync(manifest)) return [];
    const { name, version, license, repository } = JSON.parse(readFileSync(manifest, "utf8"));
    const files = readdirSync(root)
      .filter((entry) => /^(?:licen[cs]e|notice|thirdpartynotices)(?:[.-][\w.-]+)?$/i.test(entry))
      .sort();
    if (files.length === 0) throw new Error(`${name} ${version} has no licence file: add its text to this tool.`);
    const source = typeof repository === "string" ? repository : repository?.url;
    const texts = files.map((file) => readFileSync(join(root, file), "utf8").trim());
    return [
      `${name} ${version}, ${license ?? "see below"}${source === undefined ? "" : `\n${source}`}\n\n${texts.join("\n\n")}\n`,
    ];
  });
  return `${product} contains code of the packages below.\n\n${[...new Set(notices)].sort().join(`\n${"-".repeat(80)}\n\n`)}`;
}
