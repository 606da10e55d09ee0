import type { BuildTask } from "../../protocol/messages.ts";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Sdk = BuildTask["sdk"];

interface NpmLock {
  readonly packages?: Readonly<Record<string, { version?: string; resolved?: string; integrity?: string } | undefined>>;
}

/** Lockfiles name the registry from which a developer got the SDK. The service has it with its own checksum. */
export async function useSdkOfService({ sdk, work }: Pick<BuildTask, "sdk" | "work">): Promise<void> {
  for (const [name, change] of [
    ["npm-shrinkwrap.json", npmLockWith],
    ["package-lock.json", npmLockWith],
    ["pnpm-lock.yaml", pnpmLockWith],
  ] as const) {
    const path = join(work, name);
    const text = await readFile(path, "utf8").catch(() => undefined);
    const changed = text === undefined ? undefined : change(text, sdk);
    if (changed !== undefined && changed !== text) await writeFile(path, changed);
  }
}

/** Without an address, npm asks the registry of the scope. @returns `text` if it is invalid, for npm to report */
export function npmLockWith(text: string, sdk: Sdk): string {
  let lock: NpmLock | null;
  try {
    lock = JSON.parse(text) as NpmLock | null;
  } catch {
    return text;
  }
  let isChanged = false;
  for (const [path, entry] of Object.entries(lock?.packages ?? {})) {
    const own = sdk.find(({ name }) => path.endsWith(`node_modules/${name}`));
    if (own === undefined || typeof entry?.resolved !== "string" || !/^https?:/.test(entry.resolved)) continue;
    isChanged = true;
    delete entry.resolved;
    if (entry.version === own.version) entry.integrity = own.integrity;
  }
  return isChanged ? JSON.stringify(lock, undefined, 2) : text;
}

/** pnpm asks the registry of the scope, unless the lockfile has an address. */
export function pnpmLockWith(text: string, sdk: Sdk): string {
  return text.replaceAll(
    /^( {2}'?)(@shoal\/[\w.-]+)@([\w.+-]+)('?:\n {4}resolution: )\{([^}\n]*)\}/gm,
    (whole, ...[before, name, version, between, resolution]: string[]) => {
      const own = sdk.find((each) => each.name === name);
      if (own === undefined) return whole;
      const integrity =
        own.version === version ? own.integrity : /integrity: (sha\d+-[\w+/=]+)/.exec(resolution ?? "")?.[1];
      if (integrity === undefined) return whole;
      return `${before ?? ""}${name ?? ""}@${version ?? ""}${between ?? ""}{integrity: ${integrity}}`;
    },
  );
}
