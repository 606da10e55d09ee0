import { html, json, redirect, script, type SiteRequest } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { type Account, Site } from "../hosting/site.ts";
import { currentWindow, totpCode } from "../hosting/totp.ts";

/** Sites that ask for a code. */
export function codeSites(): Site[] {
  return [totp(), sixBoxes(), smsCode(), emailCode()];
}

/** A password, then a code of an authenticator app: of the current 30 s window alone, and once. */
function totp(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Vault &amp; Co</title><style>
      .Box { max-width: 340px; margin: 60px auto; font: 14px -apple-system, "Segoe UI", sans-serif; }
      .flash-error { background: #ffebe9; border: 1px solid #ff8182; padding: 16px; }
      .FormControl { display: block; width: 100%; margin: 4px 0 16px; }
    </style></head><body><div class="Box">${body}</div></body></html>`;
  const flash = (problem?: string) =>
    problem === undefined ? undefined : markup`<div class="flash flash-error" role="alert">${problem}</div>`;
  const first = (problem?: string) =>
    page(markup`<h1>Sign in to Vault &amp; Co</h1>${flash(problem)}
<form action="/session" accept-charset="UTF-8" method="post"><input type="hidden" name="authenticity_token" value="q1w2e3">
<label for="login_field">Username or email address</label><input type="text" name="login" id="login_field" class="FormControl" autocapitalize="off" autocorrect="off" autocomplete="username" autofocus>
<div><label for="password">Password</label> <a id="forgot-password" href="/password_reset">Forgot password?</a>
<input type="password" name="password" id="password" class="FormControl" autocomplete="current-password"></div>
<input type="text" name="required_field_2d1c" hidden><input type="hidden" name="timestamp" value="1700000000">
<input type="submit" name="commit" value="Sign in" class="btn btn-primary" data-disable-with="Signing in…"></form>`);
  const second = (problem?: string) =>
    page(markup`<h1>Two-factor authentication</h1>${flash(problem)}
<form action="/sessions/two-factor" method="post"><label for="app_totp">Authentication code</label>
<input type="text" inputmode="numeric" pattern="[0-9]*" name="app_otp" id="app_totp" class="FormControl" placeholder="XXXXXX" autocomplete="one-time-code" autofocus>
<button type="submit">Verify</button></form>
<p>Open your authenticator app or browser extension to view your authentication code.</p><a href="/sessions/recovery">Use a recovery code</a>`);
  let usedWindow = 0;
  return new Site({
    host: "totp.test",
    accounts: [
      {
        identifier: "ada",
        password: "vault-Door-77",
        name: "Ada Lovelace",
        totpSecret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
      },
    ],
    csp: "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    cookie: "user_session",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? redirect("/login")
          : html(
              page(markup`<h1>Your vaults</h1><details open><summary aria-label="View profile">@${account.identifier}</summary>
<form action="/logout" method="post"><button type="submit">Sign out</button></form></details>`),
            );
      },
      "GET /login": () => html(first()),
      "POST /session": (request) => {
        const account = site.check(request.field("login"), request.field("password"));
        return typeof account === "string"
          ? html(first("Incorrect username or password."))
          : redirect("/sessions/two-factor", [site.pend(account, "totp")]);
      },
      "GET /sessions/two-factor": (request) =>
        site.pending(request) === undefined ? redirect("/login") : html(second()),
      "POST /sessions/two-factor": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/login");
        const window = currentWindow();
        const isRight = request.field("app_otp").trim() === totpCode(pending.account.totpSecret ?? "", window);
        if (!isRight || window <= usedWindow)
          return html(second(isRight ? "This code has already been used." : "Two-factor authentication failed."));
        usedWindow = window;
        return redirect("/", [site.signIn(pending.account)]);
      },
    }),
  });
}

const sixBoxesApp = `
const boxes = [...document.querySelectorAll(".otp input")];
const send = async () => {
  const code = boxes.map((box) => box.value).join("");
  if (code.length !== 6) return;
  boxes.forEach((box) => (box.disabled = true));
  const { next } = await (await fetch("/verify", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) })).json();
  if (next) location.replace(next);
  else {
    boxes.forEach((box) => { box.disabled = false; box.value = ""; box.classList.add("wrong"); });
    document.querySelector(".hint").textContent = "That code didn't work. Check it and try again.";
    boxes[0].focus();
  }
};
boxes.forEach((box, index) => {
  box.addEventListener("input", () => {
    box.value = box.value.replace(/\\D/g, "").slice(-1);
    if (box.value && boxes[index + 1]) boxes[index + 1].focus();
    send();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Backspace" && !box.value && index > 0) boxes[index - 1].focus();
  });
  box.addEventListener("paste", (event) => {
    event.preventDefault();
    const digits = event.clipboardData.getData("text").replace(/\\D/g, "").slice(0, 6);
    [...digits].forEach((digit, at) => { if (boxes[at]) boxes[at].value = digit; });
    send();
  });
});`;

/** A name and a password, then a code in six boxes that move the focus and send the code after the last digit. */
function sixBoxes(): Site {
  const head = markup`<head><title>Loom</title><style>
    .otp { display: flex; gap: 8px; } .otp input { width: 44px; height: 54px; text-align: center; font-size: 24px; }
    .wrong { outline: 2px solid crimson; } .err { color: crimson; }</style></head>`;
  const first = (problem?: string) =>
    html(markup`<html lang="en">${head}<body><h3>Welcome to Loom</h3><form method="POST" action="/auth">
<input name="user[email]" type="email" placeholder="name@work-email.com" aria-label="Work email">
<input name="user[password]" type="password" placeholder="Your password" aria-label="Password">
<button>Continue</button>${problem === undefined ? undefined : markup`<p class="err">${problem}</p>`}</form></body></html>`);
  return new Site({
    host: "six-boxes.test",
    accounts: [{ identifier: "ada@example.com", password: "loom-Card-1804", name: "Ada", phone: "+44 7700 900123" }],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? first()
          : html(
              markup`<html lang="en">${head}<body><nav><span>${account.name}’s workspace</span> <a href="/logout">Log out</a></nav></body></html>`,
            );
      },
      "POST /auth": (request) => {
        const account = site.check(request.field("user[email]"), request.field("user[password]"));
        if (typeof account === "string") return first("Sorry, that email and password don’t match.");
        site.sendCode(account, account.identifier);
        return redirect("/confirm", [site.pend(account, "code")]);
      },
      "GET /confirm": (request) =>
        site.pending(request) === undefined
          ? redirect("/")
          : html(markup`<html lang="en">${head}<body><h3>Check your email for a code</h3>
<p>We’ve sent a 6-character code to <b>a••@example.com</b>. The code expires shortly, so enter it soon.</p>
<div class="otp" role="group" aria-label="6-digit code">${[1, 2, 3, 4, 5, 6].map((digit) => markup`<input maxlength="1" inputmode="numeric" autocomplete="off" aria-label="digit ${digit} of 6">`)}</div>
<p class="hint" aria-live="polite"></p><script src="/confirm.js"></script></body></html>`),
      "GET /confirm.js": () => script(sixBoxesApp),
      "POST /verify": (request) => {
        const pending = site.pending(request);
        return pending !== undefined && site.takeCode(pending.account, request.field("code"))
          ? json({ next: "/" }, { cookies: [site.signIn(pending.account)] })
          : json({ error: "invalid_code" }, { status: 400 });
      },
    }),
  });
}

/** A password, then a code by SMS. A link sends another code, which replaces the first. */
function smsCode(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en-US"><head><title>First Coastal Bank</title></head><body bgcolor="#ffffff"><table width="600" align="center"><tr><td>${body}</td></tr></table></body></html>`;
  const first = (problem?: string) =>
    html(
      page(markup`<font size="5">Online Banking</font>${problem === undefined ? undefined : markup`<p><font color="red"><b>${problem}</b></font></p>`}
<form name="frmLogin" action="/cgi-bin/logon" method="post"><table><tr><td>User ID:</td><td><input name="userid" size="20" maxlength="32"></td></tr>
<tr><td>Password:</td><td><input name="pwd" type="password" size="20"></td></tr><tr><td></td><td><input type="image" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="Log On" width="80" height="24" name="go"></td></tr></table></form>`),
    );
  const second = (account: Account, problem?: string) =>
    html(
      page(markup`<h2>Verify it’s you</h2><p>We sent a text message with a security code to ***-***-${account.phone?.slice(-4)}.</p>
${problem === undefined ? undefined : markup`<p><font color="red">${problem}</font></p>`}
<form action="/cgi-bin/verify" method="post"><p>Enter the code <input name="secCode" type="tel" size="8" maxlength="6"></p><p><input type="submit" value="Submit"> <a href="/cgi-bin/resend">Didn’t get it? Send a new code</a></p></form>`),
    );
  const owner = (site: Site, request: SiteRequest) => site.pending(request)?.account;
  return new Site({
    host: "sms-code.test",
    accounts: [{ identifier: "alovelace", password: "coastal-Sum-12", name: "Ada Lovelace", phone: "+1 555 010 4477" }],
    signOut: "/cgi-bin/logoff",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? first()
          : html(
              page(
                markup`<h2>Accounts of ${account.name}</h2><p>Checking: $1,843.12</p><a href="/cgi-bin/logoff">Log Off</a>`,
              ),
            );
      },
      "POST /cgi-bin/logon": (request) => {
        const account = site.check(request.field("userid"), request.field("pwd"));
        if (typeof account === "string") return first("The User ID or Password you entered is not valid.");
        site.sendCode(account, account.phone ?? "");
        return redirect("/cgi-bin/verify", [site.pend(account, "code")]);
      },
      "GET /cgi-bin/verify": (request) => {
        const account = owner(site, request);
        return account === undefined ? redirect("/") : second(account);
      },
      "GET /cgi-bin/resend": (request) => {
        const account = owner(site, request);
        if (account !== undefined) site.sendCode(account, account.phone ?? "");
        return redirect("/cgi-bin/verify");
      },
      "POST /cgi-bin/verify": (request) => {
        const account = owner(site, request);
        if (account === undefined) return redirect("/");
        return site.takeCode(account, request.field("secCode"))
          ? redirect("/", [site.signIn(account)])
          : second(account, "That code is incorrect or has expired.");
      },
    }),
  });
}

/** No password: an address, then a code by e-mail. */
function emailCode(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Notebook</title><style>[data-part=field] { display: flex; flex-direction: column; }</style></head><body><div id="__next"><section>${body}</section></div></body></html>`;
  const first = (problem?: string) =>
    html(
      page(markup`<h1>Think it. Note it.</h1><p>Log in to your Notebook account</p><form method="post" action="/api/sendTemporaryPassword"><div data-part="field"><label for=":r1:">Email</label>
<input id=":r1:" name="email" type="email" placeholder="Enter your email address…" aria-describedby=":r1:-note"><span id=":r1:-note">${problem ?? "Use an organization email to easily collaborate with teammates"}</span></div><div role="presentation"><button type="submit">Continue</button></div></form>`),
    );
  const second = (address: string, problem?: string) =>
    html(
      page(markup`<h1>Check your inbox</h1><p>We just sent a temporary login code to ${address}.</p><form method="post" action="/api/loginWithEmail"><div data-part="field"><label for=":r2:">Verification code</label>
<input id=":r2:" name="password" type="text" placeholder="Enter code" autocomplete="off"${problem === undefined ? undefined : markup` aria-invalid="true"`}></div>${problem === undefined ? undefined : markup`<div role="alert">${problem}</div>`}<button type="submit">Continue</button></form>`),
    );
  return new Site({
    host: "email-code.test",
    accounts: [{ identifier: "ada@example.com", password: "", name: "Ada" }],
    cookie: "token_v2",
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? first()
          : html(
              page(
                markup`<aside><button aria-haspopup="menu">Ada’s Notebook</button><ul role="menu"><li role="menuitem"><a href="/logout">Log out</a></li></ul></aside>`,
              ),
            ),
      "POST /api/sendTemporaryPassword": (request) => {
        const account = site.accounts.get(request.field("email").trim().toLowerCase());
        if (account === undefined) return first("We could not find an account with that email.");
        site.sendCode(account, account.identifier);
        return redirect("/login/code", [site.pend(account, "code")]);
      },
      "GET /login/code": (request) => {
        const pending = site.pending(request);
        return pending === undefined ? redirect("/") : second(pending.account.identifier);
      },
      "POST /api/loginWithEmail": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/");
        return site.takeCode(pending.account, request.field("password"))
          ? redirect("/", [site.signIn(pending.account)])
          : second(pending.account.identifier, "Your login code was incorrect. Please try again.");
      },
    }),
  });
}
