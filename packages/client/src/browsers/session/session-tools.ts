import type { CallPageTool, PageToolResult, PageTools } from "@shoal/schemas";
import type { CallOptions } from "@shoal/transport";
import type { BrowserTools } from "./browser-tools.ts";

/** Tools that the pages of one session register for agents. Errors are those of {@link BrowserTools}. */
export class SessionTools {
  readonly #tools: BrowserTools;
  readonly #id: string;
  constructor(tools: BrowserTools, id: string) {
    this.#tools = tools;
    this.#id = id;
  }

  /** Lists the tools of a page, with those of its frames. */
  list(tab?: string, options?: CallOptions): Promise<PageTools> {
    return this.#tools.list(this.#id, tab === undefined ? {} : { tab }, options);
  }
  /** Calls a tool and waits for its result. */
  call(
    name: string,
    args: Record<string, unknown> = {},
    { call, ...rest }: Omit<CallPageTool, "name" | "arguments"> & { readonly call?: CallOptions } = {},
  ): Promise<PageToolResult> {
    return this.#tools.call(this.#id, { ...rest, name, arguments: args }, call);
  }
}
