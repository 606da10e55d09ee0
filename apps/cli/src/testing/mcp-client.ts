import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bareEnv, shoalPath } from "./shoal.ts";

export interface McpClient {
  toolNames(): Promise<readonly string[]>;
  call(name: string, args: object): Promise<{ readonly isError: boolean; readonly text: string }>;
  /** Closes both streams without waiting. */
  leave(): void;
  /** Resolves with the end of the command. */
  readonly ended: Promise<unknown>;
  /** Disconnects, and waits for the end of the command. */
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly error?: unknown;
  readonly result?: unknown;
}

/** Starts `shoal mcp` and initializes, with one JSON message a line as in the protocol. */
export async function connectMcp(flags: readonly string[], env: Readonly<Record<string, string>>): Promise<McpClient> {
  const child = spawn(process.execPath, [shoalPath, "mcp", ...flags], { env: bareEnv(env) });
  const ended = once(child, "close");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  child.stdin.on("error", () => undefined);
  const waiting = new Map<number, (message: Message) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const request = async (method: string, params: object) => {
    const id = ++last;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const failed = ended.then(([status]) => {
      throw new Error(`shoal mcp ended with ${String(status)}: ${errors}`);
    });
    const { error, result } = await Promise.race([answered, failed]);
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  };
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  send({ method: "notifications/initialized" });
  return {
    async toolNames() {
      const { tools } = (await request("tools/list", {})) as { tools: readonly { name: string }[] };
      return tools.map(({ name }) => name);
    },
    async call(name, args) {
      const { content, isError = false } = (await request("tools/call", { name, arguments: args })) as {
        content: readonly { text?: string }[];
        isError?: boolean;
      };
      return { isError, text: content.map(({ text = "" }) => text).join("\n") };
    },
    leave() {
      child.stdin.end();
      child.stdout.destroy();
    },
    ended,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
