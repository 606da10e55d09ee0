import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CustomWebMcpTool } from "@shoal/schemas";
import * as z from "zod/mini";
import { checked, lazyObject } from "@shoal/schemas";

/** A custom tool; `execute` is the text of a function, for `page` only. */
export interface CustomTool extends CustomWebMcpTool {
  readonly execute?: string;
}

const maxTools = 200;
/** Of all tools of a session as JSON, with their functions. */
const maxCharacters = 16_000_000;
const maxPatterns = 100;
const maxDepth = 64;

const Pattern = () => checked(z.string(), z.minLength(1), z.maxLength(2_000));
const JsonSchema = () => z.record(z.string(), z.unknown());

/** User code can forge it. */
const Request = lazyObject(() => ({
  namespace: checked(
    z.string(),
    z.regex(/^[A-Za-z0-9._-]{1,128}$/, "must be 1 to 128 letters, digits, dots, underscores and hyphens"),
  ),
  force: z.boolean(),
  tools: checked(
    z.array(
      z.object({
        kind: z.enum(["page", "cdp"]),
        match: z.object({ url_patterns: checked(z.array(Pattern()), z.minLength(1), z.maxLength(maxPatterns)) }),
        tool: z.object({
          name: checked(z.string(), z.minLength(1), z.maxLength(93)),
          description: checked(z.string(), z.maxLength(4_000)),
          inputSchema: z._default(JsonSchema(), { type: "object" }),
          outputSchema: z.optional(JsonSchema()),
          title: z.optional(checked(z.string(), z.maxLength(500))),
          annotations: z.optional(z.record(checked(z.string(), z.maxLength(100)), z.boolean())),
        }),
        execute: z.optional(checked(z.string(), z.maxLength(8_000_000))),
      }),
    ),
    z.minLength(1),
    z.maxLength(maxTools),
  ),
}));

/** Definitions of the custom tools of one process; their functions are in it. */
export class CustomTools {
  readonly #isPattern: (text: string) => boolean;
  #tools: readonly CustomTool[] = [];

  constructor(isPattern: (text: string) => boolean) {
    this.#isPattern = isPattern;
  }

  list(): readonly CustomTool[] {
    return this.#tools;
  }

  /** Adds all tools or none. @throws {ServiceError} 400 naming the invalid part; 409 for a name that the namespace has. */
  add(request: unknown): readonly CustomTool[] {
    const read = z.safeParse(Request, request);
    if (!read.success) throw invalid(...problemOf(read.error));
    const { force, namespace, tools } = read.data;
    tools.forEach((tool, index) => {
      this.#check(tool, index);
    });
    const kept = force ? this.#tools.filter((tool) => tool.namespace !== namespace) : this.#tools;
    const names = new Set(kept.flatMap((tool) => (tool.namespace === namespace ? [tool.tool.name] : [])));
    const taken = tools.find(({ tool }) => names.size === names.add(tool.name).size);
    if (taken !== undefined)
      throw new ServiceError(
        409,
        "name_taken",
        `The namespace ${namespace} has, or the source repeats, the tool ${JSON.stringify(taken.tool.name)}.`,
        { hint: "Choose another name, or replace the namespace with force_overwrite_namespace." },
      );
    const added = tools.map(({ tool, ...others }) => ({ id: `ct_${createId()}`, namespace, ...others, tool }));
    const all = [...kept, ...added];
    if (all.length > maxTools) throw invalid("", `the session would have ${String(all.length)} tools`, maxTools);
    if (JSON.stringify(all).length > maxCharacters)
      throw invalid("", "all tools of the session are too long together", maxCharacters);
    this.#tools = all as CustomTool[];
    return added as CustomTool[];
  }

  remove(id: string): boolean {
    const rest = this.#tools.filter((tool) => tool.id !== id);
    const isKnown = rest.length < this.#tools.length;
    this.#tools = rest;
    return isKnown;
  }

  #check({ execute, kind, match, tool }: z.output<typeof Request>["tools"][number], index: number): void {
    const at = `tools[${String(index)}]`;
    const odd = match.url_patterns.find((text) => !this.#isPattern(text));
    if (odd !== undefined)
      throw invalid(
        `${at}.match.url_patterns`,
        `${JSON.stringify(odd.slice(0, 200))} is not scheme://host/path, or no address can match its host, port or path`,
      );
    if ((kind === "page") !== (execute !== undefined))
      throw invalid(`${at}.execute`, "must be a function that is written in the source");
    if (!isShallow([tool.inputSchema, tool.outputSchema]))
      throw invalid(`${at}.tool`, "a schema is nested too deeply", maxDepth);
  }
}

function isShallow(value: unknown, depth = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
}

function problemOf({ issues }: z.core.$ZodError): [at: string, problem: string] {
  const [issue] = issues;
  const at = (issue?.path ?? []).map((part) => (typeof part === "number" ? `[${String(part)}]` : `.${String(part)}`));
  return [at.join("").replace(/^\./, "").slice(0, 200), issue?.message ?? "is invalid"];
}

function invalid(at: string, problem: string, limit?: number): ServiceError {
  return new ServiceError(400, "bad_request", at === "" ? problem : `${at}: ${problem}`, {
    field: "body.source",
    ...(limit !== undefined && { limit }),
    hint: "The source must be a list of { kind, match: { url_patterns }, tool: { name, description }, execute }.",
  });
}
