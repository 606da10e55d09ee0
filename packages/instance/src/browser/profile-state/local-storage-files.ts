import { hasCode } from "@shoal/primitives";
import { log } from "../../system/log.ts";
import { readLevelDb } from "./leveldb.ts";
import { maxSavedItems, maxSavedOrigins, maxSavedStateBytes, type SavedOrigin } from "./saved-state.ts";

/** Characters of keys and values that fit into the saved state, before JSON escaping. */
const maxCharacters = maxSavedStateBytes / 8;

/** Chromium stores texts as Latin-1 or UTF-16; the first byte says which. */
function textOf(bytes: Buffer): string {
  return bytes.subarray(1).toString(bytes[0] === 0 ? "utf16le" : "latin1");
}

/** Reads the local storage of every origin from Chromium's files. Omits partitioned third parties. */
export async function readLocalStorage(
  folder: string,
): Promise<{ readonly origins: SavedOrigin[]; readonly leftOut: number }> {
  let entries: Map<string, Buffer>;
  try {
    entries = await readLevelDb(folder);
  } catch (error) {
    // The database does not exist before a page writes to it.
    if (!hasCode(error, "ENOENT"))
      log("warn", "the local storage could not be read for the saved state", { error: String(error) });
    return { origins: [], leftOut: 0 };
  }
  const byOrigin = new Map<string, { name: string; value: string }[]>();
  for (const [key, value] of entries) {
    const end = key.indexOf("\0");
    if (!key.startsWith("_") || end === -1) continue;
    const origin = key.slice(1, end);
    if (!/^https?:\/\/[^/^]+$/.test(origin)) continue;
    const items = byOrigin.get(origin) ?? [];
    items.push({ name: textOf(Buffer.from(key.slice(end + 1), "latin1")), value: textOf(value) });
    byOrigin.set(origin, items);
  }
  const origins: SavedOrigin[] = [];
  let characters = 0;
  let items = 0;
  let leftOut = 0;
  for (const [origin, localStorage] of byOrigin) {
    const own = localStorage.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
    if (
      characters + own > maxCharacters ||
      items + localStorage.length > maxSavedItems ||
      origins.length >= maxSavedOrigins
    ) {
      leftOut += 1;
      continue;
    }
    characters += own;
    items += localStorage.length;
    origins.push({ origin, localStorage });
  }
  return { origins, leftOut };
}
