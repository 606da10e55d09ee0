import { connectionOperation } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import { recentlyUsed } from "../../storage/recently-used.ts";
import type { KeyScopes } from "../../http/auth/key-scopes.ts";
import type { IssuingKeys } from "../../http/auth/issuing-keys.ts";
import type { SignInBrowsers, ViewUntil } from "./sign-in-browsers.ts";
import type { Secrets } from "../../storage/secrets.ts";

export type LiveViewMode = "control" | "watch";

/** A row with the rights of a link. */
export interface LinkSubject {
  readonly kind: "handoff" | "link";
  readonly id: string;
}

export interface LiveViewAccess {
  readonly sessionId: string;
  /** The key that the URL was issued to. */
  readonly keyId: string;
  readonly mode: LiveViewMode;
  /** For the person who signs in; works only while {@link LoginWaits} says so. */
  readonly isForLogin: boolean;
  /** A link with a row, which {@link PersonLinks} finds. Then `keyId` is empty and `mode` an upper limit. */
  readonly link?: LinkSubject;
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
  /** For a handoff or a link with a row. The token is derived, so that the database does not contain it. */
  ofLink(link: LinkSubject, row: { readonly session_id: string; readonly expires_at: string }, baseUrl: string): string;
  /** @throws {ServiceError} 401 for an invalid or expired token. */
  open(token: string): LiveViewAccess;
}

/** Logins that wait for a person who acts in their browser. */
export interface LoginWaits {
  isWaiting(sessionId: string): Promise<boolean>;
  /** Calls `listener` when an answer of {@link isWaiting} may have changed. @returns a function that stops it. */
  onChange(listener: () => void): () => void;
}

/** The holder of a link with a row. */
export interface Person {
  readonly linkId: string;
  readonly label: string | null;
  /** The link ends with this key. */
  readonly keyId: string;
  readonly mode: LiveViewMode;
}

export interface PersonLinks {
  /** @returns `undefined` for other links. @throws {ServiceError} 401 for a revoked, expired or ended one. */
  find(access: Pick<LiveViewAccess, "link" | "sessionId">): Promise<Person | undefined>;
  /** Calls `listener` when an answer of {@link find} may have changed. @returns a function that stops it. */
  onChange(linkId: string, listener: () => void): () => void;
}

export interface LiveViewGate {
  readonly addresses: Pick<LiveViewAddresses, "open">;
  readonly issuingKeys: Pick<IssuingKeys, "require">;
  readonly keyScopes: Pick<KeyScopes, "requireSession">;
  readonly logins: Pick<LoginWaits, "isWaiting">;
  readonly persons: Pick<PersonLinks, "find">;
  readonly signInBrowsers: Pick<SignInBrowsers, "admitView">;
}

export interface AdmittedView extends LiveViewAccess {
  readonly person: Person | undefined;
  readonly until: ViewUntil;
}

/** @throws {ServiceError} 401 for an invalid, expired or revoked link. */
export async function admitLiveView(gate: LiveViewGate, token: string): Promise<AdmittedView> {
  return admitAccess(gate, gate.addresses.open(token));
}

/** @throws {ServiceError} 401 for an expired or revoked link. */
export async function admitAccess(
  { issuingKeys, keyScopes, logins, persons, signInBrowsers }: Omit<LiveViewGate, "addresses">,
  access: LiveViewAccess,
): Promise<AdmittedView> {
  const person = await persons.find(access);
  const key = await issuingKeys.require(person?.keyId ?? access.keyId);
  await requireWaiting(logins, access);
  const mode = person?.mode ?? access.mode;
  // The link of a login is enough for its sign-in page.
  if (!access.isForLogin)
    await keyScopes.requireSession(key, connectionOperation(`browsers.liveView.${mode}`), access.sessionId);
  const until = await signInBrowsers.admitView(access, key);
  return { ...access, person, until, keyId: person?.keyId ?? access.keyId, mode };
}

/** @throws {ServiceError} 401 if the address is for a login that does not wait. */
export async function requireWaiting(
  logins: Pick<LoginWaits, "isWaiting">,
  { isForLogin, sessionId }: Pick<LiveViewAccess, "isForLogin" | "sessionId">,
): Promise<void> {
  if (!isForLogin || (await logins.isWaiting(sessionId))) return;
  // For a person, so without a hint.
  throw new ServiceError(
    401,
    "unauthorized",
    "The sign-in does not need this browser any more. Continue on the sign-in page.",
  );
}

const use = "live view";
const hourMs = 60 * 60 * 1000;
const letters = { control: "c", handoff: "h", link: "k", login: "l", watch: "w" } as const;
/** `{session}.{key or link}.{kind}{expiry, seconds in base 36}.{signature}` */
const pattern = /^((\w{1,64})\.(\w{1,64})\.([chklw])([0-9a-z]{1,9}))\.([\w-]{43})$/;

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
  const made = recentlyUsed<{ readonly expiresAtMs: number } & Readonly<Record<LiveViewMode, string>>>(10_000);
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
    ofLink({ id, kind }, { expires_at, session_id: sessionId }, baseUrl) {
      const expiresAtMs = Math.ceil(Date.parse(expires_at) / 1000) * 1000;
      return `${baseUrl}/browser/live/${tokenOf({ sessionId, keyId: id, expiresAtMs }, kind)}`;
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
      const kind = letter === letters.handoff ? "handoff" : letter === letters.link ? "link" : undefined;
      if (kind !== undefined)
        return { sessionId, keyId: "", mode, isForLogin: false, link: { kind, id: keyId }, expiresAtMs };
      return { sessionId, keyId, mode, isForLogin: letter === letters.login, expiresAtMs };
    },
  };
}
