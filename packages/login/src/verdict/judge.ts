import type { SettledPage } from "@shoal/instance";
import { isPassword, type FieldKind } from "../reading/field-kinds.ts";
import type { ReadForm } from "../reading/forms.ts";
import type { PageReading } from "../reading/read-page.ts";
import { refusedWords } from "../words/message-words.ts";

/** What the page answered to the values that were sent. */
export interface Sent {
  readonly signature: string;
  readonly kinds: readonly FieldKind[];
  /** Message on the page before. */
  readonly message: string | undefined;
  /** Texts on the page before. */
  readonly texts: readonly string[];
}

export type Verdict =
  | { readonly kind: "signed_in"; readonly isSure: boolean }
  | { readonly kind: "refused" | "locked"; readonly message: string }
  | { readonly kind: "blocked" | "captcha" | "passkey" | "waiting" | "next" | "unreachable" | "challenge" | "nothing" };

const refusalStatuses: ReadonlySet<number> = new Set([401, 403, 422]);

/** Decides what a page means for a login; the first sign that holds counts. */
export function judge(reading: PageReading, settled: SettledPage, sent: Sent | undefined): Verdict {
  if (settled.challenge !== undefined) return { kind: "challenge" };
  if (settled.url.startsWith("chrome-error:")) return { kind: "unreachable" };
  const { captcha, consent, form, isBlocked, isBusy, isLocked, message } = reading;
  if (isLocked && (form === undefined || sent !== undefined) && reading.signOut === undefined)
    return { kind: "locked", message: message ?? "The account is locked." };
  if (isBlocked && reading.signOut === undefined) return { kind: "blocked" };
  const refusal = sent && refusalIn(reading, settled, sent);
  if (refusal !== undefined) return { kind: "refused", message: refusal };
  if (isBusy && form === undefined && reading.signOut === undefined) return { kind: "waiting" };
  if (reading.signOut !== undefined && form?.purpose === "login" && sent !== undefined)
    return { kind: "signed_in", isSure: true };
  if (captcha === "asks") return { kind: "captcha" };
  if (form !== undefined || reading.factors.length > 0 || reading.accounts.length > 0 || consent !== undefined)
    return { kind: "next" };
  if (reading.signOut !== undefined) return { kind: "signed_in", isSure: true };
  const asksPasskey = settled.passkey_calls.some(({ mediation }) => mediation !== "conditional");
  if (asksPasskey || (reading.saysPasskey && reading.switches.length > 0)) return { kind: "passkey" };
  if (reading.outside !== undefined || (sent !== undefined && reading.skip !== undefined)) return { kind: "next" };
  // Cookies also change while a page waits for the popup of a provider.
  const offersLogin = reading.providers.length > 0;
  if (sent === undefined || offersLogin || !hasLeft(settled, sent)) return { kind: "nothing" };
  return { kind: "signed_in", isSure: false };
}

/** The site's words, if the page requires the same values again. */
function refusalIn(reading: PageReading, settled: SettledPage, sent: Sent): string | undefined {
  const dialog = settled.dialogs.map(({ message }) => message).find((message) => refusedWords.says(message));
  if (dialog !== undefined) return dialog;
  const { form, message } = reading;
  const hasStatus = settled.requests.some(({ method, status }) => method !== "GET" && refusalStatuses.has(status));
  if (form === undefined) {
    if (message === undefined || reading.signOut !== undefined || reading.outside !== undefined) return undefined;
    // The page may show its first state again, in which the form is hidden.
    const isNew = settled.navigations.length > 0 && sent.kinds.some(isPassword) && !sent.texts.includes(message);
    return hasStatus || (isNew && refusedWords.says(message)) ? message : undefined;
  }
  if (!asksAgain(form, sent.kinds)) return undefined;
  const isSamePage = reading.signature === sent.signature;
  const isInvalid = form.fields.some(({ nodes }) => nodes.some(({ states }) => states.includes("invalid")));
  const isNewMessage = message !== undefined && (message !== sent.message || isSamePage);
  if (isNewMessage && (refusedWords.says(message) || isInvalid || hasStatus || isSamePage)) return message;
  const answered = settled.navigations.length > 0 || settled.requests.some(({ method }) => method !== "GET");
  if (isSamePage && answered && isEmptied(form)) {
    // In any language: the text that was not there before.
    const added = reading.texts.filter((text) => !sent.texts.includes(text));
    return added.slice(0, 2).join(" ") || (message ?? "The site did not accept the values.");
  }
  if (hasStatus || isInvalid) return message ?? "The site did not accept the values.";
  return undefined;
}

/** The site removed the secret, or the identifier of a form without one. */
function isEmptied({ fields }: ReadForm): boolean {
  const secrets = fields.filter(({ kind }) => isPassword(kind) || kind === "otp");
  return secrets.length > 0 && secrets.every(({ nodes }) => nodes.every(({ states }) => !states.includes("filled")));
}

function asksAgain({ fields }: ReadForm, kinds: readonly FieldKind[]): boolean {
  if (kinds.some(isPassword)) return fields.some(({ kind }) => isPassword(kind) && kinds.includes(kind));
  return fields.some(({ kind }) => kinds.includes(kind));
}

/** The answer changed the session's cookies, or led away from the page. */
function hasLeft({ changed_cookies, navigations, url }: SettledPage, { signature }: Sent): boolean {
  const place = signature.split("|")[0] ?? "";
  return changed_cookies.some(({ http_only }) => http_only) || (navigations.length > 0 && !url.startsWith(place));
}
