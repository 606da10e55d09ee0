import { ServiceError } from "@shoal/router";
import { LRUCache } from "lru-cache";
import type { Secrets } from "../../storage/secrets.ts";

export type LiveViewMode = "control" | "watch";

export interface LiveViewAccess {
  readonly sessionId: string;
  /** The key that the URL was issued to. */
  readonly keyId: string;
  readonly mode: LiveViewMode;
  /** For the person who signs in; works only while {@link LoginWaits} says so. */
  readonly isForLogin: boolean;
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
  /** For a sign-in page. @param untilMs - expiry, epoch milliseconds. */
  ofLogin(sessionId: string, untilMs: number, reader: { readonly baseUrl: string; readonly keyId: string }): string;
  /** @throws {ServiceError} 401 for an invalid or expired token. */
  open(token: string): LiveViewAccess;
}

/** Logins that wait for a person who acts in their browser. */
export interface LoginWaits {
  isWaiting(sessionId: string): Promise<boolean>;
  /** Calls `listener` when an answer of {@link isWaiting} may have changed. @returns a function that stops it. */
  onChange(listener: () => void): () => void;
}

/** @throws {ServiceError} 401 if the address is for a login that does not wait. */
export async function requireWaiting(
  logins: Pick<LoginWaits, "isWaiting">,
  { isForLogin, sessionId }: Pick<LiveViewAccess, "isForLogin" | "sessionId">,
): Promise<void> {
  if (!isForLogin || (await logins.isWaiting(sessionId))) return;
  throw new ServiceError(401, "unauthorized", "The sign-in does not need this browser any more.", {
    hint: "Continue on the sign-in page.",
  });
}

const use = "live view";
const hourMs = 60 * 60 * 1000;
const letters = { control: "c", login: "l", watch: "w" } as const;
/** `{session}.{key}.{mode}{expiry, seconds in base 36}.{signature}` */
const pattern = /^((\w{1,64})\.(\w{1,64})\.([clw])([0-9a-z]{1,9}))\.([\w-]{43})$/;

/** @param hours - minimum validity of a URL. */
export function createLiveViewAddresses(
  secrets: Pick<Secrets, "sign" | "hasSigned">,
  hours: number,
): LiveViewAddresses {
  function tokenOf(
    { expiresAtMs, keyId, sessionId }: Pick<LiveViewAccess, "expiresAtMs" | "keyId" | "sessionId">,
    kind: keyof typeof letters,
  ): string {
    const text = `${sessionId}.${keyId}.${letters[kind]}${(expiresAtMs / 1000).toString(36)}`;
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
      control: tokenOf(what, "control"),
      watch: tokenOf(what, "watch"),
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
    ofLogin(sessionId, untilMs, { baseUrl, keyId }) {
      const expiresAtMs = Math.ceil(untilMs / 1000) * 1000;
      return `${baseUrl}/browser/live/${tokenOf({ sessionId, keyId, expiresAtMs }, "login")}?kiosk=true`;
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
      const mode = letter === letters.watch ? "watch" : "control";
      return { sessionId, keyId, mode, isForLogin: letter === letters.login, expiresAtMs };
    },
  };
}
