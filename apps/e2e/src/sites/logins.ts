import { languageAccount, languages } from "./pages/languages.ts";

/** A step of a login that a stored name and password do not answer. */
export type Need =
  | "totp"
  | "sms_code"
  | "email_code"
  /** One of several second factors. */
  | "choice"
  /** A number to pick in an app: `sites.push.approve(number)`. */
  | "push"
  /** A link by e-mail: `site.lastLink()`. */
  | "link"
  /** A security question: `values.security_answer`. */
  | "question"
  /** A question after the login that can be answered with no or skipped. */
  | "skip"
  /** A new password, twice. */
  | "new_password"
  /** Pictures to click in a frame: `sites.captcha.solution()`. */
  | "captcha"
  /** Another way than the passkey that the site prefers. */
  | "other_way";

/** What a login on a site takes, for tests that sign in. */
export interface SiteLogin {
  /** Host name without `.test`: the argument of `sites.site()` and `sites.url()`. */
  readonly site: string;
  /** Host that keeps the accounts, if it is another one. */
  readonly accountsOf?: string;
  /** Path of the page on which a login starts. */
  readonly path: string;
  /** Values of a credential. The names say what a field means. */
  readonly values: Readonly<Record<string, string>>;
  readonly totpSecret?: string;
  /** Provider whose button to press. The values are those of its account. */
  readonly ssoProvider?: string;
  /** True if the first visit is already signed in. */
  readonly alreadySignedIn?: true;
  /** Other hosts that ask for values. */
  readonly allowedDomains?: readonly string[];
  /** In the order of the steps. */
  readonly needs: readonly Need[];
  /** Text of the signed-in page. */
  readonly signedIn: string;
  /** Text after a wrong password, or after a wrong code where no password exists. */
  readonly refused: string;
  /** Missing unless the site has no sessions to end. */
  readonly keepsSessions?: false;
}

/** One login for each site. */
export const logins: readonly SiteLogin[] = [
  {
    site: "one-page",
    path: "/login",
    values: { email: "ada@example.com", password: "paper-Boat-1815" },
    needs: [],
    signedIn: "Welcome back, Ada Lovelace",
    refused: "The email address or password is incorrect.",
  },
  {
    site: "identifier-first",
    path: "/",
    values: { email: "ada@example.com", password: "harbour-Lamp-42" },
    needs: [],
    signedIn: "Signed in as ada@example.com",
    refused: "Wrong password. Try again",
  },
  {
    site: "toast",
    path: "/",
    values: { username: "ada", password: "Toast&Marmalade9" },
    needs: [],
    signedIn: "Your tools",
    refused: "Invalid credentials, please try again",
  },
  {
    site: "totp",
    path: "/login",
    values: { username: "ada", password: "vault-Door-77" },
    totpSecret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    needs: ["totp"],
    signedIn: "Your vaults",
    refused: "Incorrect username or password.",
  },
  {
    site: "six-boxes",
    path: "/",
    values: { email: "ada@example.com", password: "loom-Card-1804" },
    needs: ["email_code"],
    signedIn: "Ada’s workspace",
    refused: "that email and password don’t match",
  },
  {
    site: "sms-code",
    path: "/",
    values: { username: "alovelace", password: "coastal-Sum-12" },
    needs: ["sms_code"],
    signedIn: "Accounts of Ada Lovelace",
    refused: "The User ID or Password you entered is not valid.",
  },
  {
    site: "email-code",
    path: "/",
    values: { email: "ada@example.com" },
    needs: ["email_code"],
    signedIn: "Ada’s Notebook",
    refused: "Your login code was incorrect.",
  },
  {
    site: "choice",
    path: "/",
    values: { username: "ada.lovelace", password: "meridian-Pulse-60" },
    needs: ["choice", "sms_code"],
    signedIn: "My appointments",
    refused: "Unable to sign in",
  },
  {
    site: "push",
    path: "/",
    values: { email: "ada@northwind.example", password: "Northwind#3311" },
    needs: ["push"],
    signedIn: "Good morning, Ada",
    refused: "Your account or password is incorrect.",
  },
  {
    site: "magic-link",
    path: "/",
    values: { email: "ada@example.com" },
    needs: ["link"],
    signedIn: "Stories for you",
    refused: "No account uses this address.",
  },
  {
    site: "lock-out",
    path: "/",
    values: { username: "10842", password: "payroll-Day-28" },
    needs: [],
    signedIn: "Pay statements",
    refused: "Invalid employee number or password.",
  },
  {
    site: "remember-me",
    path: "/wp-login.php",
    values: { username: "ada", password: "gazette*Ink*17" },
    needs: [],
    signedIn: "Howdy, Ada",
    refused: "The password you entered for the username ada is incorrect.",
  },
  {
    site: "forced-change",
    path: "/",
    values: { username: "alovelace", password: "Atlas-Old-2023" },
    needs: ["new_password"],
    signedIn: "Workspace of Ada Lovelace",
    refused: "Invalid user name or password",
  },
  {
    site: "organisation",
    accountsOf: "acme-corp.organisation.test",
    path: "/",
    values: { organization: "acme-corp", email: "ada@acme.example", password: "standUp@9am" },
    needs: [],
    signedIn: "Ada, Acme Corp",
    refused: "you entered an incorrect email address or password",
  },
  {
    site: "basic",
    path: "/",
    values: { username: "ada", password: "router-Admin-5" },
    needs: [],
    signedIn: "Status of the router",
    refused: "401 Authorization Required",
    keepsSessions: false,
  },
  {
    site: "slow-app",
    path: "/",
    values: { email: "ada@example.com", password: "orbit-Moon-1969" },
    needs: [],
    signedIn: "Satellites of Ada",
    refused: "Wrong e-mail or password",
  },
  {
    site: "shadow",
    path: "/",
    values: { username: "member-12", password: "flare Violet 8" },
    needs: [],
    signedIn: "The lounge",
    refused: "Member ID or passphrase not recognised.",
  },
  {
    site: "modal",
    path: "/",
    values: { username: "ada", password: "yarn-Needle-4mm" },
    needs: [],
    signedIn: "Hello, Ada!",
    refused: "That password isn’t right.",
  },
  {
    site: "frame",
    path: "/",
    values: { email: "ada@example.com", password: "frame-Glass-3x4" },
    allowedDomains: ["auth-widget.test"],
    needs: [],
    signedIn: "Certificates of Ada Lovelace",
    refused: "Check the account information you entered",
  },
  {
    site: "banner",
    path: "/",
    values: { email: "ada@example.com", password: "linen-Sheet-200" },
    needs: [],
    signedIn: "Contact: Ada, ada@example.com",
    refused: "The account sign-in was incorrect",
  },
  {
    site: "passkey",
    path: "/",
    values: { email: "ada@example.com", password: "keyring-Brass-9" },
    needs: ["other_way"],
    signedIn: "Ada’s keys",
    refused: "Wrong password.",
  },
  {
    site: "captcha-wall",
    path: "/",
    values: { email: "ada@example.com", password: "tower-Row-F12" },
    needs: ["captcha"],
    signedIn: "Your tickets",
    refused: "Wrong e-mail or password.",
  },
  {
    site: "captcha-badge",
    path: "/",
    values: { email: "ada@example.com", password: "parcel-Tape-50m" },
    needs: [],
    signedIn: "Ada’s parcels",
    refused: "These credentials do not match our records.",
  },
  {
    site: "with-provider",
    path: "/",
    values: { email: "ada@gmail.test", password: "lantern-Wick-88" },
    ssoProvider: "google",
    allowedDomains: ["accounts.google.com"],
    needs: [],
    signedIn: "Drawings of Ada Lovelace",
    refused: "Wrong password. Try again",
  },
  {
    site: "popup-provider",
    path: "/",
    values: { email: "ada@gmail.test", password: "lantern-Wick-88" },
    ssoProvider: "google",
    allowedDomains: ["accounts.google.com"],
    needs: [],
    signedIn: "Your games, Ada Lovelace",
    refused: "Wrong password. Try again",
  },
  {
    site: "other-domain",
    path: "/",
    values: { email: "ada@example.com", password: "market-Stall-31" },
    allowedDomains: ["other-domain-id.test"],
    needs: [],
    signedIn: "Your orders",
    refused: "Your password is incorrect",
  },
  {
    site: "open-redirect",
    path: "/login",
    values: { username: "ada", password: "forum-Tulip-1637" },
    needs: [],
    signedIn: "Unread posts",
    refused: "You have specified an incorrect password.",
  },
  {
    site: "traps",
    path: "/",
    values: { username: "ada", password: "honey-Comb-6sides" },
    needs: [],
    signedIn: "Settings of Ada",
    refused: "Wrong name or password.",
  },
  {
    site: "register-next",
    path: "/",
    values: { email: "ada@example.com", password: "tent-Peg-1kg" },
    needs: [],
    signedIn: "not you?",
    refused: "The username or password you entered is incorrect.",
  },
  {
    site: "bare",
    path: "/",
    values: { username: "root", password: "switch-Port-24" },
    needs: [],
    signedIn: "Port 1",
    refused: "Error 2",
  },
  {
    site: "already",
    path: "/",
    values: { username: "ada", password: "intra-Kerberos-5" },
    alreadySignedIn: true,
    needs: [],
    signedIn: "News for Ada Lovelace",
    refused: "The user name or password is incorrect.",
  },
  {
    site: "expiring",
    path: "/",
    values: { username: "4711882", password: "broker-Bond-3pc" },
    needs: [],
    signedIn: "Portfolio of Ada Lovelace",
    refused: "We could not verify these details.",
  },
  {
    site: "phone",
    path: "/",
    values: { phone: "+44 7700 900123" },
    needs: ["sms_code"],
    signedIn: "Where to, Ada?",
    refused: "That code is not right.",
  },
  {
    site: "tabs",
    path: "/",
    values: { username: "ada1815", password: "oolong-Leaf-7g" },
    needs: ["other_way"],
    signedIn: "Your teas",
    refused: "Account or password is incorrect",
  },
  {
    site: "question",
    path: "/",
    values: { username: "alovelace", password: "savings-Coin-25c", security_answer: "Babbage" },
    needs: ["question"],
    signedIn: "Accounts overview",
    refused: "The information you entered doesn’t match",
  },
  {
    site: "interstitial",
    path: "/",
    values: { email: "ada@example.com", password: "contoso-Desk-9to5" },
    needs: ["skip", "skip"],
    signedIn: "Good afternoon, Ada",
    refused: "That email or password is incorrect.",
  },
  ...languages.map(({ lang, hello, wrong }): SiteLogin => {
    const { identifier, password } = languageAccount(lang);
    return {
      site: `lang-${lang}`,
      path: "/",
      values: { email: identifier, password },
      needs: [],
      signedIn: hello,
      refused: wrong,
    };
  }),
];

/** Pages on which no login is possible. */
export const deadEnds: readonly {
  readonly site: string;
  readonly path: string;
  /** The `error_code` that a flow should end with. */
  readonly error: "bot_detected" | "login_form_not_found" | "domain_not_allowed";
  /** Text of the page. */
  readonly text: string;
  readonly status: number;
}[] = [
  { site: "blocked", path: "/", error: "bot_detected", text: "Sorry, you have been blocked", status: 403 },
  { site: "blocked", path: "/busy", error: "bot_detected", text: "Too Many Requests", status: 429 },
  { site: "blocked", path: "/challenge", error: "bot_detected", text: "Verifying you are human", status: 503 },
  {
    site: "open-redirect",
    path: "/out?to=https://open-redirect-login.test/login",
    error: "domain_not_allowed",
    text: "Your session has expired",
    status: 200,
  },
  { site: "no-login", path: "/", error: "login_form_not_found", text: "Fresh bread since 1843", status: 200 },
];
