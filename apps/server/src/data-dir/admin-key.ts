import { join } from "node:path";
import * as z from "zod/mini";
import { readIfPresent, writePrivateFile } from "./data-dir.ts";

/** The key that the first start makes, and where the service was last reached. */
export interface AdminKey {
  readonly base_url: string;
  readonly api_key: string;
}

const AdminKeyFile = z.object({ base_url: z.string(), api_key: z.string() });

/** Where a server keeps its admin key (mode 0600) and a command line on the same machine finds it. */
export function adminKeyPath(dataDir: string): string {
  return join(dataDir, "admin-key.json");
}

/** The stored admin key; `undefined` when there is none, or the file is damaged. */
export function readAdminKey(dataDir: string): AdminKey | undefined {
  const content = readIfPresent(adminKeyPath(dataDir));
  if (content === undefined) return undefined;
  try {
    return AdminKeyFile.safeParse(JSON.parse(content)).data;
  } catch {
    return undefined;
  }
}

export function writeAdminKey(dataDir: string, key: AdminKey): void {
  writePrivateFile(adminKeyPath(dataDir), `${JSON.stringify(key, null, 2)}\n`);
}
