import { packProfile, type SavedState } from "@shoal/instance";
import type { ImportStorageState } from "@shoal/schemas";
import type { Readable } from "node:stream";
import type * as z from "zod/mini";
import { badField } from "../bad-field.ts";

/** The archive of a state that no browser has had yet. @throws {ServiceError} 400 for what no browser would take. */
export function fromStorageState({ cookies, origins }: z.output<typeof ImportStorageState>): Readable {
  for (const [index, { origin }] of origins.entries()) {
    const url = URL.parse(origin);
    if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin)
      throw badField(`origins.${String(index)}.origin`, "expected an origin, https://example.com for instance: scheme, host and port alone");
  }
  for (const [index, { path, sameSite, secure }] of cookies.entries()) {
    if (!path.startsWith("/")) throw badField(`cookies.${String(index)}.path`, "must begin with /");
    if (sameSite === "None" && !secure)
      throw badField(`cookies.${String(index)}.secure`, "must be true where sameSite is None: browsers take no other such cookie");
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
