import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import type { Config } from "../config/settings.ts";
import { isLoopback } from "../http/listen.ts";

/**
 * Rejects requests of websites, also of sites whose name points to this machine (DNS rebinding). Programs send no
 * `Origin`.
 * @throws {ServiceError} 403 `forbidden`
 */
export class OriginCheck {
  readonly #publicUrl: URL | undefined;
  /** Behind a proxy, `Host` may be any name. */
  readonly #isLocal: boolean;

  constructor({ host, public_url, trusted_proxies }: Pick<Config, "host" | "public_url" | "trusted_proxies">) {
    this.#publicUrl = public_url === undefined ? undefined : new URL(public_url);
    this.#isLocal = isLoopback(host) && trusted_proxies.length === 0;
  }

  check({ host, origin }: IncomingHttpHeaders): void {
    if (this.#isLocal && !this.#isKnown(hostnameOf(`http://${host ?? ""}`)))
      throw forbidden(
        `The Host ${JSON.stringify(host ?? "")} is not a name of this server.`,
        "Use 127.0.0.1 or localhost, or set public_url.",
      );
    if (origin !== undefined && !this.#isOwnOrigin(origin))
      throw forbidden(
        `Pages of ${JSON.stringify(origin.slice(0, 200))} may not use /mcp.`,
        "Connect with a program, or from the origin of public_url.",
      );
  }

  #isOwnOrigin(origin: string): boolean {
    if (origin === this.#publicUrl?.origin) return true;
    const hostname = hostnameOf(origin);
    return this.#isLocal && hostname !== undefined && isLoopback(hostname);
  }

  #isKnown(hostname: string | undefined): boolean {
    return hostname !== undefined && (isLoopback(hostname) || hostname === this.#publicUrl?.hostname);
  }
}

function hostnameOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, "") : undefined;
}

function forbidden(message: string, hint: string): ServiceError {
  return new ServiceError(403, "forbidden", message, { hint });
}
