import { applyEdits, modify, parse, type ParseError, printParseErrorCode } from "jsonc-parser";

export class InvalidFile extends Error {}

/**
 * Sets or removes one entry of a table and keeps everything else, with comments.
 * @param entry - `undefined` removes it.
 * @throws {InvalidFile} if the text is not an object in JSON with comments.
 */
export function editJson(
  text: string,
  { entry, name, table }: { readonly table: string; readonly name: string; readonly entry: object | undefined },
): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const json = text.slice(bom.length).trim() === "" ? "{}\n" : text.slice(bom.length);
  const current = objectIn(json);
  const servers = current[table];
  if (servers !== undefined && (typeof servers !== "object" || servers === null || Array.isArray(servers)))
    throw new InvalidFile(`"${table}" is not an object`);
  const own = (servers as Record<string, unknown> | undefined)?.[name];
  if (JSON.stringify(own) === JSON.stringify(entry)) return text;
  const isTabbed = /^\t/m.test(json);
  const edits = modify(json, [table, name], entry, {
    formattingOptions: {
      insertSpaces: !isTabbed,
      tabSize: /^( +)\S/m.exec(json)?.[1]?.length ?? 2,
      eol: json.includes("\r\n") ? "\r\n" : "\n",
    },
  });
  return bom + applyEdits(json, edits);
}

function objectIn(json: string): Record<string, unknown> {
  const errors: ParseError[] = [];
  const value: unknown = parse(json, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    const line = json.slice(0, first.offset).split("\n").length;
    throw new InvalidFile(`line ${String(line)}: ${printParseErrorCode(first.error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new InvalidFile("not an object");
  return value as Record<string, unknown>;
}
