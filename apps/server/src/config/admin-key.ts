import { join } from "node:path";
import * as z from "zod/mini";
import { readIfPresent, writePrivateFile } from "./data-dir.ts";

/** The first admin key and the base URL of its service, as the file contains them. */
export interface AdminKey {
  readonly base_url: string;
  readonly api_key: string;
}

const AdminKeyFile = z.object({ base_url: z.string(), api_key: z.string() });

/** A command line on the same machine reads this file (mode 0600). */
export function adminKeyPath(dataDir: string): string {
  return join(dataDir, "admin-key.json");
}

/** Returns `undefined` if the file is missing or damaged. */
export function readAdminKey(dataDir: string): AdminKey | undefined {
  const content = readIfPresent(adminKeyPath(dataDir));
  if (content === undefined) return undefined;
  try {
    return AdminKeyFile.safeParse(JSON.parse(content)).data;
  } catch {
    return undefined;
  }
}

/** Replaces the file, with mode 0600. */
export function writeAdminKey(dataDir: string, key: AdminKey): void {
  writePrivateFile(adminKeyPath(dataDir), `${JSON.stringify(key, null, 2)}\n`);
}
