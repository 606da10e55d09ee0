import type { EgressUpstream } from "../interface/egress.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { egressGatewayName } from "./failure.ts";
import { EgressGateway } from "./gateway.ts";
import { createEgressPolicy } from "../policy/egress-policy.ts";
import { trusting } from "./upstream.ts";
import { createLocalAddresses } from "../policy/local-addresses.ts";
import { createNameResolver } from "../policy/resolve-name.ts";
import { messageOf } from "@shoal/primitives";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as tlsConnect } from "node:tls";

export type EgressProbeResult =
  /** `text`: the first 64 KiB of the body. */
  | { readonly outcome: "answered"; readonly status: number; readonly text: string; readonly latencyMs: number }
  /** `reason` omits passwords. */
  | { readonly outcome: "failed"; readonly reason: string }
  | { readonly outcome: "refused"; readonly reason: string };

export interface EgressProbe {
  /** Does not follow redirects. */
  probe(upstream: EgressUpstream, url: URL, timeoutMs: number): Promise<EgressProbeResult>;
}

const maxBytes = 65_536;

const reasons: Readonly<Record<number, string>> = {
  500: "the proxy requires another user name or password (407), or is not a proxy",
  590: "the proxy refused to connect to the page",
  592: "the proxy answered with an invalid status",
  593: "the name of the proxy does not resolve",
  594: "the proxy refuses connections",
  595: "the connection to the proxy was reset; it may require another protocol (http, https, socks5)",
  596: "the connection to the proxy broke",
  597: "the proxy rejects the user name and password",
  599: "the proxy does not understand the request; it may require another protocol (http, https, socks5)",
};

export function createEgressProbe({
  allowPrivateHosts,
  otherServers,
  log,
}: {
  readonly allowPrivateHosts: readonly string[];
  readonly otherServers?: () => Iterable<string>;
  readonly log: PlacementLog;
}): EgressProbe {
  const policy = createEgressPolicy(allowPrivateHosts, createNameResolver(), createLocalAddresses({ otherServers }));
  const gateway = new EgressGateway(log);

  async function through({ path, authorities }: Way, url: URL, signal: AbortSignal): Promise<EgressProbeResult> {
    const began = performance.now();
    try {
      const answer =
        url.protocol === "https:"
          ? await overTunnel({ path, authorities }, url, signal)
          : await plainly(path, url, signal);
      const status = answer.statusCode ?? 0;
      const text = await beginning(answer);
      // Answers of the gateway have its name, or statuses that sites do not use.
      if (answer.headers.server === egressGatewayName || (status >= 590 && status <= 599)) return failed(status, text);
      return { outcome: "answered", status, text, latencyMs: Math.round(performance.now() - began) };
    } catch (error) {
      if (error instanceof TunnelRefused) return failed(error.status, error.message, error.statusMessage);
      if (signal.aborted) return { outcome: "failed", reason: "the page did not answer in time" };
      if (isOfUnknownAuthority(error))
        return {
          outcome: "failed",
          reason: `the certificate of ${url.host} is signed by an unknown authority; if the proxy decrypts TLS, create it with its certificate authority as config.ca_bundle`,
        };
      return { outcome: "failed", reason: messageOf(error) };
    }
  }

  return {
    async probe(upstream, url, timeoutMs) {
      const decision = await policy.decide(
        url.hostname,
        url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
      );
      if (!decision.allowed && decision.status !== 502) return { outcome: "refused", reason: decision.message.trim() };
      const folder = process.platform === "win32" ? undefined : await mkdtemp(join(tmpdir(), "shoal-probe-"));
      const path =
        folder === undefined
          ? `\\\\.\\pipe\\shoal-probe-${randomBytes(12).toString("hex")}`
          : join(folder, "egress.sock");
      try {
        const door = await gateway.open(path, policy);
        try {
          // Hosts that bypass the proxy would not test it.
          door.setUpstream({ ...upstream, bypassHosts: [] });
          return await through({ path, authorities: upstream.authorities }, url, AbortSignal.timeout(timeoutMs));
        } finally {
          await door.close();
        }
      } finally {
        if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

interface Way {
  readonly path: string;
  readonly authorities: string | undefined;
}

const unknownAuthority: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function isOfUnknownAuthority(error: unknown): boolean {
  return error instanceof Error && "code" in error && unknownAuthority.has(error.code);
}

class TunnelRefused extends Error {
  readonly status: number;
  readonly statusMessage: string | undefined;

  constructor(status: number, message: string, statusMessage: string | undefined) {
    super(message);
    this.status = status;
    this.statusMessage = statusMessage;
  }
}

/** @param statusMessage - of a tunnel; the gateway puts the error code there. */
function failed(status: number, text: string, statusMessage = ""): EgressProbeResult {
  if (status === 403) return { outcome: "refused", reason: text.trim() };
  if (status === 502) return { outcome: "failed", reason: text.trim() };
  const code = /^E[A-Z0-9_]+$/.test(statusMessage) ? ` (${statusMessage})` : "";
  return {
    outcome: "failed",
    reason: `${reasons[status] ?? `the proxy answered with status ${String(status)}`}${code}`,
  };
}

function plainly(socketPath: string, url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath, path: url.href, headers: { host: url.host, connection: "close" }, signal }, resolve)
      .on("error", reject)
      .end();
  });
}

async function overTunnel(
  { path: socketPath, authorities }: Way,
  url: URL,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = `${url.hostname}:${url.port === "" ? "443" : url.port}`;
  const tunnel = await new Promise<Socket>((resolve, reject) => {
    httpRequest({ socketPath, method: "CONNECT", path: target, headers: { host: target }, signal })
      .on("connect", (answer, socket: Socket, head) => {
        if (answer.statusCode === 200) resolve(socket);
        else {
          socket.destroy();
          reject(new TunnelRefused(answer.statusCode ?? 0, head.toString(), answer.statusMessage));
        }
      })
      .on("error", reject)
      .end();
  });
  const socket = tlsConnect({
    socket: tunnel,
    servername: url.hostname,
    ALPNProtocols: ["http/1.1"],
    ...trusting(authorities),
  });
  return new Promise((resolve, reject) => {
    httpsRequest(url, { createConnection: () => socket, headers: { connection: "close" }, signal }, resolve)
      .on("error", reject)
      .end();
  });
}

async function beginning(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= maxBytes) break;
  }
  answer.destroy();
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
