import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Move, Player } from "./player.ts";

type Calls = readonly (readonly [name: string, given: Record<string, unknown>])[];

export interface McpProgram {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly snapshot: string;
  readonly navigate: string;
  readonly calls: (move: Move) => Calls;
  readonly readable: (texts: readonly string[]) => string;
  readonly title: (call: (name: string, given: Record<string, unknown>) => Promise<string>) => Promise<string>;
}

/** Starts an MCP server of Node as a player. */
export async function startMcpPlayer(program: McpProgram): Promise<Player> {
  const client = new Client({ name: "shoal-bench", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...program.args],
      cwd: program.directory,
      stderr: "ignore",
      env: { ...(process.env as Record<string, string>), ...program.env },
    }),
  );
  const call = async (name: string, given: Record<string, unknown>): Promise<string> => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    if (isError === true) throw new Error(text);
    return text;
  };
  return {
    name: program.name,
    open: (url) => call(program.navigate, { url }),
    observe: () => call(program.snapshot, {}),
    async act(move) {
      const texts: string[] = [];
      for (const [name, given] of program.calls(move)) texts.push(await call(name, given));
      return texts.join("\n");
    },
    title: () => program.title(call),
    readable: program.readable,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
