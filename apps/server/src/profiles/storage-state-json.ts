import { readStateOf } from "@shoal/instance";
import type { StorageState } from "@shoal/schemas";
import type { Readable } from "node:stream";

/**
 * Reads cookies and local storage from an archive, as Playwright writes them. Runs in a parse worker: a box has made the archive.
 *
 * @returns the JSON of a `StorageState`.
 * @throws {BadProfileArchive}
 */
export async function storageStateJson(archive: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const state = await readStateOf(archive);
  const shown: StorageState = {
    cookies: (state?.cookies ?? []).map(({ name, value, domain, path, expires, httpOnly, secure, sameSite, partitionKey }) => ({
      name,
      value,
      domain,
      path,
      expires,
      httpOnly,
      secure,
      // Chromium's default for cookies without the attribute, which Playwright reports too.
      sameSite: sameSite ?? "Lax",
      ...(partitionKey && { partitionKey: partitionKey.topLevelSite }),
    })),
    origins: (state?.origins ?? []).map(({ origin, localStorage }) => ({ origin, localStorage: [...localStorage] })),
  };
  return new TextEncoder().encode(JSON.stringify(shown));
}
