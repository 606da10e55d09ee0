import type { CertificateAuthority } from "@shoal/primitives/certificates";
import type { ExchangePlayer, ExchangeRecorder } from "./exchanges.ts";

export interface EgressUpstream {
  /** `http://`, `https://` or `socks5://`, with percent-encoded credentials. The proxy resolves the names of pages. */
  readonly url: string;
  /** Names, or `*.example.com` for all subdomains. */
  readonly bypassHosts: readonly string[];
  /** PEM certificates for its own TLS and for pages that it decrypts. */
  readonly authorities?: string | undefined;
}

export interface EgressLimits {
  /** Chromium opens at most 32 through a proxy, plus WebSockets. */
  readonly connectionsPerSession: number;
  readonly connectionsPerProject: number;
  readonly connections: number;
  /** Milliseconds without traffic. */
  readonly idleMs: number;
  /** Milliseconds for name lookup, TCP, TLS and proxy handshakes. */
  readonly connectMs: number;
  /** Milliseconds without traffic while a connection waits for a request or is half closed. */
  readonly waitingMs: number;
  readonly lookupsPerSession: number;
  readonly lookupsPerProject: number;
}

export type ReachedLimit = "session" | "project" | "server";

/** Since the start; never decreases. */
export interface TransferredBytes {
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface EgressTraffic extends TransferredBytes {
  readonly connections: number;
  readonly ended: Readonly<Record<ReachedLimit | "idle", number>>;
}

/** Hosts in the notation of `network.allow`, `network.deny` and `network.allowed_hosts` of the contract. */
export interface EgressRules {
  /** Refuses everything else; absent = everything is allowed. */
  readonly allow?: readonly string[] | undefined;
  /** Wins over {@link allow}. */
  readonly deny?: readonly string[] | undefined;
  /**
   * Refuses everything else, also names that lead to a listed range, and other server names in TLS. Absent = everything
   * is allowed.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Connections to some hosts use another proxy, or fail. */
export interface EgressProxyRoute {
  /** Names, or `*.example.com` for all names below one. The longest match of all routes wins. */
  readonly hosts: readonly string[];
  readonly upstream: EgressUpstream;
}

/** Signs requests of a session, with a key that never enters its box. */
export interface RequestSigner {
  /** Names, or `*.example.com` for all names below one; empty = all. */
  readonly hosts: readonly string[];
  /** @returns headers. */
  sign(origin: string): Promise<Readonly<Record<string, string>>>;
}

/** Adds headers to requests of the browser. Their values never enter the box. */
export interface HeaderSource {
  /** Whether requests to an origin such as `https://example.com:8443` get headers. */
  covers(origin: string): boolean;
  /** Rejects if a value is unavailable; the request then fails. The message contains no value. */
  headers(origin: string): Promise<readonly AddedHeader[]>;
}

export type AddedHeader = readonly [name: string, value: string];

/** What the gateway does with requests of the browser, and the authority by which their TLS is opened. */
export interface ExitHeaders {
  readonly source: HeaderSource;
  /** Gets the requests of the browser to all hosts. */
  readonly recorder?: ExchangeRecorder | undefined;
  /** Answers the requests of the browser to all hosts. Unless it passes requests on, programs reach nothing. */
  readonly player?: ExchangePlayer | undefined;
  /** The browser of the session must trust its certificate, and no other. */
  readonly authority: CertificateAuthority;
}

export type RuleSource = "session" | "project";

export interface RuleRefusal {
  readonly source: RuleSource;
  readonly list: "allow" | "deny" | "allowed_hosts";
  /** The entry of `deny`; absent if no entry of another list matches. */
  readonly rule?: string;
}

/** Changes of the way out of one box. */
export interface EgressControls {
  setUpstream(upstream: EgressUpstream | undefined): void;
  setPrivateHosts(hosts: readonly string[]): void;
  setProject(project: string | undefined): void;
  /** Also after the end of the box. */
  transferred(): TransferredBytes;
  /** Closes the connections that the new rules refuse. @throws {PlacementError} `bad_option`; nothing changes. */
  setRules(source: RuleSource, rules: EgressRules | undefined): void;
  /** For hosts that a route contains, also instead of a direct connection. @throws {PlacementError} `bad_option`. */
  setProxyRoutes(routes: readonly EgressProxyRoute[]): void;
  setSigner(signer: RequestSigner): void;
  /** `undefined` = none. Ends open connections. */
  setHeaders(headers: ExitHeaders | undefined): void;
}
