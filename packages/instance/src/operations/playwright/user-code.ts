import { hasCode } from "@shoal/primitives";
import { SourceMap, stripTypeScriptTypes } from "node:module";
import { inspect } from "node:util";
import { constants, Script } from "node:vm";
import type { Browser, BrowserContext, Page } from "playwright-core";

export interface Scope {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly browser: Browser;
}

export interface UserCode {
  run(scope: Scope): Promise<unknown>;
  describe(error: unknown): string;
}

const filename = "code.ts";
// On the first line of the code, so that line numbers stay the same.
const opening = "(async ({ page, context, browser }) => {";
const closing = "\n})";
const maxFrames = 10;

/** Removes TypeScript's types only if the code is not valid JavaScript. @throws {SyntaxError} */
export function compileUserCode(code: string): UserCode {
  const source = `${opening}${code}${closing}`;
  try {
    return runnable(source);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return fromTypeScript(source);
}

function runnable(source: string, map?: SourceMap): UserCode {
  const script = new Script(source, {
    filename,
    columnOffset: map === undefined ? -opening.length : 0,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return {
    run: async (scope) => (script.runInThisContext() as (scope: Scope) => Promise<unknown>)(scope),
    describe: (error) => describeError(error, map),
  };
}

function fromTypeScript(source: string): UserCode {
  try {
    // Blanks replace the types, so lines and columns stay the same.
    return runnable(stripTypeScriptTypes(source, { mode: "strip" }));
  } catch (error) {
    if (!hasCode(error, "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")) throw error;
  }
  // Enums and similar syntax have to be transformed.
  const written = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true });
  const encoded = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(written)?.[1];
  const map =
    encoded === undefined
      ? undefined
      : new SourceMap(
          JSON.parse(Buffer.from(encoded, "base64").toString()) as ConstructorParameters<typeof SourceMap>[0],
        );
  return runnable(written, map);
}

export function describeSyntaxError(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  // V8's stack starts with the location.
  const line = new RegExp(`^${filename}:(\\d+)`).exec(error.stack ?? "")?.[1];
  return `SyntaxError: ${error.message}${line === undefined ? "" : `\n    at ${filename}:${line}`}`;
}

function describeError(error: unknown, map: SourceMap | undefined): string {
  if (!(error instanceof Error)) return `The code threw ${inspect(error, { depth: 2 })}`;
  const frames: string[] = [];
  for (const [, line, column] of (error.stack ?? "").matchAll(
    new RegExp(`^ +at .*\\b${filename}:(\\d+):(\\d+)\\)?$`, "gm"),
  )) {
    if (frames.length < maxFrames) frames.push(`\n    at ${placeOf(Number(line), Number(column), map)}`);
  }
  return `${error.name}: ${error.message}${frames.join("")}`;
}

function placeOf(line: number, column: number, map: SourceMap | undefined): string {
  const entry = map?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalLine" in entry)) return `${filename}:${String(line)}:${String(column)}`;
  const shift = entry.originalLine === 0 ? opening.length : 0;
  return `${filename}:${String(entry.originalLine + 1)}:${String(Math.max(1, entry.originalColumn + 1 - shift))}`;
}
