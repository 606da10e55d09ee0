import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { extname, join } from "node:path";
import { type AppLanguage, BuildError } from "./app-runtime.ts";

const maxFileBytes = 16 * 2 ** 20;
const maxManifestBytes = 256 * 1024;

const names = [
  ".npmrc",
  "bun.lock",
  "bun.lockb",
  "npm-shrinkwrap.json",
  "package-lock.json",
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "pyproject.toml",
  "requirements.txt",
  "uv.lock",
  "yarn.lock",
] as const;

export type Manifests = ReadonlyMap<string, Buffer>;

export interface InstallPlan {
  readonly language: AppLanguage;
  readonly install: "npm" | "pnpm" | "pip" | "none";
  readonly locked: boolean;
  /** The exact version of pnpm that the project names. */
  readonly pnpmVersion?: string;
  /** Hash of everything that decides about the dependencies; `undefined` if they are not reproducible. */
  readonly dependencyHash?: string;
}

/** Reads the files that decide about an installation; links count as missing. @throws {BuildError} */
export async function readManifests(folder: string): Promise<Manifests> {
  const found = new Map<string, Buffer>();
  for (const name of names) {
    const content = await readBounded(join(folder, name), name);
    if (content !== undefined) found.set(name, content);
  }
  return found;
}

async function readBounded(path: string, name: string): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    if (found.size > maxFileBytes)
      throw new BuildError(`${name} has ${String(found.size)} bytes; the limit is ${String(maxFileBytes)}.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** @throws {BuildError} for sources that cannot be built. */
export function planInstall(entrypoint: string, manifests: Manifests, surroundings: string): InstallPlan {
  return languageOf(entrypoint, manifests) === "python"
    ? planPython(manifests, surroundings)
    : planNode(manifests, surroundings);
}

function languageOf(entrypoint: string, manifests: Manifests): AppLanguage {
  const extension = extname(entrypoint);
  if (extension === ".py") return "python";
  if (/^\.[cm]?[jt]sx?$/.test(extension)) return "node";
  if (manifests.has("package.json")) return "node";
  if (manifests.has("pyproject.toml") || manifests.has("requirements.txt")) return "python";
  throw new BuildError(
    `The language of ${entrypoint} is unknown. Use an entry file that ends with .ts, .js, .mts, .mjs, .cts, .cjs or .py.`,
  );
}

function planNode(manifests: Manifests, surroundings: string): InstallPlan {
  const manifest = parseManifest(manifests);
  const language = "node";
  const text = JSON.stringify([manifest.dependencies, manifest.devDependencies, manifest.optionalDependencies]);
  const isReproducible = areReproducible(manifest, manifests.get("pnpm-workspace.yaml"));
  const hashOf = (tool: string, lock: string): Partial<InstallPlan> =>
    isReproducible
      ? {
          dependencyHash: hash([surroundings, tool], manifests, [
            "package.json",
            ".npmrc",
            "pnpm-workspace.yaml",
            lock,
          ]),
        }
      : {};
  const npmLock = ["npm-shrinkwrap.json", "package-lock.json"].find((name) => manifests.has(name));
  if (npmLock !== undefined) return { language, install: "npm", locked: true, ...hashOf("npm", npmLock) };
  if (manifests.has("pnpm-lock.yaml")) {
    const pnpmVersion = /^pnpm@(\d{1,3}\.\d{1,4}\.\d{1,4})(?:\+|$)/.exec(manifest.packageManager ?? "")?.[1];
    return {
      language,
      install: "pnpm",
      locked: true,
      ...(pnpmVersion !== undefined && Number.parseInt(pnpmVersion) >= 9 && { pnpmVersion }),
      ...hashOf(`pnpm ${pnpmVersion ?? ""}`, "pnpm-lock.yaml"),
    };
  }
  const unsupported = ["bun.lock", "bun.lockb", "yarn.lock"].find((name) => manifests.has(name));
  if (unsupported !== undefined)
    throw new BuildError(
      `${unsupported} is not supported. Add package-lock.json (npm install --package-lock-only) or pnpm-lock.yaml (pnpm install --lockfile-only) to the sources.`,
    );
  const isEmpty = text === "[null,null,null]" || /^\[(?:\{\}|null)(?:,(?:\{\}|null)){2}\]$/.test(text);
  return { language, install: isEmpty ? "none" : "npm", locked: false };
}

/** The lockfile lacks the content of local dependencies, and the cached folder lacks those of workspaces. */
function areReproducible(manifest: PackageManifest, workspace: Buffer | undefined): boolean {
  const { dependencies, devDependencies, optionalDependencies, overrides, pnpm, resolutions, workspaces } = manifest;
  if (workspaces !== undefined || localInYaml.test(workspace?.toString("utf8") ?? "")) return false;
  const pnpmOverrides = typeof pnpm === "object" && pnpm !== null && "overrides" in pnpm ? pnpm.overrides : undefined;
  const all = [dependencies, devDependencies, optionalDependencies, overrides, resolutions, pnpmOverrides];
  const texts = [...JSON.stringify(all).matchAll(/"((?:[^"\\]|\\.)*)"(:?)/g)];
  // Names of packages are keys.
  return texts.every(([, text = "", colon]) => colon !== "" || isRange(text));
}

const localInYaml = /^["']?packages["']? ?:|(?:file|link|portal|workspace):|[ "'](?:\.{0,2}|~)\//m;

/** False for paths, archives and addresses. */
function isRange(value: string): boolean {
  const range = value.replace(/^(?:npm|jsr):(?:@[\w.-]+\/)?|^catalog:/, "");
  return !/^\.|[/\\:]|\.(?:tar|tar\.gz|tgz)$/i.test(range);
}

interface PackageManifest {
  readonly dependencies?: unknown;
  readonly devDependencies?: unknown;
  readonly optionalDependencies?: unknown;
  readonly overrides?: unknown;
  readonly pnpm?: unknown;
  readonly resolutions?: unknown;
  readonly workspaces?: unknown;
  readonly packageManager?: string;
}

function parseManifest(manifests: Manifests): PackageManifest {
  const content = manifests.get("package.json");
  if (content === undefined) throw new BuildError("package.json is missing at the root of the sources.");
  if (content.length > maxManifestBytes)
    throw new BuildError(`package.json has ${String(content.length)} bytes; the limit is ${String(maxManifestBytes)}.`);
  try {
    // Editors on Windows write a byte order mark, which npm and Node accept.
    const parsed: unknown = JSON.parse(content.toString("utf8").replace(/^\uFEFF/, ""));
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new TypeError("not an object");
    const { packageManager, ...rest } = parsed as Record<string, unknown>;
    return { ...rest, ...(typeof packageManager === "string" && { packageManager }) };
  } catch (error) {
    throw new BuildError("package.json is not a JSON object.", { cause: error });
  }
}

function planPython(manifests: Manifests, surroundings: string): InstallPlan {
  const locked = manifests.has("uv.lock");
  const install = ["requirements.txt", "pyproject.toml"].some((name) => manifests.has(name)) ? "pip" : "none";
  return {
    language: "python",
    install,
    locked,
    ...(locked &&
      !manifests.has("requirements.txt") && {
        dependencyHash: hash([surroundings, "pip"], manifests, ["pyproject.toml", "uv.lock"]),
      }),
  };
}

function hash(surroundings: readonly string[], manifests: Manifests, files: readonly string[]): string {
  const sum = createHash("sha256");
  for (const text of surroundings) sum.update(`${text}\0`);
  for (const name of files) {
    const content = manifests.get(name);
    sum.update(`${name}\0${String(content?.length ?? -1)}\0`).update(content ?? "");
  }
  return sum.digest("hex");
}
