import { SourceMap, stripTypeScriptTypes } from "node:module";
import { inspect } from "node:util";
import { constants, Script } from "node:vm";
import type { Browser, BrowserContext, Page } from "playwright-core";

/** What the code finds in its scope. */
export interface Scope {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly browser: Browser;
}

/** Code that can be run. */
export interface UserCode {
  run(scope: Scope): Promise<unknown>;
  /** What a failure says, with the lines of the code that it came from. */
  describe(error: unknown): string;
}

/** What the code is called in stacks. */
const filename = "code.ts";
// On the code's own first line, so that its lines keep their numbers.
const opening = "(async ({ page, context, browser }) => {";
const closing = "\n})";
const maxFrames = 10;

/**
 * Compiles the body of an async function. TypeScript's types are taken out only where it is no JavaScript, which spares most calls the parser.
 *
 * @throws {SyntaxError} when it is neither.
 */
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
    // The source is an arrow function, which is then the script's value.
    run: async (scope) => (script.runInThisContext() as (scope: Scope) => Promise<unknown>)(scope),
    describe: (error) => describeError(error, map),
  };
}

function fromTypeScript(source: string): UserCode {
  try {
    // Types become blanks: every line and column stays.
    return runnable(stripTypeScriptTypes(source, { mode: "strip" }));
  } catch (error) {
    if (!hasCode(error, "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")) throw error;
  }
  // Enums and the like are more than types; the code is then written anew.
  const written = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true });
  const encoded = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/.exec(written)?.[1];
  const map =
    encoded === undefined
      ? undefined
      : new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString()) as ConstructorParameters<typeof SourceMap>[0]);
  return runnable(written, map);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** What is said of code that could not be compiled. */
export function describeSyntaxError(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  // V8 puts the place first, before the error itself.
  const line = new RegExp(`^${filename}:(\\d+)`).exec(error.stack ?? "")?.[1];
  return `SyntaxError: ${error.message}${line === undefined ? "" : `\n    at ${filename}:${line}`}`;
}

function describeError(error: unknown, map: SourceMap | undefined): string {
  if (!(error instanceof Error)) return `The code threw ${inspect(error, { depth: 2 })}`;
  const frames: string[] = [];
  for (const [, line, column] of (error.stack ?? "").matchAll(new RegExp(`^ +at .*\\b${filename}:(\\d+):(\\d+)\\)?$`, "gm"))) {
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
