import type { PageDownload } from "../http/auth/access.ts";
import type { Secrets } from "../storage/secrets.ts";

/** Browsers repeat a download that broke, with the same address. */
const downloadMs = 60 * 60_000;
const pagePrefix = "cp_shoal_";
const downloadPrefix = "cd_shoal_";
const downloadUse = "downloads of the console";

/**
 * A browser sends a cookie to every port of a host, so that any local service which a person visits gets it. Only pages of
 * the service's own origin have the page key of the cookie: it is in their storage, and browsers never send it.
 */
export class PageKeys {
  readonly #secrets: Pick<Secrets, "hasSigned" | "sign">;

  constructor(secrets: Pick<Secrets, "hasSigned" | "sign">) {
    this.#secrets = secrets;
  }

  /** @param token - of the cookie */
  keyOf(token: string): string {
    return pagePrefix + this.#secrets.sign("pages of the console", token);
  }

  opens(token: string, pageKey: unknown): boolean {
    return (
      typeof pageKey === "string" &&
      pageKey.startsWith(pagePrefix) &&
      this.#secrets.hasSigned("pages of the console", token, pageKey.slice(pagePrefix.length))
    );
  }

  /** For the address of one download, where a link cannot send the page key. It is valid for an hour. */
  downloadKeyOf(token: string, path: string, nowMs: number): { readonly key: string; readonly expiresAtMs: number } {
    const expiresAtMs = nowMs + downloadMs;
    const end = expiresAtMs.toString(36);
    const signature = this.#secrets.sign(downloadUse, `${end} ${token} ${path}`);
    return { key: `${downloadPrefix}${end}-${signature}`, expiresAtMs };
  }

  opensDownload(token: string, { downloadKey, path }: PageDownload, nowMs: number): boolean {
    const [, end = "", signature = ""] = /^cd_shoal_([0-9a-z]{1,12})-([\w-]{43})$/.exec(downloadKey) ?? [];
    return (
      Number.parseInt(end, 36) > nowMs && this.#secrets.hasSigned(downloadUse, `${end} ${token} ${path}`, signature)
    );
  }
}
