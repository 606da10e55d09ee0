import type { addCustomWebMcpTools, listCustomWebMcpTools, removeCustomWebMcpTool, runRepl } from "@shoal/contract";
import { badInput, type Handlers, ServiceError } from "@shoal/router";
import { type CustomWebMcpTool, InvokeWebMcpTool, type WebMcpInvocation, type WebMcpTools } from "@shoal/schemas";
import { join } from "node:path";
import * as z from "zod/mini";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { CustomTool } from "./custom-tools.ts";
import { Repl } from "./repl.ts";
import type { ReplProcess } from "./repl-process.ts";

/** Tools of pages, for code. */
export interface CodeWebMcp {
  list(signal: AbortSignal): Promise<WebMcpTools>;
  invoke(call: z.output<typeof InvokeWebMcpTool>, signal: AbortSignal): Promise<WebMcpInvocation>;
}

export interface ReplParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "endpoint">;
  /** Of commands of the session. */
  readonly environment: () => Readonly<Record<string, string>>;
  readonly visibleTarget: () => Promise<string | undefined>;
  readonly webMcp: CodeWebMcp;
  readonly isUrlPattern: (text: string) => boolean;
}

export interface ReplArea {
  readonly handlers: Handlers<{
    runRepl: typeof runRepl;
    addCustomWebMcpTools: typeof addCustomWebMcpTools;
    listCustomWebMcpTools: typeof listCustomWebMcpTools;
    removeCustomWebMcpTool: typeof removeCustomWebMcpTool;
  }>;
  readonly customTools: {
    list(): readonly CustomTool[];
    invoke: Repl["invokeTool"];
  };
  readonly endProcess: (reason: string) => void;
  readonly close: () => void;
}

const maxSourceBytes = 8_000_000;
const maxInputBytes = 2 ** 20;

export function replHandlers({
  browser,
  config,
  environment,
  isUrlPattern,
  root,
  visibleTarget,
  webMcp,
}: ReplParts): ReplArea {
  const closing = new AbortController();
  const repl = new Repl({
    start: () => ({
      program: process.argv[1] ?? "",
      directory: join(root.directory, root.home),
      cacheDir: config.cache_dir,
      environment: { ...environment(), NODE_USE_ENV_PROXY: "1" },
      answer: (asking, method, params) => answer(webMcp, { asking, method, params, signal: closing.signal }),
      isUrlPattern,
    }),
    endpoint: () => browser.endpoint(),
    visibleTarget,
  });
  return {
    handlers: {
      runRepl: ({ body, signal }) =>
        repl.run({ code: body.code, reset: body.reset, timeoutSeconds: body.timeout_sec, signal }),
      listCustomWebMcpTools: () => Promise.resolve({ tools: repl.customTools.map(shown) }),
      async addCustomWebMcpTools({ body: { force_overwrite_namespace: force, namespace, source }, signal }) {
        if (Buffer.byteLength(source) > maxSourceBytes)
          throw badInput("body.source", `has more than ${String(maxSourceBytes)} bytes in UTF-8`, {
            limit: maxSourceBytes,
            hint: "Add the tools in several calls.",
          });
        const added = await repl.addTools({ namespace, source, force, signal });
        return { tools: added.map(shown) };
      },
      async removeCustomWebMcpTool({ params }) {
        if (!repl.removeTool(params.tool_id)) throw unknownTool(params.tool_id);
      },
    },
    customTools: {
      list: () => repl.customTools,
      invoke: (...call) => repl.invokeTool(...call),
    },
    endProcess: (reason) => {
      repl.endProcess(reason);
    },
    close: () => {
      closing.abort(new ServiceError(503, "shutting_down", "The session ended during the call."));
      repl.close();
    },
  };
}

interface Question {
  readonly asking: ReplProcess;
  /** Code may ask anything. */
  readonly method: unknown;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

async function answer(webMcp: CodeWebMcp, { asking, method, params, signal }: Question): Promise<unknown> {
  const { customTools } = asking;
  switch (method) {
    case "addCustomTools":
      return { tools: customTools.add(params).map(shown), present: customTools.list().map(({ id }) => id) };
    case "listCustomTools":
      return customTools.list().map(shown);
    case "listTools":
      return webMcp.list(signal);
    case "removeCustomTool": {
      const { id } = (params ?? {}) as { readonly id?: unknown };
      return typeof id === "string" && asking.removeTool(id);
    }
    case "invokeTool":
      return webMcp.invoke(callIn(params), signal);
    default:
      throw new ServiceError(404, "not_found", "A call of this name is missing.");
  }
}

function callIn(params: unknown): z.output<typeof InvokeWebMcpTool> {
  const read = z.safeParse(InvokeWebMcpTool, params);
  if (read.success && JSON.stringify(read.data.input).length <= maxInputBytes) return read.data;
  const [issue] = read.error?.issues ?? [];
  const field = issue?.path.join(".") ?? "input";
  throw badInput(field, issue?.message ?? `has more than ${String(maxInputBytes)} characters as JSON`, {
    hint: "Call webmcp.invokeTool(ref, input, { timeoutSec }) with a reference of webmcp.listTools().",
  });
}

/** Functions of tools are not shown. */
function shown({ execute: _execute, ...tool }: CustomTool): CustomWebMcpTool {
  return tool;
}

function unknownTool(id: string): ServiceError {
  return new ServiceError(
    404,
    "tool_not_found",
    `The session has no custom tool ${JSON.stringify(id.slice(0, 100))}.`,
    {
      hint: "List the tools with browsers.webmcp.listCustomTools. They end with the process of the REPL.",
    },
  );
}
