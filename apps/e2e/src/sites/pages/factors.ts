import { randomBytes, randomInt } from "node:crypto";
import { html, json, redirect, type Reply, script, type SiteRequest } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { type Account, Site } from "../hosting/site.ts";
import { totpCode } from "../hosting/totp.ts";

/** Sites whose second step is a choice or happens outside the page. */
export function factorSites(): Site[] {
  return [choice(), new PushSite(), magicLink()];
}

const ways = [
  { id: "sms", text: "Text message", detail: "Get a code at •••-•••-4477" },
  { id: "voice", text: "Phone call", detail: "We will call •••-•••-4477" },
  { id: "email", text: "Email", detail: "Get a code at a••@example.com" },
  { id: "totp", text: "Authenticator app", detail: "Use a code from your app" },
  { id: "webauthn", text: "Security key", detail: "Insert your key and touch it" },
] as const;

const choicePage = (body: Markup) =>
  markup`<html lang="en"><head><title>Meridian Health - Sign-in</title><style>.o-form { max-width: 400px; margin: auto; }
    .authenticator-row { display: flex; justify-content: space-between; border-top: 1px solid #ddd; padding: 12px 0; } .infobox-error { border: 1px solid #e34843; padding: 8px; }</style></head>
<body><div class="auth-container"><main class="o-form"><div class="org-logo" role="img" aria-label="Meridian Health"></div>${body}</main></div></body></html>`;

/** A password, then a list of second factors with a button each, and a code for the chosen one. */
function choice(): Site {
  const infobox = (problem?: string) =>
    problem === undefined
      ? undefined
      : markup`<div class="infobox infobox-error" role="alert"><span class="icon"></span><p>${problem}</p></div>`;
  const first = (problem?: string) =>
    html(
      choicePage(markup`<h2 class="okta-form-title">Sign In</h2>${infobox(problem)}<form method="post" action="/idp/authn"><label for="input28">Username</label>
<input type="text" name="identifier" id="input28" autocomplete="username"><label for="input36">Password</label><input type="password" name="credentials.passcode" id="input36" autocomplete="current-password">
<input type="checkbox" name="rememberMe" id="input44"><label for="input44">Keep me signed in</label><input class="button button-primary" type="submit" value="Sign in"></form><a href="/help">Unlock account?</a>`),
    );
  const choose = () =>
    html(
      choicePage(markup`<h2>Verify it's you with a security method</h2><p>Select from the following options</p>
${ways.map(({ id, text, detail }) => markup`<div class="authenticator-row"><div><h3>${text}</h3><p>${detail}</p></div><form method="post" action="/idp/challenge"><input type="hidden" name="way" value="${id}"><button aria-label="Select ${text}.">Select</button></form></div>`)}
<a href="/logout">Back to sign in</a>`),
    );
  const enter = (way: string, problem?: string) =>
    html(
      choicePage(markup`<h2>${way === "totp" ? "Verify with your authenticator app" : "Enter the code that we sent you"}</h2>${infobox(problem)}
<form method="post" action="/idp/challenge/answer"><label for="input61">${way === "totp" ? "Enter code" : "Verification code"}</label><input type="text" name="credentials.passcode" id="input61" inputmode="numeric" autocomplete="off"><input class="button" type="submit" value="Verify"></form>
<a href="/idp/choose">Verify with something else</a>`),
    );
  return new Site({
    host: "choice.test",
    accounts: [
      {
        identifier: "ada.lovelace",
        password: "meridian-Pulse-60",
        name: "Ada Lovelace",
        phone: "+1 555 010 4477",
        totpSecret: "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU",
      },
    ],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? first()
          : html(choicePage(markup`<h2>My appointments</h2><p>${account.name}</p><a href="/logout">Sign out</a>`));
      },
      "POST /idp/authn": (request) => {
        const account = site.check(request.field("identifier"), request.field("credentials.passcode"));
        return typeof account === "string"
          ? first("Unable to sign in")
          : redirect("/idp/choose", [site.pend(account, "choose")]);
      },
      "GET /idp/choose": (request) => (site.pending(request) === undefined ? redirect("/") : choose()),
      "POST /idp/challenge": (request) => {
        const account = site.pending(request)?.account;
        const way = request.field("way");
        if (account === undefined) return redirect("/");
        if (way === "webauthn") return choose();
        if (way !== "totp") site.sendCode(account, (way === "email" ? "ada@example.com" : account.phone) ?? "");
        return redirect("/idp/challenge", [site.pend(account, way)]);
      },
      "GET /idp/challenge": (request) => {
        const pending = site.pending(request);
        return pending === undefined ? redirect("/") : enter(pending.step);
      },
      "POST /idp/challenge/answer": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/");
        const { account, step } = pending;
        const code = request.field("credentials.passcode");
        const isRight = step === "totp" ? code === totpCode(account.totpSecret ?? "") : site.takeCode(account, code);
        return isRight ? redirect("/", [site.signIn(account)]) : enter(step, "Your code doesn't match our records.");
      },
    }),
  });
}

const pushApp = `
const look = async () => {
  const { state } = await (await fetch("/common/SAS/EndAuth", { method: "POST" })).json();
  if (state === "approved") location.assign("/");
  else if (state === "denied") document.getElementById("text").textContent = "You denied the request in your app. Try again.";
  else setTimeout(look, 700);
};
look();`;

/** A password, then a number that the owner picks in an app on the phone: `approve(number)`. */
export class PushSite extends Site {
  #waiting: { readonly number: string; state: "waiting" | "approved" | "denied" } | undefined;

  constructor() {
    super({
      host: "push.test",
      accounts: [{ identifier: "ada@northwind.example", password: "Northwind#3311", name: "Ada Lovelace" }],
      cookie: "ESTSAUTH",
      routes: (site) => ({
        "GET /": (request) => {
          const account = site.accountOf(request);
          return account === undefined
            ? pushLogin()
            : html(
                pushPage(
                  markup`<div role="banner"><button title="Account manager for ${account.name}">AL</button> <a href="/logout">Sign out</a></div><h1>Good morning, Ada</h1>`,
                ),
              );
        },
        "POST /common/login": (request) => {
          const account = site.check(request.field("login"), request.field("passwd"));
          if (typeof account === "string")
            return pushLogin(
              "Your account or password is incorrect. If you don't remember your password, reset it now.",
            );
          this.#waiting = { number: String(randomInt(10, 100)), state: "waiting" };
          return redirect("/common/SAS", [site.pend(account, "push")]);
        },
        "GET /common/SAS": () =>
          html(
            pushPage(markup`<div role="heading" aria-level="1">Approve sign in request</div><p id="text">Open your Authenticator app, and enter the number shown to sign in.</p>
<div class="display-sign">${this.#waiting?.number}</div><p>No numbers in your app? Make sure to upgrade to the latest version.</p><a href="#" id="signInAnotherWay">I can't use my Authenticator app right now</a><script src="/sas.js"></script>`),
          ),
        "GET /sas.js": () => script(pushApp),
        "POST /common/SAS/EndAuth": (request) => {
          const state = this.#waiting?.state ?? "denied";
          const account = site.pending(request)?.account;
          if (state !== "approved" || account === undefined) return json({ state });
          this.#waiting = undefined;
          return json({ state }, { cookies: [site.signIn(account)] });
        },
      }),
    });
  }

  /** The owner picks a number in the app; another number than the page's denies the login. */
  approve(number: string): void {
    if (this.#waiting !== undefined) this.#waiting.state = this.#waiting.number === number ? "approved" : "denied";
  }
}

function pushPage(body: Markup): Markup {
  return markup`<html dir="ltr" lang="en"><head><title>Sign in to your account</title><style>.inner { width: 440px; margin: 80px auto; padding: 44px; box-shadow: 0 2px 6px #0003; } .display-sign { font-size: 48px; text-align: center; }</style></head><body class="cb"><div class="inner">${body}</div></body></html>`;
}

function pushLogin(problem?: string): Reply {
  return html(
    pushPage(markup`<div role="heading" aria-level="1">Sign in</div><form method="post" action="/common/login" novalidate autocomplete="off">
${problem === undefined ? undefined : markup`<div id="passwordError" class="alert-error" aria-live="assertive">${problem}</div>`}
<input type="email" name="login" id="i0116" maxlength="113" lang="en" placeholder="Email, phone, or Skype" aria-label="Enter your email, phone, or Skype."><br>
<input name="passwd" type="password" id="i0118" placeholder="Password" aria-label="Enter the password" aria-required="true">
<input type="password" name="moveOffScreen" tabindex="-1" aria-hidden="true" style="position:fixed;left:-9999px"><input type="submit" id="idSIButton9" value="Sign in"></form>`),
  );
}

const mailApp = `
const poll = async () => {
  const { done } = await (await fetch("/api/magic")).json();
  if (done) location.assign("/home");
  else setTimeout(poll, 700);
};
poll();`;

/** An address, then a link by e-mail. It signs in the browser that opens it, and the page that waits for it. */
function magicLink(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Quill</title></head><body style="font-family: Georgia"><dialog open style="width: 420px">${body}</dialog></body></html>`;
  const links = new Map<string, { readonly account: Account; used: boolean }>();
  const first = (problem?: string) =>
    html(
      page(
        markup`<h2>Welcome back.</h2><p>Sign in with your email</p><form method="post" action="/m/signin"><label>Your email <input name="email" type="text" inputmode="email"></label>${problem === undefined ? undefined : markup`<p role="alert">${problem}</p>`}<button>Send me a link</button></form>`,
      ),
    );
  const enter = (site: Site, request: SiteRequest) => {
    const link = links.get(request.url.searchParams.get("token") ?? "");
    if (link === undefined || link.used) return first("This link has expired. Ask for a new one.");
    link.used = true;
    return redirect("/home", [site.signIn(link.account)]);
  };
  return new Site({
    host: "magic-link.test",
    accounts: [{ identifier: "ada@example.com", password: "", name: "Ada" }],
    signOut: "/signout",
    routes: (site) => ({
      "GET /": () => first(),
      "POST /m/signin": (request) => {
        const account = site.accounts.get(request.field("email").trim().toLowerCase());
        if (account === undefined) return first("No account uses this address.");
        const token = randomBytes(12).toString("hex");
        links.set(token, { account, used: false });
        site.send({ to: account.identifier, link: `${site.origin}/m/callback?token=${token}` });
        return redirect("/m/sent", [site.pend(account, token)]);
      },
      "GET /m/sent": () =>
        html(
          page(
            markup`<h2>Check your inbox.</h2><p>Click the link we sent to the address that you entered to sign in.</p><a href="/">Use another address</a><script src="/m.js"></script>`,
          ),
        ),
      "GET /m.js": () => script(mailApp),
      "GET /api/magic": (request) => {
        const pending = site.pending(request);
        if (pending === undefined || links.get(pending.step)?.used !== true) return json({ done: false });
        return json(
          { done: true },
          { cookies: site.accountOf(request) === undefined ? [site.signIn(pending.account)] : [] },
        );
      },
      "GET /m/callback": (request) => enter(site, request),
      "GET /home": (request) =>
        site.accountOf(request) === undefined
          ? redirect("/")
          : html(
              markup`<html lang="en"><title>Quill</title><body><h1>Stories for you</h1><a href="/signout">Sign out</a></body></html>`,
            ),
    }),
  });
}
