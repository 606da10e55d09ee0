import { html, redirect } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites with fields that are not for a login, or without any words. */
export function trapSites(): Site[] {
  return [traps(), registerNext(), bare()];
}

/**
 * Honeypots of many kinds, a search, a newsletter. A filled honeypot refuses the login. The signed-in page has a form to
 * change the e-mail address, which looks like a login.
 */
function traps(): Site {
  const honeypots = ["email", "user", "login", "pass", "password2", "url", "phone"];
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Beehive</title><style>.hp1 { display: none; } .hp2 { position: absolute; left: -10000px; top: auto; } .hp3 { visibility: hidden; } .hp4 { opacity: 0; position: absolute; } .hp5 { height: 1px; width: 1px; padding: 0; border: 0; overflow: hidden; } .over { position: relative; height: 30px; } .over > * { position: absolute; inset: 0; } .over > div { background: #fff; } .clip { clip-path: inset(50%); position: absolute; }</style></head><body>
<header><form role="search" action="/search"><input name="q" placeholder="Search users and passwords" aria-label="Search"><button>Go</button></form></header>
<form method="post" action="/newsletter"><h3>Newsletter</h3><input type="email" name="nl_email" placeholder="Your e-mail address"><button>Sign up</button></form>
<main><h1>Log in</h1>${problem === undefined ? undefined : markup`<p role="alert">${problem}</p>`}<form method="post" action="/enter">
<div class="hp1"><label>Email <input type="email" name="email" autocomplete="username"></label><input type="password" name="pass" autocomplete="current-password"></div>
<div class="hp2" aria-hidden="true"><label>Username <input name="user" tabindex="-1" autocomplete="off"></label></div><input class="hp3" name="login" placeholder="Login"><input class="hp4" type="password" name="password2" tabindex="-1">
<input class="hp5" name="url" aria-label="Website"><div class="over"><input name="phone" placeholder="Phone"><div></div></div><div class="clip"><input type="text" name="fax"></div>
<p><label for="k1">Beekeeper name</label> <input id="k1" name="bk_7"></p><p><label for="k2">Password</label> <input id="k2" name="bk_8" type="password"></p>
<p><input name="invite" placeholder="Invitation code (no longer needed)" disabled> <input name="ref" value="home" readonly></p>
<p><button type="button">Forgot password?</button> <button type="button">Cancel</button> <button>Log in</button></p></form></main></body></html>`,
    );
  return new Site({
    host: "traps.test",
    accounts: [{ identifier: "ada", password: "honey-Comb-6sides", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? login()
          : html(
              markup`<html lang="en"><title>Settings</title><nav><a href="/logout">Log out</a></nav><h1>Settings of Ada</h1><section><h2>Change e-mail address</h2><form method="post" action="/settings/email"><label>New e-mail address <input type="email" name="new_email"></label><label>Current password <input type="password" name="current_password" autocomplete="current-password"></label><button>Save</button></form></section></html>`,
            ),
      "POST /enter": (request) => {
        if (honeypots.some((name) => request.field(name) !== "")) return login("Automated requests are not allowed.");
        const account = site.check(request.field("bk_7"), request.field("bk_8"));
        return typeof account === "string" ? login("Wrong name or password.") : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

/** A registration form comes before the login form, with the same fields. A registration creates an account. */
function registerNext(): Site {
  const page = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Camping Club</title></head><body><div class="row"><div class="col"><h2>Register</h2><form method="post" action="/register"><p>Email address *<br><input type="email" name="email" id="reg_email" autocomplete="email"></p><p>Password *<br><input type="password" name="password" id="reg_password" autocomplete="new-password"></p><p>A link to set a new password will be sent to your email address.</p><button name="register" value="Register">Register</button></form></div>
<div class="col"><h2>Login</h2>${problem === undefined ? undefined : markup`<ul class="woocommerce-error" role="alert"><li>${problem}</li></ul>`}<form method="post" action="/my-account"><p><label for="username">Username or email address&nbsp;<span class="required">*</span></label><input type="text" name="username" id="username" autocomplete="username"></p><p><label for="password">Password&nbsp;<span class="required">*</span></label><input type="password" name="password" id="password" autocomplete="current-password"></p><p><label><input name="rememberme" type="checkbox" value="forever"> <span>Remember me</span></label> <button name="login" value="Log in">Log in</button></p></form></div></div></body></html>`,
    );
  return new Site({
    host: "register-next.test",
    accounts: [{ identifier: "ada@example.com", password: "tent-Peg-1kg", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? page()
          : html(
              markup`<html lang="en"><title>My account</title><p>Hello <strong>${account.identifier}</strong> (not you? <a href="/logout">Log out</a>)</p></html>`,
            );
      },
      "POST /register": (request) => {
        const identifier = request.field("email").trim().toLowerCase();
        if (site.accounts.has(identifier)) return page("An account is already registered with your email address.");
        const account = { identifier, password: request.field("password"), name: identifier };
        site.accounts.set(identifier, account);
        return redirect("/", [site.signIn(account)]);
      },
      "POST /my-account": (request) => {
        const account = site.check(request.field("username"), request.field("password"));
        return typeof account === "string"
          ? page("The username or password you entered is incorrect.")
          : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

/** Two inputs and a picture as button, without a word. */
function bare(): Site {
  return new Site({
    host: "bare.test",
    accounts: [{ identifier: "root", password: "switch-Port-24", name: "root" }],
    cookie: "s",
    routes: (site) => ({
      "GET /": (request) =>
        html(
          site.accountOf(request) === undefined
            ? markup`<html><body><form method="post" action="/l"><input name="u"><input name="p" type="password"><input type="submit" value="&#9654;"></form>${request.url.search === "?e" ? markup`<b>Error 2</b>` : undefined}</body></html>`
            : markup`<html><body><table><tr><td>Port 1</td><td>up</td></tr></table><a href="/logout">logout</a></body></html>`,
        ),
      "POST /l": (request) => {
        const account = site.check(request.field("u"), request.field("p"));
        return typeof account === "string" ? redirect("/?e") : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}
