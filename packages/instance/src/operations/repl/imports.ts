import { initSync, parse } from "es-module-lexer";

/** Has the length of `import`, so that columns stay the same. */
export const importName = "$mport";

/**
 * Replaces `import(` by a call of {@link importName}: the inspector's REPL mode has no loader of modules. Returns code that
 * is not valid unchanged; V8 then reports its error.
 */
export function withImports(code: string): string {
  if (!code.includes("import")) return code;
  initSync();
  let found: readonly { readonly d: number; readonly ss: number }[];
  try {
    [found] = parse(code);
  } catch {
    return code;
  }
  let written = code;
  for (const { d, ss } of found)
    if (d >= 0) written = `${written.slice(0, ss)}${importName}${written.slice(ss + importName.length)}`;
  return written;
}
