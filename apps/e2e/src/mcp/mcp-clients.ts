import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fileURLToPath } from "node:url";
import type { TestService } from "../testing/service.ts";

export const shoalProgram = fileURLToPath(new URL("../../../cli/dist/shoal.js", import.meta.url));

/** Revisions of the protocol before 2026-07-28 have sessions. */
export type Revision = "with sessions" | "newest";

const newClient = (revision: Revision) =>
  new Client({ name: "e2e", version: "1" }, revision === "newest" ? { versionNegotiation: { mode: "auto" } } : {});

export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

export class McpConnection implements AsyncDisposable {
  readonly client: Client;
  readonly http: StreamableHTTPClientTransport | undefined;

  private constructor(client: Client, http?: StreamableHTTPClientTransport) {
    this.client = client;
    this.http = http;
  }

  static async overStdio(
    { service }: TestService,
    flags: readonly string[] = [],
    revision: Revision = "with sessions",
  ): Promise<McpConnection> {
    const client = newClient(revision);
    const env = { PATH: process.env.PATH ?? "", SHOAL_BASE_URL: service.baseUrl, SHOAL_API_KEY: service.apiKey };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [shoalProgram, "mcp", ...flags], env }),
    );
    return new McpConnection(client);
  }

  /** @param query - settings: `tools=all`. */
  static async overHttp(
    { service }: TestService,
    query = "",
    { key = service.apiKey, revision = "with sessions" }: { readonly key?: string; readonly revision?: Revision } = {},
  ): Promise<McpConnection> {
    const client = newClient(revision);
    const http = new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp?${query}`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    });
    await client.connect(http);
    return new McpConnection(client, http);
  }

  async call(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const { content, isError, structuredContent } = await this.client.callTool({ name, arguments: { ...args } });
    return {
      text: content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n"),
      isError: isError ?? false,
      structured: { ...(structuredContent as object | undefined) },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.http?.terminateSession();
    await this.client.close();
  }
}
