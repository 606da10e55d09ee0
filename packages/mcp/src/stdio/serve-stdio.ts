import { StdioServerTransport, serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import { type Endpoint, getAuthContext } from "@shoal/contract";
import { KeyPolicy } from "@shoal/contract/rights";
import type { Transport } from "@shoal/transport";
import type { Readable, Writable } from "node:stream";
import { OwnBrowser } from "../browser/own-browser.ts";
import { createServer } from "../server/create-server.ts";
import type { McpSettings } from "../server/settings.ts";

/** Options of {@link serveStdio}. */
export interface StdioOptions {
  /** Of the tools. It may start a service. */
  readonly transport: Transport;
  /** Reads the rights of the key before the first tool. */
  readonly rights: Transport;
  readonly settings: McpSettings;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the connection. */
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

const contextMs = 3_000;

/** Returns the rights of a key with a policy. The service decides about each call, so its silence hides no tool. */
async function rightsOf(
  transport: Transport,
  signal: AbortSignal,
): Promise<((operation: Endpoint) => boolean) | undefined> {
  const context = await transport.call(getAuthContext, {}, { signal, timeoutMs: contextMs }).catch(() => undefined);
  const { effective_scope, policy: wire } = context?.authorization ?? {};
  if (wire === undefined) return undefined;
  const policy = new KeyPolicy(wire);
  const projectId = effective_scope?.project_id ?? policy.onlyProject();
  return projectId === undefined ? undefined : (operation) => policy.permitsSome(operation, projectId);
}

/** Serves one client until it closes `input`. Resolves when the browser of the connection has ended. */
export async function serveStdio(options: StdioOptions): Promise<void> {
  const { input, onError, output, rights, settings, signal, transport, version } = options;
  const own = new OwnBrowser(transport, settings.browser, settings.session);
  const wire = new StdioServerTransport(input, output);
  const handle = serve(
    async () => createServer({ transport, settings, own, version, mayCall: await rightsOf(rights, signal) }),
    {
      transport: wire,
      onerror: onError,
    },
  );
  await new Promise<void>((resolve) => {
    const end = (): void => {
      resolve();
    };
    input.once("end", end).once("close", end);
    output.once("close", end).once("error", end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted || input.readableEnded || input.destroyed) end();
  });
  await handle.close();
  await own.close();
}
