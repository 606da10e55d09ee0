import type { OutlineNode, PageOutline, SettledPage } from "@shoal/instance";
import { isAuthority } from "../driver/hosts.ts";
import { pageOf, type LoginPlan } from "../plan/plan.ts";
import type { PageReading } from "../reading/read-page.ts";
import type { PageSight } from "../reading/read-sight.ts";

/** Parts of a plan that a check compares with the page. */
export type CheckedPlan = Pick<LoginPlan, "end_url" | "sign_out" | "start_url" | "steps">;

/** Why a check has no result; codes of `ManagedAuthError`. */
export type UnknownCode =
  "bot_detected" | "captcha_blocked" | "domain_not_allowed" | "navigation_confused" | "network_error" | "website_error";

/** Whether a page belongs to a signed-in user, with the reason for people. */
export type CheckVerdict =
  | { readonly status: "signed_in" | "signed_out"; readonly reason: string }
  | { readonly status: "unknown"; readonly code: UnknownCode; readonly reason: string };

interface Seen {
  readonly outline: PageOutline;
  readonly plan: CheckedPlan;
  readonly reading: PageReading;
  readonly settled: SettledPage;
}

type Rule = (seen: Seen) => CheckVerdict | undefined;

/** The first that applies decides. */
const rules: readonly Rule[] = [
  unreachable,
  challenged,
  blocked,
  broken,
  refused,
  atProvider,
  asksToSignIn,
  captcha,
  offersSignOut,
  atLoginAddress,
  offersLogin,
  atRememberedPage,
];

/** Decides from the page at a plan's `end_url` whether the browser is signed in. */
export function judgeCheck(sight: PageSight, settled: SettledPage, plan: CheckedPlan): CheckVerdict {
  const seen = { ...sight, plan, settled };
  for (const rule of rules) {
    const verdict = rule(seen);
    if (verdict !== undefined) return verdict;
  }
  return unknown("navigation_confused", "The page shows neither a login nor a signed-in user.");
}

function signedIn(reason: string): CheckVerdict {
  return { status: "signed_in", reason };
}

function signedOut(reason: string): CheckVerdict {
  return { status: "signed_out", reason };
}

export function unknown(code: UnknownCode, reason: string): CheckVerdict {
  return { status: "unknown", code, reason };
}

function unreachable({ settled }: Seen): CheckVerdict | undefined {
  const isShown = settled.url !== "" && !settled.url.startsWith("chrome-error:");
  return isShown ? undefined : unknown("network_error", "The site cannot be reached.");
}

function challenged({ settled }: Seen): CheckVerdict | undefined {
  return settled.challenge && signedOut("The site requires a user name and a password.");
}

function blocked({ reading, settled }: Seen): CheckVerdict | undefined {
  const isRefused = reading.isBlocked || settled.status === 429;
  return isRefused && !isShown(reading.signOut) ? unknown("bot_detected", "The site blocks this browser.") : undefined;
}

function broken({ settled: { status } }: Seen): CheckVerdict | undefined {
  return status !== undefined && status >= 500
    ? unknown("website_error", `The site answered ${String(status)}.`)
    : undefined;
}

function refused({ reading, settled: { status } }: Seen): CheckVerdict | undefined {
  return (status === 401 || status === 403) && !isShown(reading.signOut)
    ? signedOut(`The site answered ${String(status)}.`)
    : undefined;
}

function atProvider({ plan, settled }: Seen): CheckVerdict | undefined {
  return isAuthority(settled.host) && settled.host !== hostOf(plan.end_url ?? plan.start_url)
    ? signedOut(`The site leads to ${settled.host} to sign in.`)
    : undefined;
}

function asksToSignIn({ reading: { accounts, form, signOut } }: Seen): CheckVerdict | undefined {
  if (form === undefined)
    return accounts.length > 0 && !isShown(signOut)
      ? signedOut("The page requires the choice of an account.")
      : undefined;
  const isInFront = form.block?.role === "dialog" || form.block?.role === "alertdialog";
  if (!isShown(signOut) || isInFront) return signedOut("The page shows a login form.");
  // An account page may change passwords; a login form next to it contradicts the control.
  return form.purpose === "login"
    ? unknown("navigation_confused", "The page shows a login form and a control that signs out.")
    : undefined;
}

function captcha({ reading }: Seen): CheckVerdict | undefined {
  return reading.captcha === "asks" && !isShown(reading.signOut)
    ? unknown("captcha_blocked", "The site shows a captcha.")
    : undefined;
}

function offersSignOut({ reading: { signOut } }: Seen): CheckVerdict | undefined {
  return signOut && signedIn("The page has a control that signs out.");
}

/** Addresses of pages that sign in. */
const loginPath =
  /(?:^|[/_.-])(?:log-?in|log-?on|sign-?in|signin|authenticate|session\/new|sso|anmelden|connexion|acceso|entrar)(?:$|[/_.-])/i;

function atLoginAddress({ outline, plan, settled }: Seen): CheckVerdict | undefined {
  const page = pageOf(outline);
  if (page === pageAt(plan.end_url) || !URL.canParse(settled.url)) return undefined;
  const isKnown = plan.steps.some((step) => step.page === page);
  return isKnown || loginPath.test(new URL(settled.url).pathname)
    ? signedOut("The site leads to its login page.")
    : undefined;
}

/** Public pages of a site offer a login instead of the remembered control. */
function offersLogin({ plan, reading: { isBusy, loginLink } }: Seen): CheckVerdict | undefined {
  if (loginLink === undefined) return undefined;
  return plan.sign_out === undefined || isBusy
    ? unknown("navigation_confused", "The page has a link to the login, and no control that signs out.")
    : signedOut("The page has a link to the login instead of the control that signs out.");
}

function atRememberedPage({ outline, plan, reading, settled }: Seen): CheckVerdict | undefined {
  if (reading.isBusy || outline.nodes.length === 0 || (settled.status ?? 200) >= 400) return undefined;
  // A page may report the end of its session only to its scripts.
  const isRefused = settled.requests.some(({ host, status }) => host === settled.host && status === 401);
  return !isRefused && pageOf(outline) === pageAt(plan.end_url)
    ? signedIn("The site shows the page of the last login.")
    : undefined;
}

function isShown(node: OutlineNode | undefined): boolean {
  return node !== undefined && node.hidden === undefined;
}

function pageAt(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : undefined;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}
