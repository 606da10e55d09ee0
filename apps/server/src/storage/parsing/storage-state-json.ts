import { readStateOf } from "@shoal/instance";
import type { StorageState } from "@shoal/schemas";
import type { Readable } from "node:stream";

/** Reads cookies and local storage from an untrusted archive, in Playwright's format. @throws {BadProfileArchive} */
export async function storageStateJson(archive: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const state = await readStateOf(archive);
  const shown: StorageState = {
    cookies: (state?.cookies ?? []).map(
      ({ name, value, domain, path, expires, httpOnly, secure, sameSite, partitionKey }) => ({
        name,
        value,
        domain,
        path,
        expires,
        httpOnly,
        secure,
        // Chromium's and Playwright's default for cookies without the attribute.
        sameSite: sameSite ?? "Lax",
        ...(partitionKey && { partitionKey: partitionKey.topLevelSite }),
      }),
    ),
    origins: (state?.origins ?? []).map(({ origin, localStorage }) => ({ origin, localStorage: [...localStorage] })),
  };
  return new TextEncoder().encode(JSON.stringify(shown));
}
