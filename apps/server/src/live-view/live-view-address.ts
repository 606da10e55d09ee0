import { ServiceError } from "@shoal/router";
import { LRUCache } from "lru-cache";
import type { SessionRow } from "../browsers/session-store.ts";
import type { Secrets } from "../secrets.ts";

/** What a viewer may do: `control` the session, or only `watch` it. */
export type LiveViewMode = "control" | "watch";

/** What an address of a live view opens. */
export interface LiveViewAccess {
  readonly sessionId: string;
  /** The API key that the address was handed out to. */
  readonly keyId: string;
  readonly mode: LiveViewMode;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number;
}

/** Makes and reads the addresses of live views. */
export interface LiveViewAddresses {
  /**
   * The addresses of a running session, as its fields; none of one that has ended. They are the same for an hour, so that whoever asks twice gets what it knows.
   *
   * @param reader.baseUrl - where the client reaches the service.
   * @param reader.keyId - the API key that asks. The address ends with it.
   */
  of(
    row: Pick<SessionRow, "id" | "ended_at"> & { readonly options?: { readonly kiosk_mode?: boolean } },
    reader: { readonly baseUrl: string; readonly keyId: string },
  ): { browser_live_view_url?: string; browser_live_view_read_only_url?: string };
  /** @throws {ServiceError} 401 for a token that is none, or holds no more. */
  open(token: string): LiveViewAccess;
}

const use = "live view";
const hourMs = 60 * 60 * 1000;
const letters = { control: "c", watch: "w" } as const;
/** `{session}.{key}.{mode}{expiry, seconds in base 36}.{signature}` */
const pattern = /^((\w{1,64})\.(\w{1,64})\.([cw])([0-9a-z]{1,9}))\.([\w-]{43})$/;

/** @param hours - how long an address holds, at least. */
export function createLiveViewAddresses(secrets: Pick<Secrets, "sign" | "hasSigned">, hours: number): LiveViewAddresses {
  function tokenOf({ expiresAtMs, keyId, mode, sessionId }: LiveViewAccess): string {
    const text = `${sessionId}.${keyId}.${letters[mode]}${(expiresAtMs / 1000).toString(36)}`;
    return `${text}.${secrets.sign(use, text)}`;
  }
  /** By session and key: lists show a hundred of them at a time, again and again. */
  const made = new LRUCache<string, { readonly expiresAtMs: number } & Readonly<Record<LiveViewMode, string>>>({ max: 10_000 });
  function tokensOf(sessionId: string, keyId: string): Readonly<Record<LiveViewMode, string>> {
    const expiresAtMs = Math.ceil(Date.now() / hourMs + hours) * hourMs;
    const cacheKey = `${sessionId} ${keyId}`;
    const known = made.get(cacheKey);
    if (known?.expiresAtMs === expiresAtMs) return known;
    const what = { sessionId, keyId, expiresAtMs };
    const tokens = { expiresAtMs, control: tokenOf({ ...what, mode: "control" }), watch: tokenOf({ ...what, mode: "watch" }) };
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
        throw new ServiceError(
          401,
          "unauthorized",
          "This is no address of a live view. Take browser_live_view_url as browsers.create or browsers.get returned it.",
        );
      }
      const expiresAtMs = Number.parseInt(expiry, 36) * 1000;
      if (expiresAtMs <= Date.now())
        throw new ServiceError(
          401,
          "unauthorized",
          "This address of a live view has expired. Ask for the session again with browsers.get: it tells a new one.",
        );
      return { sessionId, keyId, mode: letter === "c" ? "control" : "watch", expiresAtMs };
    },
  };
}
