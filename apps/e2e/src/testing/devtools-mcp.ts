import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const program = require.resolve("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");

export class DevtoolsMcp implements AsyncDisposable {
  readonly #client = new Client({ name: "shoal-e2e", version: "1.0.0" });

  static async start(...options: readonly string[]): Promise<DevtoolsMcp> {
    const started = new DevtoolsMcp();
    await started.#client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program, ...options, "--no-usage-statistics", "--no-performance-crux"],
        env: { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1" },
        stderr: "ignore",
      }),
    );
    return started;
  }

  /** Calls a tool. @returns its texts, and its images in base64. */
  async call(name: string, given: Record<string, unknown> = {}): Promise<string> {
    const { content, isError } = await this.#client.callTool({ name, arguments: given });
    const answer = content
      .map((part) => (part.type === "text" ? part.text : part.type === "image" ? part.data : part.type))
      .join("\n");
    if (isError === true) throw new Error(`${name} failed: ${answer}`);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
