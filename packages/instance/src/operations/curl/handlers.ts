import type { curl } from "@shoal/contract";
import { type Handlers, ServiceError } from "@shoal/router";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { EgressForwarder } from "../../egress/forwarder.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { CurlBrowser } from "./curl-browser.ts";

export interface CurlArea {
  readonly handlers: Handlers<{ curl: typeof curl }>;
  /** Serves `/curl/raw`; never throws. */
  readonly raw: (request: IncomingMessage, response: ServerResponse) => void;
  readonly isHelper: (targetId: string) => boolean;
  /** Aborts running requests; resolves when they have been answered. */
  readonly close: () => Promise<void>;
}

export function curlArea(parts: {
  readonly config: InstanceConfig;
  readonly egress: Pick<EgressForwarder, "browserPort" | "failures"> | undefined;
  readonly browser: Pick<BrowserSupervisor, "cdp">;
}): CurlArea {
  const { config, egress, browser } = parts;
  const closed = new AbortController();
  let created: CurlBrowser | undefined;
  const running = new Set<Promise<unknown>>();
  function follow<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    const forget = () => running.delete(work);
    work.then(forget, forget);
    return work;
  }
  async function load() {
    const loaded = await import("./curl-parts.ts");
    closed.signal.throwIfAborted();
    created ??= new loaded.CurlBrowser({
      config,
      egressPort: egress?.browserPort ?? 0,
      failures: egress?.failures,
      cdp: () => browser.cdp(),
    });
    return { ...loaded, browser: created };
  }
  return {
    handlers: {
      async curl(call) {
        const { runCurl, browser: through } = await load();
        return follow(runCurl(through, call, closed.signal));
      },
    },
    raw(request, response) {
      load().then(
        ({ serveRaw, browser: through }) => follow(serveRaw(through, request, response, closed.signal)),
        () => response.destroy(),
      );
    },
    isHelper: (targetId) => created?.isHelper(targetId) ?? false,
    async close() {
      closed.abort(new ServiceError(503, "shutting_down", "The session ended while the request was sent."));
      created?.close();
      await Promise.allSettled(running);
    },
  };
}
