// Whether the programs of the clone are newer than their sources. Runs on Node 18.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./packages.mjs";

const record = join(root, "node_modules/.shoal-built.json");

/** Parts of the build: their sources, and a file that the build writes last. */
const parts = {
  programs: {
    sources: ["tools/build.mjs", "tools/finish-dist", "packages", "apps/cli", "apps/server", "apps/example-extension"],
    output: "apps/cli/dist/commands/index.json",
  },
  console: {
    sources: ["apps/console", "packages/client", "packages/contract", "packages/schemas", "packages/transport"],
    output: "apps/server/dist/pages/console/index.html",
  },
  docs: {
    sources: ["apps/docs", "docs", "apps/server/README.md", "packages/contract/openapi.json"],
    output: "apps/server/dist/pages/docs/index.html.br",
  },
};

const ignored = new Set(["node_modules", "dist", "testing"]);
const isTest = (name) => /\.(?:test|slow|test-d)\.ts$/.test(name);
/** The texts of packages are not in their programs. @param {string} folder @param {string} name */
const isIgnored = (folder, name) =>
  ignored.has(name) ||
  name.startsWith(".") ||
  isTest(name) ||
  (name === "README.md" && !folder.startsWith(join(root, "docs")));

/** @param {string} path @param {import("node:crypto").Hash} hash */
function addTo(hash, path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) {
    hash.update(`${path}\n${stats.size} ${stats.mtimeMs}\n`);
    return;
  }
  for (const entry of readdirSync(path).sort()) if (!isIgnored(path, entry)) addTo(hash, join(path, entry));
}

/** @param {typeof parts[keyof typeof parts]} part */
function stateOf({ sources, output }) {
  const hash = createHash("sha1");
  for (const source of sources) addTo(hash, join(root, source));
  return { sources: hash.digest("hex"), builtMs: statSync(join(root, output), { throwIfNoEntry: false })?.mtimeMs };
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(record, "utf8"));
  } catch {
    return {};
  }
}

/** @param {boolean} programsOnly @returns {(keyof typeof parts)[]} the parts that the build has to make */
export function stale(programsOnly = false) {
  const written = readRecord();
  return Object.keys(parts).filter((name) => {
    if (programsOnly && name !== "programs") return false;
    const { sources, builtMs } = stateOf(parts[name]);
    // Another build may have replaced the output by that of other sources.
    return builtMs === undefined || written[name]?.sources !== sources || written[name]?.builtMs !== builtMs;
  });
}

/**
 * @param {readonly string[]} made - the parts that the build makes
 * @returns {(unbuilt?: readonly string[]) => void} records the sources as they were before the build, without the parts that
 * it could not make; to be called after it
 */
export function recordBuild(made = Object.keys(parts)) {
  const before = made.map((name) => ({ name, part: parts[name], sources: stateOf(parts[name]).sources }));
  return (unbuilt = []) => {
    mkdirSync(dirname(record), { recursive: true });
    const written = before
      .filter(({ name }) => !unbuilt.includes(name))
      .map(({ name, part, sources }) => [name, { sources, builtMs: stateOf(part).builtMs }]);
    writeFileSync(record, JSON.stringify({ ...readRecord(), ...Object.fromEntries(written) }));
  };
}
