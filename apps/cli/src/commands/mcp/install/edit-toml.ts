import { parse, stringify } from "smol-toml";
import { InvalidFile } from "./edit-json.ts";

type Table = Record<string, unknown>;

/**
 * Sets or removes the section of one entry and keeps every other line.
 * @param entry - `undefined` removes it.
 * @throws {InvalidFile} if the text is invalid, or has the entry in another form than a section.
 */
export function editToml(
  text: string,
  { entry, name, table }: { readonly table: string; readonly name: string; readonly entry: object | undefined },
): string {
  const before = tableIn(text);
  const own = (before[table] as Table | undefined)?.[name];
  if (JSON.stringify(own) === JSON.stringify(entry)) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const section =
    entry &&
    stringify({ [table]: { [name]: entry } })
      .replace(`[${table}]\n`, "")
      .trim();
  const kept = withoutSection(text.split(/\r?\n/), table, name).join(eol).trimEnd();
  const after = [kept, section?.replaceAll("\n", eol)].filter((part) => part !== undefined && part !== "");
  const result = after.length === 0 ? "" : `${after.join(eol + eol)}${eol}`;
  requireSame(before, tableIn(result), { table, name });
  return result;
}

/** A section ends with its last value, so comments above the next header stay. */
function withoutSection(lines: readonly string[], table: string, name: string): readonly string[] {
  const kept: string[] = [];
  /** Comments and empty lines since the last value of the section. */
  let open: string[] = [];
  let isOwn = false;
  for (const line of lines) {
    const header = /^\s*\[{1,2}([^\]]+)\]{1,2}\s*(?:#.*)?$/.exec(line)?.[1];
    if (header !== undefined) {
      const keys = header.split(".").map((key) => key.trim().replace(/^(["'])(.*)\1$/, "$2"));
      isOwn = keys[0] === table && keys[1] === name;
    }
    if (isOwn && /^\s*(?:#|$)/.test(line)) {
      if (open.length > 0 || line.trim() !== "") open.push(line);
    } else {
      if (!isOwn) kept.push(...open, line);
      open = [];
    }
  }
  return [...kept, ...open];
}

/** Refuses an edit that would change something else: an inline table, or text that looks like a header. */
function requireSame(before: Table, after: Table, { name, table }: { readonly table: string; readonly name: string }) {
  const rest = (value: Table): string => {
    const { [table]: servers = {}, ...others } = value;
    const { [name]: _own, ...otherServers } = servers as Table;
    return JSON.stringify([others, otherServers]);
  };
  if (rest(before) !== rest(after))
    throw new InvalidFile(`edit [${table}.${name}] by hand: the file has an unusual form`);
}

function tableIn(text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidFile(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
}
