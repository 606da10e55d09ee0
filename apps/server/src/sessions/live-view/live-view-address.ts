import { ServiceError } from "@shoal/router";
import { LRUCache } from "lru-cache";
import type { Secrets } from "../../storage/secrets.ts";

export type LiveViewMode = "control" | "watch";

export interface LiveViewAccess {
  readonly sessionId: string;
  /** The key that the URL was issued to. */
  readonly keyId: string;
  readonly mode: LiveViewMode;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number;
}

export interface LiveViewAddresses {
  /**
   * None after the session's end. Stays the same for an hour, so that repeated reads return equal values.
   * @param reader.keyId - the URL becomes invalid with this key.
   */
  of(
    row: {
      readonly id: string;
      readonly ended_at: string | null;
      readonly options?: { readonly kiosk_mode?: boolean };
    },
    reader: { readonly baseUrl: string; readonly keyId: string },
  ): { browser_live_view_url?: string; browser_live_view_read_only_url?: string };
  /** @throws {ServiceError} 401 for an invalid or expired token. */
  open(token: string): LiveViewAccess;
}

const use = "live view";
const hourMs = 60 * 60 * 1000;
const letters = { control: "c", watch: "w" } as const;
/** `{session}.{key}.{mode}{expiry, seconds in base 36}.{signature}` */
const pattern = /^((\w{1,64})\.(\w{1,64})\.([cw])([0-9a-z]{1,9}))\.([\w-]{43})$/;

/** @param hours - minimum validity of a URL. */
export function createLiveViewAddresses(
  secrets: Pick<Secrets, "sign" | "hasSigned">,
  hours: number,
): LiveViewAddresses {
  function tokenOf({ expiresAtMs, keyId, mode, sessionId }: LiveViewAccess): string {
    const text = `${sessionId}.${keyId}.${letters[mode]}${(expiresAtMs / 1000).toString(36)}`;
    return `${text}.${secrets.sign(use, text)}`;
  }
  /** Lists contain hundreds of URLs. */
  const made = new LRUCache<string, { readonly expiresAtMs: number } & Readonly<Record<LiveViewMode, string>>>({
    max: 10_000,
  });
  function tokensOf(sessionId: string, keyId: string): Readonly<Record<LiveViewMode, string>> {
    const expiresAtMs = Math.ceil(Date.now() / hourMs + hours) * hourMs;
    const cacheKey = `${sessionId} ${keyId}`;
    const known = made.get(cacheKey);
    if (known?.expiresAtMs === expiresAtMs) return known;
    const what = { sessionId, keyId, expiresAtMs };
    const tokens = {
      expiresAtMs,
      control: tokenOf({ ...what, mode: "control" }),
      watch: tokenOf({ ...what, mode: "watch" }),
    };
    made.set(cacheKey, tokens);
    return tokens;
  }

  return {
    of({ id, ended_at, options }, { baseUrl, keyId }) {
      if (ended_at !== null) return {};
      const { control, watch } = tokensOf(id, keyId);
      const question = options?.kiosk_mode === true ? "?kiosk=true" : "";
      return {
        browser_live_view_url: `${baseUrl}/browser/live/${control}${question}`,
        browser_live_view_read_only_url: `${baseUrl}/browser/live/${watch}${question}`,
      };
    },
    open(token) {
      const [, text = "", sessionId = "", keyId = "", letter, expiry = "", signature = ""] = pattern.exec(token) ?? [];
      if (!secrets.hasSigned(use, text, signature)) {
        throw new ServiceError(401, "unauthorized", "This live view URL is invalid.", {
          hint: "Use browser_live_view_url as returned by browsers.create or browsers.get.",
        });
      }
      const expiresAtMs = Number.parseInt(expiry, 36) * 1000;
      if (expiresAtMs <= Date.now())
        throw new ServiceError(401, "unauthorized", "This live view URL has expired.", {
          hint: "Get a new one with browsers.get.",
        });
      return { sessionId, keyId, mode: letter === "c" ? "control" : "watch", expiresAtMs };
    },
  };
}
