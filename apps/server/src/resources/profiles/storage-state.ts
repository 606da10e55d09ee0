import { packProfile, type SavedState } from "@shoal/instance";
import type { ImportStorageState } from "@shoal/schemas";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { badField } from "../../http/bad-field.ts";

/** @throws {ServiceError} 400 for values that browsers reject. */
export function fromStorageState({ cookies, origins }: z.output<typeof ImportStorageState>): Readable {
  for (const [index, { origin }] of origins.entries()) {
    const url = URL.parse(origin);
    if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin)
      throw badField(
        `origins.${String(index)}.origin`,
        "expected an origin such as https://example.com: scheme, host and port only",
      );
  }
  for (const [index, { path, sameSite, secure }] of cookies.entries()) {
    if (!path.startsWith("/")) throw badField(`cookies.${String(index)}.path`, "must begin with /");
    if (sameSite === "None" && !secure)
      throw badField(`cookies.${String(index)}.secure`, "must be true when sameSite is None");
  }
  const state: SavedState = {
    version: 1,
    apply: "all",
    cookies: cookies.map(({ partitionKey, ...cookie }) => ({
      ...cookie,
      expires: cookie.expires < 0 ? -1 : cookie.expires,
      ...(partitionKey !== undefined && { partitionKey: { topLevelSite: partitionKey, hasCrossSiteAncestor: false } }),
    })),
    origins,
  };
  return packProfile(undefined, state);
}
