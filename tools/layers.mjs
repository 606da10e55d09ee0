// Checks every import against the architecture:
// - a package imports only packages of a lower layer (the tag in its turbo.json) that its package.json names;
// - a package with the tag `layer-tests` is imported only by tests (anywhere in private packages), and imports no other package;
// - a folder of a package imports only the folders that folders.json, next to that turbo.json, allows, and has one line
//   there about its content;
// - folders next to a folder `kit` import it, and never each other;
// - no group of files imports each other in a circle, and no group of folders side by side, at any depth.
// Usage: node tools/layers.mjs [ROOT]
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const importOf =
  /\b(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(\s*["']([^"']+)["']\s*\)|^\s*import\s*["']([^"']+)["']/gm;

/** The layer of packages for tests. */
const belowAll = -1;

/** @param {string} root @returns {string[]} one line for each import that breaks a rule, `file:line: what and what to do` */
export function findViolations(root) {
  const packages = new Map();
  for (const folder of ["packages", "apps"]) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder)).sort()) {
      const directory = join(root, folder, name);
      if (!existsSync(join(directory, "package.json"))) continue;
      const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
      const tags = existsSync(join(directory, "turbo.json"))
        ? (JSON.parse(readFileSync(join(directory, "turbo.json"), "utf8")).tags ?? [])
        : [];
      const layer = tags.map((tag) => /^layer-(\d+|tests)$/.exec(tag)?.[1]).find((name) => name !== undefined);
      packages.set(manifest.name, {
        directory,
        manifest,
        layer: layer === "tests" ? belowAll : layer && Number(layer),
      });
    }
  }

  const violations = [];
  for (const [name, { directory, manifest, layer }] of packages) {
    const place = relative(root, directory);
    if (layer === undefined) {
      violations.push(`${place}/turbo.json:1: ${name} has no layer: write { "extends": ["//"], "tags": ["layer-N"] }`);
      continue;
    }
    violations.push(...findFolderViolations(root, directory));
    const named = {
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.peerDependencies,
      ...manifest.optionalDependencies,
    };
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
        if (!(imported in named))
          violations.push(`${where}: ${imported} is not among the dependencies: add it to ${place}/package.json`);
        if (other.layer === belowAll && manifest.private !== true && isProduct(relative(join(directory, "src"), file)))
          violations.push(`${where}: ${imported} is for tests: import it in *.test.ts, *.slow.ts or testing/`);
        if (other.layer !== undefined && other.layer >= layer)
          violations.push(
            `${where}: ${name} is layer ${layer} and must not import ${imported}, layer ${other.layer}: move what it needs to a layer below ${layer}, or move this code up`,
          );
      }
    }
  }
  return violations;
}

/** Files that sit side by side in one folder, tests not counted, before the folder has to be divided. */
const maxFilesInFolder = 15;

/**
 * Checks the imports inside a package. `folders.json` maps each folder of `src` to its content and to the folders that it
 * may import; `.` is `src` itself.
 * A nested folder without an entry belongs to the folder above it, and an allowed folder includes those below it.
 * @param {string} root @param {string} directory - of the package @returns {string[]}
 */
function findFolderViolations(root, directory) {
  const src = join(directory, "src");
  const listFile = join(directory, "folders.json");
  const listPlace = relative(root, listFile);
  const files = sources(src).filter((file) => isProduct(relative(src, file)));
  const imports = new Map(files.map((file) => [file, relativeImports(file)]));
  const violations = findCycles(imports).map(
    (cycle) =>
      `${relative(root, cycle[0].file)}:${cycle[0].line}: circular import, ${cycle.map(({ file }) => relative(src, file)).join(" → ")} → ${relative(src, cycle[0].file)}: move the shared code into a separate file`,
  );

  violations.push(...findKnots(root, src, imports));
  if (!existsSync(listFile)) {
    const flat = files.filter((file) => dirname(file) === src).length;
    if (flat > maxFilesInFolder)
      violations.push(
        `${listPlace}:1: missing, and ${relative(root, src)} has ${flat} files side by side (limit ${maxFilesInFolder}): move them into folders and list these with what each may import`,
      );
    return violations;
  }

  const entries = Object.entries(JSON.parse(readFileSync(listFile, "utf8")));
  const allowed = Object.fromEntries(entries.map(([folder, { imports }]) => [folder, imports]));
  const lineInList = (name) =>
    readFileSync(listFile, "utf8")
      .split("\n")
      .findIndex((line) => line.includes(`"${name}"`)) + 1;
  const includes = (entry, folder) => folder === entry || folder.startsWith(`${entry}/`);
  const folderOf = (file) => {
    let folder = dirname(relative(src, file)).split(sep).join("/");
    while (folder !== "." && !(folder in allowed)) folder = dirname(folder);
    return folder;
  };

  for (const [folder, { content }] of entries) {
    if (folder !== "." && !content)
      violations.push(`${listPlace}:${lineInList(folder)}: ${folder} has no "content": write one line about it`);
    if (folder !== "." && !files.some((file) => includes(folder, folderOf(file))))
      violations.push(`${listPlace}:${lineInList(folder)}: ${folder} has no files: remove the entry`);
  }
  for (const [folder, entries] of Object.entries(allowed)) {
    const parent = dirname(folder);
    const kit = `${parent}/kit`;
    if (!(kit in allowed) || folder === kit) continue;
    for (const entry of entries.filter((each) => dirname(each) === parent && each !== kit))
      violations.push(
        `${listPlace}:${lineInList(folder)}: ${folder} must not import ${entry}: move what both need to ${kit}`,
      );
  }
  const circle = findCircle(
    new Map(
      Object.keys(allowed).map((folder) => [
        folder,
        Object.keys(allowed).filter(
          (other) => other !== folder && allowed[folder].some((entry) => includes(entry, other)),
        ),
      ]),
    ),
  );
  if (circle !== undefined)
    violations.push(
      `${listPlace}:${lineInList(circle[0])}: ${[...circle, circle[0]].join(" → ")} is a circle: remove one of these entries`,
    );

  const counts = new Map();
  for (const file of files) {
    const folder = folderOf(file);
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    if (folder === "." && dirname(file) !== src)
      violations.push(
        `${relative(root, file)}:1: ${listPlace} has no entry for this folder: add one with what it may import`,
      );
    for (const { line, target } of imports.get(file)) {
      if (!imports.has(target)) continue;
      const other = folderOf(target);
      if (other !== folder && !(allowed[folder] ?? []).some((entry) => includes(entry, other)))
        violations.push(
          `${relative(root, file)}:${line}: ${folder === "." ? "src" : folder} must not import ${other === "." ? "src" : other}: move the code, or allow it in ${listPlace}`,
        );
    }
  }
  for (const [folder, count] of counts) {
    if (count > maxFilesInFolder)
      violations.push(
        `${relative(root, folder)}:1: ${count} files side by side (limit ${maxFilesInFolder}): divide the folder`,
      );
  }
  return violations;
}

/** Whether a file is part of the product: tests, and helpers of tests, may import anything in their package. */
function isProduct(path) {
  return !/\.(test|slow|test-d)\.ts$/.test(path) && !path.split(sep).includes("testing");
}

/** @returns {{ line: number, target: string }[]} the relative imports of a file */
function relativeImports(file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(importOf)].flatMap((match) => {
    const target = match[1] ?? match[2] ?? match[3];
    if (!target.startsWith(".")) return [];
    return [
      {
        line: text.slice(0, match.index + match[0].lastIndexOf(target)).split("\n").length,
        target: resolve(dirname(file), target),
      },
    ];
  });
}

/** @param {Map<string, { line: number, target: string }[]>} imports @returns {{ file: string, line: number }[][]} one circle of files for each start */
function findCycles(imports) {
  const cycles = [];
  const done = new Set();
  const path = [];
  const visit = (file) => {
    for (const { line, target } of imports.get(file) ?? []) {
      const from = path.findIndex((step) => step.file === target);
      if (from >= 0 || target === file) cycles.push([...path.slice(from < 0 ? path.length : from), { file, line }]);
      else if (!done.has(target) && imports.has(target)) {
        path.push({ file, line });
        visit(target);
        path.pop();
      }
    }
    done.add(file);
  };
  for (const file of imports.keys()) if (!done.has(file)) visit(file);
  return cycles;
}

/**
 * Folders side by side that import each other in a circle, through any of their files. A folder and the folders inside it are one.
 * @param {string} root @param {string} src @param {Map<string, { line: number, target: string }[]>} imports @returns {string[]}
 */
function findKnots(root, src, imports) {
  const edges = new Map();
  const places = new Map();
  for (const [file, targets] of imports) {
    const from = relative(src, file).split(sep);
    for (const { line, target } of targets) {
      if (!imports.has(target)) continue;
      const to = relative(src, target).split(sep);
      let common = 0;
      while (from[common] === to[common]) common += 1;
      // One of them is a file of the folder that contains both.
      if (common >= from.length - 1 || common >= to.length - 1) continue;
      const [folder, other] = [from, to].map((path) => path.slice(0, common + 1).join("/"));
      edges.set(folder, (edges.get(folder) ?? new Set()).add(other));
      if (!places.has(`${folder} ${other}`)) places.set(`${folder} ${other}`, `${relative(root, file)}:${line}`);
    }
  }
  const circle = findCircle(edges);
  if (circle === undefined) return [];
  return [
    `${places.get(`${circle[0]} ${circle[1]}`)}: ${[...circle, circle[0]].join(" → ")} is a knot of folders: ${circle.map((folder, index) => places.get(`${folder} ${circle[(index + 1) % circle.length]}`)).join(", ")}; move what one of these imports`,
  ];
}

/** @param {Map<string, Iterable<string>>} edges @returns {string[] | undefined} names in a circle, where there is one */
function findCircle(edges) {
  const imports = new Map(
    [...edges].map(([name, others]) => [name, [...others].map((target) => ({ line: 0, target }))]),
  );
  return findCycles(imports)[0]?.map(({ file }) => file);
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
  console.error(violations.length === 0 ? "layers: every import is allowed" : `layers: ${violations.length} to fix`);
  process.exit(violations.length === 0 ? 0 : 1);
}
