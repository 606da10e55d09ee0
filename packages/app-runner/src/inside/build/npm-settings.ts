import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Of `.npmrc`. None starts a program, names a file, or changes the operator's registry. */
const allowed = new Set([
  "audit",
  "auto-install-peers",
  "dedupe-injected-deps",
  "dedupe-peer-dependents",
  "engine-strict",
  "force-legacy-deploy",
  "fund",
  "hoist",
  "hoist-pattern[]",
  "hoist-workspace-packages",
  "include",
  "include[]",
  "inject-workspace-packages",
  "install-links",
  "install-strategy",
  "legacy-peer-deps",
  "link-workspace-packages",
  "loglevel",
  "minimum-release-age",
  "node-linker",
  "omit",
  "omit[]",
  "package-lock",
  "prefer-workspace-packages",
  "progress",
  "public-hoist-pattern[]",
  "resolution-mode",
  "resolve-peers-from-workspace-root",
  "save-exact",
  "save-prefix",
  "shamefully-hoist",
  "shared-workspace-lockfile",
  "strict-peer-deps",
  "strict-peer-dependencies",
]);
/** Registries of scopes, and the app's own secrets for them. */
const scoped = /^(?:@[\w.-]+:registry|\/\/[\w.:/%~-]+:(?:_auth|_authToken|_password|always-auth|email|username))$/;

export interface NpmSettings {
  readonly kept: string;
  /** Names of settings, without duplicates. */
  readonly ignored: readonly string[];
}

/** Reads lines like npm, which also ends them at a carriage return. */
export function safeNpmSettings(text: string): NpmSettings {
  const kept: string[] = [];
  const ignored = new Set<string>();
  for (const line of text.split(/[\r\n]+/)) {
    if (/^\s*(?:[;#].*)?$/.test(line)) continue;
    const name = line.split("=", 1)[0]?.trim() ?? "";
    if (allowed.has(name) || scoped.test(name)) kept.push(line.trim());
    else ignored.add(name.slice(0, 100));
  }
  return { kept: kept.map((line) => `${line}\n`).join(""), ignored: [...ignored] };
}

/** Package managers read this file in their working folder. */
export async function restrictNpmSettings(work: string): Promise<void> {
  const path = join(work, ".npmrc");
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return;
  const { ignored, kept } = safeNpmSettings(text);
  await rm(path, { force: true });
  await writeFile(path, kept, { mode: 0o600 });
  if (ignored.length > 0)
    process.stdout.write(`Ignored in .npmrc, because builds do not use these settings: ${ignored.join(", ")}\n`);
}
