import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import pLimit from "p-limit";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import { askGateway } from "../../egress/ask-gateway.ts";

export interface SigningOptions {
  readonly browser: Pick<BrowserSupervisor, "cdp" | "onBrowser">;
  readonly egressPath: string;
  /** Empty: all. */
  readonly hosts: readonly string[];
}

type HeaderEntry = Protocol.Fetch.HeaderEntry;

/** The page waits for it. */
const signatureMs = 2_000;
/** Each question is a connection to the gateway, whose number is limited for each session. */
const questionsAtOnce = 4;
const signatureHeaders: ReadonlySet<string> = new Set(["signature", "signature-input", "signature-agent"]);

/**
 * Adds signatures of the service to the browser's requests. A session on the browser itself sees requests of all pages,
 * frames, workers and service workers, and each hop of a redirect; clients can intercept requests as well.
 */
export async function signRequests({ browser, egressPath, hosts }: SigningOptions): Promise<void> {
  const questions = pLimit(questionsAtOnce);
  const signature = (url: string): Promise<readonly HeaderEntry[]> =>
    questions(() =>
      askGateway<HeaderEntry>(egressPath, {
        path: `/signature?url=${encodeURIComponent(url)}`,
        timeoutMs: signatureMs,
      }),
    ).catch(() => []);
  await browser.cdp();
  let attaching = Promise.resolve();
  browser.onBrowser((cdp) => {
    // A browser that has just ended.
    attaching = attach(cdp, patternsOf(hosts), signature).catch(() => undefined);
  });
  await attaching;
}

async function attach(
  cdp: CdpConnection,
  patterns: Protocol.Fetch.RequestPattern[],
  signature: (url: string) => Promise<readonly HeaderEntry[]>,
): Promise<void> {
  const { sessionId } = await cdp.send("Target.attachToBrowserTarget");
  cdp.on("Fetch.requestPaused", ({ request, requestId }, from) => {
    if (from !== sessionId) return;
    void signature(originOf(request.url)).then((added) => {
      const kept = Object.entries(request.headers)
        .filter(([name]) => !signatureHeaders.has(name.toLowerCase()))
        .map(([name, value]) => ({ name, value }));
      const headers = added.length === 0 ? {} : { headers: [...kept, ...added] };
      // The request may have been aborted.
      cdp.send("Fetch.continueRequest", { requestId, ...headers }, sessionId).catch(() => undefined);
    });
  });
  await cdp.send("Fetch.enable", { patterns }, sessionId);
}

/** Patterns may match other hosts too, because `*` matches any characters. The service decides. */
function patternsOf(hosts: readonly string[]): Protocol.Fetch.RequestPattern[] {
  if (hosts.length === 0) return [{ urlPattern: "http*://*" }];
  return hosts.flatMap((host) => [{ urlPattern: `http*://${host}/*` }, { urlPattern: `http*://${host}:*/*` }]);
}

/** Paths may contain secrets, and the service does not need them. */
function originOf(address: string): string {
  return URL.parse(address)?.origin ?? "";
}
