import { readFileSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { rootCertificates } from "node:tls";
import { OriginRewriter } from "./origin-rewriter.ts";
import { otherVersions } from "./other-versions.ts";
import { packumentOf, type SdkPackages } from "./sdk-packages.ts";

/** A registry that needs a secret of the operator, or is on this machine. */
export interface RegistryUpstream {
  /** Without user name and password; ends with a slash. */
  readonly url: string;
  readonly authorization: string | undefined;
  /** Its files may be outside of the index. */
  readonly isPython: boolean;
}

export interface RegistryDoorOptions {
  readonly upstreams: readonly RegistryUpstream[];
  /** The door answers for these packages. */
  readonly sdk: SdkPackages;
  /** The registry that has other versions of them. */
  readonly npm: RegistryUpstream;
  /** PEM file with authorities in addition to the usual ones. */
  readonly authorities: string | undefined;
}

/** Path of the registry that adds the SDK of this version to `npm`. */
export const sdkPath = "/.sdk/";

const maxPathCharacters = 1_000;
const idleMs = 60_000;
/** One part of a path. A scope may come encoded: `@scope%2fname`. */
const part = /^(?:@[\w.~-]+%2f)?[\w.~@+!-]+$/i;
const packageFile = /\.(?:whl|whl\.metadata|tar\.gz|tgz|zip)$/;
const rewritten = /^(?:application\/(?:[\w.-]+\+)?json|text\/html|application\/vnd\.pypi)/;

/**
 * Leads boxes of builds to registries that need a secret, and adds it: the box, where code of the app's dependencies may
 * run, never has it. Only reads of packages pass. The packages of the SDK come from this service.
 */
export class RegistryDoor {
  readonly #options: RegistryDoorOptions;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response);
  });
  #authorities: readonly string[] | undefined;

  constructor(options: RegistryDoorOptions) {
    this.#options = options;
  }

  /** Takes the connection of a box. */
  readonly accept = (socket: Socket): void => {
    this.#server.emit("connection", socket);
  };

  close(): void {
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const sdkPackage = sdkPackageIn(request);
    if (sdkPackage !== undefined) {
      this.#answerSdk(sdkPackage, request, response).catch(() => response.writeHead(502).end());
      return;
    }
    const target = this.#targetOf(request);
    if (typeof target === "number") {
      response.writeHead(target).end();
      return;
    }
    const { upstream, url } = target;
    const isSecure = url.protocol === "https:";
    const outgoing = (isSecure ? httpsRequest : httpRequest)(url, {
      method: request.method,
      headers: {
        ...headersFor(request),
        ...(upstream.authorization !== undefined && { authorization: upstream.authorization }),
      },
      timeout: idleMs,
      ...(isSecure && { ca: [...this.#trusted()] }),
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
    outgoing.on("error", () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.on("close", () => outgoing.destroy());
    outgoing.on("response", (answer) => {
      const local = `http://${request.headers.host ?? ""}`;
      const rewrites =
        rewritten.test(answer.headers["content-type"] ?? "") && answer.headers["content-encoding"] === undefined;
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer, { origin: url.origin, local, rewrites }));
      const done = (): void => undefined;
      if (rewrites) pipeline(answer, new OriginRewriter(url.origin, local), response, done);
      else pipeline(answer, response, done);
    });
    outgoing.end();
  }

  /** Leads to the registry for what the service does not have. */
  async #answerSdk(path: string, { headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = await this.#options.sdk.find(path);
    const local = `http://${headers.host ?? ""}`;
    if (found === undefined) {
      response.writeHead(302, { location: this.#npmUrl(local) + path }).end();
    } else if (found.isTarball) {
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(found.package.tarball);
    } else {
      const { npm } = this.#options;
      const others = await otherVersions(
        {
          url: new URL(npm.url + found.package.name.replace("/", "%2f")),
          authorization: npm.authorization,
          authorities: this.#trusted(),
        },
        (text) => text.replaceAll(npm.url, this.#npmUrl(local)),
      );
      const own = packumentOf(found.package, local + sdkPath);
      const all = { ...own, versions: { ...others, ...own.versions } };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(all));
    }
  }

  /** The address of the registry for a box. */
  #npmUrl(local: string): string {
    const { npm, upstreams } = this.#options;
    return upstreams.some(({ url }) => url === npm.url) ? local + new URL(npm.url).pathname : npm.url;
  }

  /** @returns a status for a request that may not pass. */
  #targetOf({ headers, method, url = "" }: IncomingMessage): { upstream: RegistryUpstream; url: URL } | number {
    if (method !== "GET" && method !== "HEAD") return 405;
    if (!isLocalHost(headers.host)) return 400;
    const found = this.#options.upstreams
      .map((upstream) => ({ upstream, base: new URL(upstream.url) }))
      .toSorted((a, b) => b.base.pathname.length - a.base.pathname.length)
      .find(({ base }) => url.startsWith(base.pathname) && isPackagePath(url.slice(base.pathname.length)));
    const one = found ?? this.#fileHost(url);
    return one === undefined ? 404 : { upstream: one.upstream, url: new URL(one.base.origin + url) };
  }

  #fileHost(path: string): { upstream: RegistryUpstream; base: URL } | undefined {
    const upstream = this.#options.upstreams.find(({ isPython }) => isPython);
    if (upstream === undefined || !packageFile.test(path) || !isPackagePath(path.slice(1))) return undefined;
    return { upstream, base: new URL(upstream.url) };
  }

  #trusted(): readonly string[] {
    const { authorities } = this.#options;
    this.#authorities ??= [
      ...rootCertificates,
      ...(authorities === undefined ? [] : [readFileSync(authorities, "utf8")]),
    ];
    return this.#authorities;
  }
}

/** @returns the path of a package in the registry of the SDK */
function sdkPackageIn({ headers, method, url = "" }: IncomingMessage): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (!isLocalHost(headers.host) || !url.startsWith(sdkPath)) return undefined;
  const path = url.slice(sdkPath.length);
  return isPackagePath(path) ? path : undefined;
}

function isLocalHost(host: string | undefined): boolean {
  return /^127\.0\.0\.1:\d{1,5}$/.test(host ?? "");
}

/** Neither the registry's own operations (`-/whoami`, `-/npm/v1/tokens`), nor dots that lead elsewhere, nor a query. */
export function isPackagePath(path: string): boolean {
  if (path.length > maxPathCharacters || path === "") return false;
  const parts = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
  if (parts[0] === "-") return false;
  return parts.every((each) => part.test(each) && !/^\.+$/.test(each));
}

function headersFor({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const { accept, "if-modified-since": since, "if-none-match": match, "user-agent": agent } = headers;
  return {
    "accept-encoding": "identity",
    ...(accept !== undefined && { accept }),
    ...(since !== undefined && { "if-modified-since": since }),
    ...(match !== undefined && { "if-none-match": match }),
    ...(agent !== undefined && { "user-agent": agent }),
  };
}

/** Redirects to other hosts go to the box, which follows them without the secret. */
function answerHeaders(
  { headers }: IncomingMessage,
  { origin, local, rewrites }: { readonly origin: string; readonly local: string; readonly rewrites: boolean },
): OutgoingHttpHeaders {
  const {
    "cache-control": cache,
    "content-encoding": encoding,
    "content-length": length,
    "content-type": type,
    etag,
    location,
  } = headers;
  return {
    ...(cache !== undefined && { "cache-control": cache }),
    ...(encoding !== undefined && { "content-encoding": encoding }),
    ...(length !== undefined && !rewrites && { "content-length": length }),
    ...(type !== undefined && { "content-type": type }),
    ...(etag !== undefined && { etag }),
    ...(location !== undefined && {
      location: location.startsWith(`${origin}/`) ? local + location.slice(origin.length) : location,
    }),
  };
}
