import type { curl } from "@shoal/contract";
import { type Handlers, ServiceError } from "@shoal/router";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import type { InstanceConfig } from "../protocol.ts";
import type { CurlBrowser } from "./curl-browser.ts";

/** Requests that go out through the browser. */
export interface CurlArea {
  readonly handlers: Handlers<{ curl: typeof curl }>;
  /** Serves `/curl/raw`; never throws. */
  readonly raw: (request: IncomingMessage, response: ServerResponse) => void;
  /** Tells the pages that send requests, which no tool is to list. */
  readonly isHelper: (targetId: string) => boolean;
  readonly close: () => void;
}

/** What requests need is loaded, and started, by the first one. */
export function curlArea(parts: { readonly config: InstanceConfig; readonly egressPort: number | undefined; readonly browser: Pick<BrowserSupervisor, "cdp"> }): CurlArea {
  const { config, egressPort = 0, browser } = parts;
  const closed = new AbortController();
  let created: CurlBrowser | undefined;
  async function load() {
    const loaded = await import("./curl-parts.ts");
    closed.signal.throwIfAborted();
    created ??= loaded.createCurlBrowser({ config, egressPort, cdp: () => browser.cdp() });
    return { ...loaded, browser: created };
  }
  return {
    handlers: {
      async curl(call) {
        const { runCurl, browser: through } = await load();
        return runCurl(through, call, closed.signal);
      },
    },
    raw(request, response) {
      load().then(
        ({ serveRaw, browser: through }) => serveRaw(through, request, response, closed.signal),
        () => response.destroy(),
      );
    },
    isHelper: (targetId) => created?.isHelper(targetId) ?? false,
    close() {
      closed.abort(new ServiceError(503, "shutting_down", "The session ended while the request was sent."));
      created?.close();
    },
  };
}
