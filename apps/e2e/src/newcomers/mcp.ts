import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Way } from "./way.ts";

interface Answer {
  readonly id: number;
  readonly result?: { readonly content?: readonly { readonly text?: string }[]; readonly tools?: readonly unknown[] };
  readonly error?: unknown;
}

/** Speaks MCP line by line, without a library. */
class RawClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;

  constructor(child: ChildProcess & { readonly stdout: NonNullable<ChildProcess["stdout"]> }) {
    this.#child = child;
    createInterface(child.stdout).on("line", (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
    });
  }

  async ask(method: string, params: object = {}): Promise<NonNullable<Answer["result"]>> {
    const id = ++this.#last;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    const ended = once(this.#child, "exit").then(([status]: unknown[]): never => {
      throw new Error(`The server ended with ${String(status)} before it answered ${method}.`);
    });
    const { error, result } = await Promise.race([answered, ended]);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "newcomer", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
  }

  /** The text of a tool's answer. */
  async call(name: string, given: object): Promise<string> {
    const { content = [] } = await this.ask("tools/call", { name, arguments: given });
    return content.map(({ text = "" }) => text).join("\n");
  }

  async end(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.stdin?.end();
    const [status] = (await ended) as [number | null];
    if (status !== 0) throw new Error(`The server ended with ${String(status)}.`);
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

const pages = ["README.md", "docs/guide/mcp.md"];
const shop = `data:text/html,<title>shop</title><button onclick="document.title = 'bought'">Buy</button>`;

/** A person who adds Shoal to an agent and starts nothing else: no service, no key. */
export async function agentUser(way: Way): Promise<void> {
  const settings = join(way.home, ".cursor");
  mkdirSync(settings);
  await way.typed("./shoal mcp install", pages);
  const file = join(settings, "mcp.json");
  const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as {
    mcpServers: { shoal: { command: string; args: string[]; env?: Record<string, string> } };
  };
  const { args, command, env } = mcpServers.shoal;
  // Clients start servers in any folder.
  const child = spawn(command, args, {
    cwd: way.home,
    env: way.environment({ ...env, SHOAL_PORT: "0" }),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const client = new RawClient(child);
  try {
    await way.step("initialize", () => client.initialize());
    await way.step("tools/list", () => client.ask("tools/list"));
    await way.step("the first tool starts a service", () =>
      expectIn(client.call("navigate", { url: shop }), 'button "Buy" [e1]'),
    );
    await way.step("a click", () => expectIn(client.call("click", { ref: "e1" }), "bought"));
    await way.step("the end of the input ends everything", () => client.end());
  } finally {
    child.kill("SIGKILL");
  }
}

async function expectIn(answer: Promise<string>, part: string): Promise<void> {
  const text = await answer;
  if (!text.includes(part)) throw new Error(`The answer does not contain ${part}:\n${text}`);
}
