import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import type { ServerCommand } from "./clients.ts";

/** The running command line. */
export interface Installed {
  /** The bundle, without symbolic links. */
  readonly program: string;
  /** The program of Node. */
  readonly node: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

const packageName = "@shoal/cli";
/** Folders of package managers for programs that run once. They are deleted at any time. */
const caches = /[\\/](?:_npx|dlx(?:-[^\\/]+)?|bunx-[^\\/]+)[\\/]/;
/** Folders of Node that an update or the end of a shell deletes. */
const passing = /[\\/](?:fnm_multishells|shoal[\\/]tools)[\\/]/;

/**
 * Returns a command that starts this command line after an update of Shoal or Node, and after the caches are cleared. It
 * needs the PATH of a shell only if the program came from npm's cache: clients may start without it.
 */
export function launcher(installed: Installed): ServerCommand {
  const { program } = installed;
  if (caches.test(program)) return onWindows(installed, ["npx", "-y", ...packagesOf(program), "shoal"]);
  const node = stableNode(installed);
  const clone = join(program, "../../../..");
  const start = join(clone, "tools", "start.mjs");
  // It installs and builds what changed since.
  if (existsSync(start)) return { command: node, args: [start, join("apps", "cli", "dist", "shoal.js")] };
  const onPath = find(installed, installed.platform === "win32" ? "shoal.cmd" : "shoal");
  if (onPath !== undefined) {
    if (resolved(onPath) === program) return { command: node, args: [onPath] };
    if (isShim(onPath)) return onWindows(installed, [onPath]);
  }
  return { command: node, args: [program] };
}

/** Scripts of Windows start by its shell only. */
function onWindows({ platform }: Installed, words: readonly string[]): ServerCommand {
  const [command = "", ...args] = platform === "win32" ? ["cmd", "/c", ...words] : words;
  return { command, args };
}

/** The packages as they were typed: npx writes them next to its `node_modules`. */
function packagesOf(program: string): readonly string[] {
  const [folder = ""] = program.split(`${sep}node_modules${sep}`, 1);
  const typed = readOr(join(folder, "package.json"), (text) => {
    const { _npx: npx } = JSON.parse(text) as { readonly _npx?: { readonly packages?: unknown } };
    return Array.isArray(npx?.packages) ? npx.packages.filter((name) => typeof name === "string") : [];
  });
  // Clients start programs in any folder.
  const absolute = typed?.map((name) => (name.startsWith(".") ? resolve(name) : name)) ?? [];
  return (absolute.length === 0 ? [packageName] : absolute).map((name) => `--package=${name}`);
}

/** Prefers the name of Node on the PATH, which stays when Node is updated, to the folder of its version. */
function stableNode({ node, ...rest }: Installed): string {
  const name = rest.platform === "win32" ? "node.exe" : "node";
  const found = foldersOf(rest.env)
    .map((folder) => join(folder, name))
    .filter((path) => !passing.test(path) && existsSync(path));
  // A clone that fetched its own Node was started by another one.
  return found.find((path) => passing.test(node) || resolved(path) === resolved(node)) ?? node;
}

function find({ env }: Installed, name: string): string | undefined {
  return foldersOf(env)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

const foldersOf = (env: NodeJS.ProcessEnv): readonly string[] =>
  (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));

/** Package managers write scripts that name the package, where they do not link to its program. */
const isShim = (path: string): boolean =>
  readOr(path, (text) => text.replaceAll("\\", "/").includes(`${packageName}/dist/shoal.js`)) ?? false;

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readOr<T>(path: string, read: (text: string) => T): T | undefined {
  try {
    return read(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
