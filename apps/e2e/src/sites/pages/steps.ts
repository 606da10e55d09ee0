import { html, redirect, script } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites with less common first steps, and with questions after the password. */
export function stepSites(): Site[] {
  return [phone(), tabs(), question(), interstitial()];
}

const alertOf = (problem?: string) =>
  problem === undefined ? undefined : markup`<p class="toast-error" role="alert">${problem}</p>`;

/** A phone number with a list of countries, then four digits by SMS. */
function phone(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Hop Rides</title></head><body><div data-testid="auth-root">${body}</div></body></html>`;
  const first = (problem?: string) =>
    html(
      page(
        markup`<h1>What’s your number?</h1><form method="post" action="/otp/request"><label for="cc">Country</label><select id="cc" name="cc"><option value="+49">Germany (+49)</option><option value="+44">United Kingdom (+44)</option><option value="+1">United States (+1)</option></select><label for="pn">Mobile number</label><input id="pn" type="tel" name="number" autocomplete="tel-national">${alertOf(problem)}<button>Next</button><p>By continuing you may receive an SMS. Message and data rates may apply.</p></form>`,
      ),
    );
  const second = (problem?: string) =>
    html(
      page(
        markup`<h1>Enter the 4-digit code</h1><p>Sent to a number ending in 0123</p><form method="post" action="/otp/check"><input type="text" inputmode="numeric" name="otp" maxlength="4" aria-label="Code" autocomplete="one-time-code">${alertOf(problem)}<button>Next</button></form>`,
      ),
    );
  return new Site({
    host: "phone.test",
    accounts: [{ identifier: "+447700900123", password: "", name: "Ada" }],
    digits: 4,
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? first()
          : html(page(markup`<h1>Where to, Ada?</h1><a href="/logout">Log out</a>`)),
      "POST /otp/request": (request) => {
        const national = request.field("number").replace(/\D/g, "").replace(/^0/, "");
        const account = site.accounts.get(request.field("cc") + national);
        if (account === undefined) return first("This number does not exist.");
        site.sendCode(account, account.identifier);
        return redirect("/otp", [site.pend(account, "code")]);
      },
      "GET /otp": (request) => (site.pending(request) === undefined ? redirect("/") : second()),
      "POST /otp/check": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/");
        return site.takeCode(pending.account, request.field("otp"))
          ? redirect("/", [site.signIn(pending.account)])
          : second("That code is not right.");
      },
    }),
  });
}

const tabsScript = `
for (const tab of document.querySelectorAll("[role=tab]"))
  tab.addEventListener("click", () => {
    for (const other of document.querySelectorAll("[role=tab]")) {
      other.setAttribute("aria-selected", String(other === tab));
      document.getElementById(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
  });`;

/** Three ways in tabs. A QR code for an app is shown first; the password is in the second tab. */
function tabs(): Site {
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Teahouse</title><script defer src="/tabs.js"></script></head><body><div role="tablist"><button role="tab" aria-selected="true" aria-controls="qr">QR code</button><button role="tab" aria-selected="false" aria-controls="pw">Password</button><button role="tab" aria-selected="false" aria-controls="sms">SMS login</button></div>${alertOf(problem)}
<div role="tabpanel" id="qr"><svg width="120" height="120" role="img" aria-label="QR code"><rect width="120" height="120" fill="#222"/></svg><p>Scan with the Teahouse app to log in</p></div>
<div role="tabpanel" id="pw" hidden><form method="post" action="/login"><input name="account" placeholder="Account or mobile number"><input name="pwd" type="password" placeholder="Password"><button>Log in</button></form></div>
<div role="tabpanel" id="sms" hidden><form method="post" action="/sms"><input name="mobile" type="tel" placeholder="Mobile number"><input name="captcha" placeholder="Verification code"><button type="button">Get code</button><button>Log in</button></form></div></body></html>`,
    );
  return new Site({
    host: "tabs.test",
    accounts: [{ identifier: "ada1815", password: "oolong-Leaf-7g", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? login()
          : html(markup`<html lang="en"><title>Teahouse</title><h1>Your teas</h1><a href="/logout">Log out</a></html>`),
      "GET /tabs.js": () => script(tabsScript),
      "POST /login": (request) => {
        const account = site.check(request.field("account"), request.field("pwd"));
        return typeof account === "string"
          ? login("Account or password is incorrect")
          : redirect("/", [site.signIn(account)]);
      },
      "POST /sms": () => login("Account or password is incorrect"),
    }),
  });
}

/** A password, then a security question. */
function question(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Savings &amp; Loan</title></head><body><div class="col-md-6">${body}</div></body></html>`;
  const first = (problem?: string) =>
    html(
      page(
        markup`<h3>Log in to online banking</h3>${alertOf(problem)}<form method="post" action="/login"><div class="form-group"><label for="u">Online ID</label><input class="form-control" id="u" name="onlineId"></div><div class="form-group"><label for="p">Passcode</label><input class="form-control" id="p" name="passcode" type="password"></div><button class="btn">Log In</button></form>`,
      ),
    );
  const second = (problem?: string) =>
    html(
      page(
        markup`<h3>Answer your security question</h3><p>We don’t recognize this device.</p>${alertOf(problem)}<form method="post" action="/question"><div class="form-group"><label for="a">What was the name of your first employer?</label><input class="form-control" id="a" name="answer" autocomplete="off"></div><div><input type="radio" name="rec" id="y" value="y"><label for="y">Yes, recognize this device</label> <input type="radio" name="rec" id="n" value="n" checked><label for="n">No, this is a public device</label></div><button class="btn">Continue</button></form>`,
      ),
    );
  return new Site({
    host: "question.test",
    accounts: [{ identifier: "alovelace", password: "savings-Coin-25c", name: "Ada Lovelace" }],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? first()
          : html(page(markup`<h3>Accounts overview</h3><p>${account.name}</p><a href="/logout">Log Out</a>`));
      },
      "POST /login": (request) => {
        const account = site.check(request.field("onlineId"), request.field("passcode"));
        return typeof account === "string"
          ? first("The information you entered doesn’t match what we have on file.")
          : redirect("/question", [site.pend(account, "question")]);
      },
      "GET /question": (request) => (site.pending(request) === undefined ? redirect("/") : second()),
      "POST /question": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/");
        return request.field("answer").trim().toLowerCase() === "babbage"
          ? redirect("/", [site.signIn(pending.account)])
          : second("That answer is incorrect.");
      },
    }),
  });
}

/** After the password, two pages ask before the signed-in page: to stay signed in, and for a phone number. */
function interstitial(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Contoso</title></head><body><div class="lightbox">${body}</div></body></html>`;
  const login = (problem?: string) =>
    html(
      page(
        markup`<h1>Sign in</h1>${alertOf(problem)}<form method="post" action="/login"><input type="email" name="loginfmt" placeholder="someone@example.com" aria-label="Email"><input type="password" name="passwd" placeholder="Password" aria-label="Password"><input type="submit" value="Sign in"></form>`,
      ),
    );
  return new Site({
    host: "interstitial.test",
    accounts: [{ identifier: "ada@example.com", password: "contoso-Desk-9to5", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? login()
          : html(page(markup`<h1>Good afternoon, Ada</h1><a href="/logout">Sign out</a>`)),
      "POST /login": (request) => {
        const account = site.check(request.field("loginfmt"), request.field("passwd"));
        return typeof account === "string"
          ? login("That email or password is incorrect.")
          : redirect("/kmsi", [site.pend(account, "stay")]);
      },
      "GET /kmsi": () =>
        html(
          page(
            markup`<h1>Stay signed in?</h1><p>Do this to reduce the number of times you are asked to sign in.</p><form method="post" action="/kmsi"><label><input type="checkbox" name="again"> Don’t show this again</label><button name="stay" value="no">No</button><button name="stay" value="yes">Yes</button></form>`,
          ),
        ),
      "POST /kmsi": (request) => {
        const account = site.pending(request)?.account;
        if (account === undefined) return redirect("/");
        return redirect("/protect", [site.signIn(account, { remember: request.field("stay") === "yes" })]);
      },
      "GET /protect": () =>
        html(
          page(
            markup`<h1>Help us protect your account</h1><p>Add a phone number as a recovery option.</p><form method="post" action="/protect"><input type="tel" name="phone" placeholder="Phone number"><button>Add</button></form><a href="/">Skip for now (7 days until this is required)</a>`,
          ),
        ),
      "POST /protect": () => redirect("/"),
    }),
  });
}
