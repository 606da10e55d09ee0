import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const chromeDevtoolsMcp = require.resolve("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");
const playwrightMcp = join(dirname(require.resolve("@playwright/mcp/package.json")), "cli.js");

/** A client of an MCP server from npm, which runs as a separate process. */
export class McpProgram implements AsyncDisposable {
  readonly #client = new Client({ name: "shoal-e2e", version: "1.0.0" });

  static chromeDevtools(...options: readonly string[]): Promise<McpProgram> {
    return McpProgram.#start([chromeDevtoolsMcp, ...options, "--no-usage-statistics", "--no-performance-crux"], {
      CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: "1",
    });
  }

  static playwright(...options: readonly string[]): Promise<McpProgram> {
    return McpProgram.#start([playwrightMcp, ...options], {});
  }

  static async #start(args: string[], env: Record<string, string>): Promise<McpProgram> {
    const started = new McpProgram();
    await started.#client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
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
