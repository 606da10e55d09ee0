import { askGateway } from "./ask-gateway.ts";

export interface EgressFailure {
  /** `host:port`, or `*` when a limit rejected the connection before its request was read. */
  readonly target: string;
  /** 403 rejected, 502 unknown name, 504 timeout, 59x connection and proxy errors. */
  readonly status: number;
  /** The code of an answer that the browser got from the gateway, or of a refused tunnel. */
  readonly proxy_error?: "network_policy_denied" | "destination_route_unavailable" | "not_in_recording";
  /** One sentence for people; names the setting that would help. */
  readonly message: string;
}

/** The browser does not report a proxy's reasons. */
export interface EgressFailures {
  /** Returns the latest failure of `host:port` within the last seconds. Never rejects. */
  of(target: string): Promise<EgressFailure | undefined>;
}

const recentMs = 10_000;
const usualTimeoutMs = 2_000;

/** A gateway that does not answer within `timeoutMs` has no failures. */
export function createEgressFailures(egressPath: string, timeoutMs = usualTimeoutMs): EgressFailures {
  let asking: Promise<readonly AgedFailure[]> | undefined;
  let next: Promise<readonly AgedFailure[]> | undefined;

  /** A running request may predate the failure, so the next one starts when it ends, and callers share it. */
  function ask(): Promise<readonly AgedFailure[]> {
    if (asking !== undefined) {
      next ??= asking.then(() => {
        next = undefined;
        return ask();
      });
      return next;
    }
    asking = askGateway<AgedFailure>(egressPath, { path: "/failures", timeoutMs }).catch(() => []);
    void asking.then(() => (asking = undefined));
    return asking;
  }

  return {
    async of(target) {
      const found = await ask();
      const wanted = target.toLowerCase();
      return found.find(
        ({ age_ms, ...failure }) => age_ms < recentMs && (failure.target === wanted || failure.target === "*"),
      );
    },
  };
}

interface AgedFailure extends EgressFailure {
  readonly age_ms: number;
}

export function egressTarget(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "";
  return `${url.hostname}:${url.port === "" ? (/^(?:https|wss):$/.test(url.protocol) ? "443" : "80") : url.port}`;
}

/** Errors that Chromium reports when the gateway closed a connection without an answer or rejected a tunnel. */
export const egressErrors: ReadonlySet<string> = new Set([
  "net::ERR_TUNNEL_CONNECTION_FAILED",
  "net::ERR_PROXY_CONNECTION_FAILED",
  "net::ERR_EMPTY_RESPONSE",
  "net::ERR_CONNECTION_RESET",
  "net::ERR_CONNECTION_CLOSED",
  "net::ERR_SOCKET_NOT_CONNECTED",
]);
