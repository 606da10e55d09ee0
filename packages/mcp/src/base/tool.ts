import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Endpoint } from "@shoal/contract";
import type { Schema } from "@shoal/schemas";
import type { CallOptions, Transport } from "@shoal/transport";
import type { Fields } from "./fields.ts";

/** Groups of tools that a connection can select. */
export const toolGroups = [
  "observe",
  "act",
  "secrets",
  "read",
  "screenshot",
  "files",
  "debug",
  "processes",
  "sessions",
  "profiles",
  "handoff",
  "flows",
] as const;
/** One of {@link toolGroups}. */
export type ToolGroup = (typeof toolGroups)[number];

/** The groups of a connection that selects none. */
export const defaultGroups: readonly ToolGroup[] = ["observe", "act", "read", "screenshot", "files"];

export interface ToolAnswer {
  readonly content: CallToolResult["content"];
  /** The fields of the tool's output schema. */
  readonly structured?: object;
}

export interface ToolCall {
  readonly transport: Transport;
  /** With the signal of the call. */
  readonly options: CallOptions;
  /** Shows a message to the user during the call; `undefined` if the client requests no progress. */
  readonly report: ((message: string) => void) | undefined;
  /** The id of the session, which starts on first use. @throws {ToolError} */
  readonly browser: () => Promise<string>;
  /** Tokens of outlines after actions; 0 = none. */
  readonly outlineTokens: number;
}

export interface Tool {
  readonly name: string;
  /** `undefined`: in every connection. */
  readonly group: ToolGroup | undefined;
  readonly title: string;
  /** Models read it with every request: short. */
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly usesBrowser: boolean;
  /** The operations that it needs. A caller without the right to one of them does not see the tool. */
  readonly calls: readonly Endpoint[];
  readonly fields: Fields<object>;
  readonly output: Schema | undefined;
  readonly run: (input: object, call: ToolCall) => Promise<ToolAnswer>;
}

export interface ToolDefinition<Input extends object> extends Pick<
  Tool,
  "name" | "group" | "title" | "description" | "calls"
> {
  /** `destroys` for data that a person would miss. */
  readonly effect: "reads" | "changes" | "destroys";
  /** Default `true`. */
  readonly usesBrowser?: boolean;
  readonly fields: Fields<Input>;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every type
  readonly output?: Schema<any, any>;
  readonly run: (input: Input, call: ToolCall) => Promise<ToolAnswer>;
}

export function defineTool<Input extends object>(definition: ToolDefinition<Input>): Tool {
  const { effect, usesBrowser = true, output, run, ...rest } = definition;
  return {
    ...rest,
    usesBrowser,
    output,
    annotations: {
      readOnlyHint: effect === "reads",
      ...(effect !== "reads" && { destructiveHint: effect === "destroys" }),
      // Pages of any site.
      openWorldHint: usesBrowser,
    },
    // The server validates the input with `fields` first.
    run: (input, call) => run(input as Input, call),
  };
}

export function text(value: string): ToolAnswer["content"][number] {
  return { type: "text", text: value };
}
