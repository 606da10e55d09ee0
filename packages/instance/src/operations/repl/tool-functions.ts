import { inspect } from "node:util";
import { Script } from "node:vm";
import { withImports } from "./imports.ts";
import type { AskInstance } from "./worker-channel.ts";

/** A tool as code writes it. Every field may be anything. */
interface WrittenTool {
  readonly kind?: unknown;
  readonly match?: unknown;
  readonly tool?: { readonly inputSchema?: unknown; readonly outputSchema?: unknown };
  readonly execute?: unknown;
}

interface Addition {
  readonly namespace: string;
  readonly tools: readonly WrittenTool[];
  readonly forceOverwriteNamespace?: boolean;
}

/** Throws for a value that does not fit a schema. */
type Check = (value: unknown) => void;

interface ToolFunction {
  readonly execute: (input: unknown, call: { readonly matches: unknown; readonly signal: AbortSignal }) => unknown;
  readonly checkInput: Check;
  readonly checkOutput: Check;
}

/** Of an output, as JSON. */
const maxOutputBytes = 240 * 1024;
const maxErrorCharacters = 4_000;

/** The functions of custom tools. The instance has their definitions. */
export class ToolFunctions {
  readonly #ask: AskInstance;
  readonly #functions = new Map<string, ToolFunction>();

  constructor(ask: AskInstance) {
    this.#ask = ask;
  }

  /** @param source - an expression. @throws the error of the expression, or of the instance. */
  async addSource(namespace: string, source: string, force: boolean): Promise<unknown> {
    const script = new Script(withImports(`(${source}\n)`), { filename: "custom-tools.js" });
    const tools = (await script.runInThisContext()) as readonly WrittenTool[];
    return this.add({ namespace, tools, forceOverwriteNamespace: force });
  }

  async add({ forceOverwriteNamespace = false, namespace, tools }: Addition): Promise<unknown> {
    if (!Array.isArray(tools)) throw new TypeError("The tools must be a list.");
    const written = tools as readonly WrittenTool[];
    const functions = await Promise.all(written.map(async (tool) => functionOf(tool)));
    const added = (await this.#ask("addCustomTools", {
      namespace,
      force: forceOverwriteNamespace,
      tools: written.map((tool) => ({
        kind: tool.kind,
        match: tool.match,
        tool: tool.tool,
        ...(tool.kind === "page" && { execute: textOf(tool.execute) }),
      })),
    })) as { readonly tools: readonly { readonly id: string }[]; readonly present: readonly string[] };
    added.tools.forEach(({ id }, index) => {
      const made = functions[index];
      if (made !== undefined) this.#functions.set(id, made);
    });
    this.keep(added.present);
    return added.tools;
  }

  /** Forgets other functions. */
  keep(ids: readonly string[]): void {
    for (const id of this.#functions.keys()) if (!ids.includes(id)) this.#functions.delete(id);
  }

  /** Never rejects: a failure is a result. */
  async invoke(id: string, input: unknown, matches: unknown): Promise<object> {
    try {
      const tool = this.#functions.get(id);
      if (tool === undefined) throw new Error("The tool was removed.");
      tool.checkInput(input);
      // Never aborted: a call that is stopped ends the process.
      const { signal } = new AbortController();
      const output = await tool.execute(input, { matches, signal });
      tool.checkOutput(output);
      const text = output === undefined ? undefined : JSON.stringify(output);
      if (text !== undefined && Buffer.byteLength(text) > maxOutputBytes)
        throw new Error(`The output exceeds ${String(maxOutputBytes)} bytes of JSON.`);
      return { status: "completed", ...(text !== undefined && { output: JSON.parse(text) as unknown }) };
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
      return { status: "error", error_text: reason.slice(0, maxErrorCharacters) };
    }
  }
}

async function functionOf({ execute, kind, tool }: WrittenTool): Promise<ToolFunction | undefined> {
  if (kind !== "cdp") return undefined;
  if (typeof execute !== "function") throw new TypeError("execute must be a function.");
  return {
    execute: execute as ToolFunction["execute"],
    checkInput: await checkOf("input", tool?.inputSchema),
    checkOutput: await checkOf("output", tool?.outputSchema),
  };
}

/** @throws {Error} for a schema that cannot be checked. */
async function checkOf(what: string, schema: unknown): Promise<Check> {
  if (schema === undefined) return () => undefined;
  const { fromJSONSchema } = await import("zod");
  let shape: ReturnType<typeof fromJSONSchema>;
  try {
    shape = fromJSONSchema(schema as boolean);
  } catch (error) {
    throw new Error(`The ${what}Schema cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return (value) => {
    const { error, success } = shape.safeParse(value);
    if (success) return;
    const [issue] = error.issues;
    throw new TypeError(`The ${what} does not fit its schema: ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
  };
}

function isExpression(text: string): boolean {
  try {
    return new Script(`(${text}\n)`) instanceof Script;
  } catch {
    return false;
  }
}

/** Returns an expression of the function. A method of an object literal is written without `function`. */
function textOf(execute: unknown): string | undefined {
  if (typeof execute !== "function") return undefined;
  const text = Function.prototype.toString.call(execute);
  return [text, `Object.values({${text}\n})[0]`].find(isExpression);
}
