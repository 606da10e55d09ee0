// Holds every import against the layers: a package may import packages of lower layers, and only those that its package.json names.
// The layer of a package is the tag in its turbo.json. Usage: node tools/layers.mjs [ROOT]
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const importOf = /\b(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(\s*["']([^"']+)["']\s*\)|^\s*import\s*["']([^"']+)["']/gm;

/** @param {string} root @returns {string[]} one line for each import that breaks a rule, `file:line: what and what to do` */
export function findViolations(root) {
  const packages = new Map();
  for (const folder of ["packages", "apps"]) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder)).sort()) {
      const directory = join(root, folder, name);
      if (!existsSync(join(directory, "package.json"))) continue;
      const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
      const tags = existsSync(join(directory, "turbo.json")) ? (JSON.parse(readFileSync(join(directory, "turbo.json"), "utf8")).tags ?? []) : [];
      const layer = tags.map((tag) => /^layer-(\d+)$/.exec(tag)?.[1]).find((number) => number !== undefined);
      packages.set(manifest.name, { directory, manifest, layer: layer === undefined ? undefined : Number(layer) });
    }
  }

  const violations = [];
  for (const [name, { directory, manifest, layer }] of packages) {
    const place = relative(root, directory);
    if (layer === undefined) {
      violations.push(`${place}/turbo.json:1: ${name} has no layer: write { "extends": ["//"], "tags": ["layer-N"] }`);
      continue;
    }
    const named = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
    for (const file of sources(join(directory, "src"))) {
      const text = readFileSync(file, "utf8");
      for (const match of text.matchAll(importOf)) {
        const target = match[1] ?? match[2] ?? match[3];
        const line = text.slice(0, match.index + match[0].lastIndexOf(target)).split("\n").length;
        const where = `${relative(root, file)}:${line}`;
        if (target.startsWith(".")) {
          if (relative(directory, resolve(dirname(file), target)).startsWith(".."))
            violations.push(`${where}: "${target}" leaves the package: import the other package by its name`);
          continue;
        }
        const imported = target.startsWith("@") ? target.split("/").slice(0, 2).join("/") : target.split("/")[0];
        const other = packages.get(imported);
        if (other === undefined || imported === name) continue;
        if (!(imported in named)) violations.push(`${where}: ${imported} is not among the dependencies: add it to ${place}/package.json`);
        if (other.layer !== undefined && other.layer >= layer)
          violations.push(
            `${where}: ${name} is layer ${layer} and must not import ${imported}, layer ${other.layer}: move what it needs to a layer below ${layer}, or move this code up`,
          );
      }
    }
  }
  return violations;
}

function sources(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts|mjs|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const violations = findViolations(resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "..")));
  for (const violation of violations) console.error(violation);
  console.error(violations.length === 0 ? "layers: every import points down" : `layers: ${violations.length} to mend`);
  process.exit(violations.length === 0 ? 0 : 1);
}
