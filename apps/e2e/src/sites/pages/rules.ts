import { html, redirect, type SiteRequest } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites with special rules, and sites without a login. */
export function ruleSites(): Site[] {
  return [lockOut(), rememberMe(), forcedChange(), ...organisation(), basic(), blocked(), noLogin()];
}

/** Locks an account after three wrong passwords. */
function lockOut(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Payroll Online</title></head><body><div id="content" role="main">${body}</div></body></html>`;
  const login = (problem?: Markup) =>
    html(
      page(markup`<h1>Payroll Online</h1>${problem}<form name="loginForm" method="post" action="/j_security_check"><fieldset><legend>Employee sign on</legend>
<p><label>Employee number<br><input type="text" name="j_username" size="12"></label></p><p><label>Password<br><input type="password" name="j_password" size="20"></label></p>
<p><button type="submit" name="submit">Sign On</button> <button type="reset">Clear</button></p></fieldset></form>`),
    );
  return new Site({
    host: "lock-out.test",
    accounts: [{ identifier: "10842", password: "payroll-Day-28", name: "LOVELACE, ADA" }],
    cookie: "JSESSIONID",
    tries: 3,
    signOut: "/logoff.do",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? login()
          : html(page(markup`<h1>Pay statements</h1><p>${account.name}</p><p><a href="/logoff.do">Sign Off</a></p>`));
      },
      "POST /j_security_check": (request) => {
        const account = site.check(request.field("j_username"), request.field("j_password"));
        if (account === "wrong")
          return login(
            markup`<div class="msg error"><strong>Error:</strong> Invalid employee number or password. After 3 failed attempts your account will be locked.</div>`,
          );
        if (account === "locked")
          return html(
            page(
              markup`<h1>Account locked</h1><p>Your account has been locked because of too many failed sign-on attempts. Contact the help desk, or try again in 30 minutes.</p>`,
            ),
            { status: 423 },
          );
        return redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

/** Without a tick in the box, the session ends with the browser. */
function rememberMe(): Site {
  const page = (title: string, body: Markup) =>
    markup`<html lang="en-US"><head><title>${title} &lsaquo; The Gazette</title></head><body class="login wp-core-ui"><div id="login"><h1><a href="/">The Gazette</a></h1>${body}</div></body></html>`;
  const login = (user = "", problem?: string) =>
    html(
      page(
        "Log In",
        markup`${problem === undefined ? undefined : markup`<div id="login_error" class="notice notice-error"><p><strong>Error:</strong> ${problem}</p></div>`}<form name="loginform" id="loginform" action="/wp-login.php" method="post">
<p><label for="user_login">Username or Email Address</label><input type="text" name="log" id="user_login" class="input" value="${user}" size="20" autocapitalize="off" autocomplete="username" required></p>
<div class="user-pass-wrap"><label for="user_pass">Password</label><div class="wp-pwd"><input type="password" name="pwd" id="user_pass" class="input password-input" size="20" autocomplete="current-password" spellcheck="false" required><button type="button" class="wp-hide-pw" aria-label="Show password">&#128065;</button></div></div>
<p class="forgetmenot"><input name="rememberme" type="checkbox" id="rememberme" value="forever"> <label for="rememberme">Remember Me</label></p>
<p class="submit"><input type="submit" name="wp-submit" id="wp-submit" class="button button-primary button-large" value="Log In"><input type="hidden" name="testcookie" value="1"></p></form><p id="nav"><a href="/wp-login.php?action=lostpassword">Lost your password?</a></p>`,
      ),
    );
  return new Site({
    host: "remember-me.test",
    accounts: [{ identifier: "ada", password: "gazette*Ink*17", name: "Ada" }],
    cookie: "wordpress_logged_in",
    signOut: "/wp-login/logout",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? redirect("/wp-login.php")
          : html(
              page(
                "Dashboard",
                markup`<p>Howdy, ${account.name}</p><a class="ab-item" href="/wp-login/logout">Log Out</a>`,
              ),
            );
      },
      "GET /wp-login.php": () => login(),
      "POST /wp-login.php": (request) => {
        const user = request.field("log");
        const account = site.check(user, request.field("pwd"));
        if (typeof account === "string")
          return login(user, `The password you entered for the username ${user} is incorrect.`);
        return redirect("/", [site.signIn(account, { remember: request.field("rememberme") === "forever" })]);
      },
    }),
  });
}

/** The password has expired: the site signs in after a new one, twice, of at least 12 characters with a digit. */
function forcedChange(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Atlas ERP</title></head><body><div class="ui-panel">${body}</div></body></html>`;
  const problemOf = (text?: string) =>
    text === undefined
      ? undefined
      : markup`<div class="ui-messages-error"><span class="ui-messages-error-summary">${text}</span></div>`;
  const login = (problem?: string) =>
    html(
      page(
        markup`${problemOf(problem)}<form method="post" action="/faces/login.xhtml"><label for="f:user">User name</label><input id="f:user" name="f:user" type="text"><label for="f:pass">Password</label><input id="f:pass" name="f:pass" type="password"><button class="ui-button">Login</button></form>`,
      ),
    );
  const change = (problem?: string) =>
    html(
      page(markup`<h2>Your password has expired</h2><p>Choose a new password with at least 12 characters and a digit. You cannot use an old one.</p>${problemOf(problem)}<form method="post" action="/faces/expired.xhtml">
<label for="c:p1">New password</label><input id="c:p1" name="p1" type="password" autocomplete="new-password"><label for="c:p2">Confirm new password</label><input id="c:p2" name="p2" type="password" autocomplete="new-password"><button class="ui-button">Change password</button></form>`),
    );
  const changed = (site: Site, request: SiteRequest) => {
    const account = site.pending(request)?.account;
    if (account === undefined) return redirect("/");
    const password = request.field("p1");
    if (password !== request.field("p2")) return change("The passwords do not match.");
    if (password.length < 12 || !/\d/.test(password) || password === account.password)
      return change("The new password does not meet the requirements.");
    account.password = password;
    return redirect("/", [site.signIn(account)]);
  };
  return new Site({
    host: "forced-change.test",
    accounts: [{ identifier: "alovelace", password: "Atlas-Old-2023", name: "Ada Lovelace" }],
    cookie: "JSESSIONID",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? login()
          : html(
              page(
                markup`<h2>Workspace of ${account.name}</h2><form method="post" action="/logout"><button>Logout</button></form>`,
              ),
            );
      },
      "POST /faces/login.xhtml": (request) => {
        const account = site.check(request.field("f:user"), request.field("f:pass"));
        return typeof account === "string"
          ? login("Invalid user name or password")
          : redirect("/faces/expired.xhtml", [site.pend(account, "new password")]);
      },
      "GET /faces/expired.xhtml": (request) => (site.pending(request) === undefined ? redirect("/") : change()),
      "POST /faces/expired.xhtml": (request) => changed(site, request),
    }),
  });
}

/** First the organisation, then its login page on a host below the site's. */
function organisation(): Site[] {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Standup</title></head><body><div class="p-workspace">${body}</div></body></html>`;
  const tenant = "acme-corp.organisation.test";
  const ask = (problem?: string) =>
    html(
      page(
        markup`<h1>Sign in to your workspace</h1><p>Enter your workspace’s Standup URL</p><form method="post" action="/workspace-signin"><input type="text" id="domain" name="domain" aria-label="Your workspace URL" placeholder="your-workspace" autocomplete="off"><span>.organisation.test</span>${problem === undefined ? undefined : markup`<p role="alert">${problem}</p>`}<button type="submit">Continue</button></form>`,
      ),
    );
  const login = (problem?: string) =>
    html(
      page(
        markup`<h1>Sign in to Acme Corp</h1><p>acme-corp.organisation.test</p>${problem === undefined ? undefined : markup`<p class="alert alert_error">${problem}</p>`}<form method="post" action="/signin"><input type="email" name="email" placeholder="name@work-email.com"><input type="password" name="password" placeholder="Your password"><button type="submit">Sign In</button></form>`,
      ),
    );
  return [
    new Site({
      host: "organisation.test",
      routes: () => ({
        "GET /": () => ask(),
        "POST /workspace-signin": (request) =>
          request.field("domain").trim() === "acme-corp"
            ? redirect(`https://${tenant}/`)
            : ask("We couldn’t find your workspace."),
      }),
    }),
    new Site({
      host: tenant,
      accounts: [{ identifier: "ada@acme.example", password: "standUp@9am", name: "Ada" }],
      routes: (site) => ({
        "GET /": (request) =>
          site.accountOf(request) === undefined
            ? login()
            : html(page(markup`<h1>#general</h1><p>Ada, Acme Corp</p><a href="/logout">Sign out of Acme Corp</a>`)),
        "POST /signin": (request) => {
          const account = site.check(request.field("email"), request.field("password"));
          return typeof account === "string"
            ? login("Sorry, you entered an incorrect email address or password.")
            : redirect("/", [site.signIn(account)]);
        },
      }),
    }),
  ];
}

/** HTTP Basic (RFC 7617): each request carries the name and the password. */
function basic(): Site {
  return new Site({
    host: "basic.test",
    accounts: [{ identifier: "ada", password: "router-Admin-5", name: "ada" }],
    routes: (site) => ({
      "GET /": (request) => {
        const [, token = ""] = /^Basic (.+)$/i.exec(request.header("authorization") ?? "") ?? [];
        const [name = "", ...password] = Buffer.from(token, "base64").toString().split(":");
        const account = token === "" ? "wrong" : site.check(name, password.join(":"));
        return typeof account === "string"
          ? html(
              markup`<html><head><title>401 Authorization Required</title></head><body><center><h1>401 Authorization Required</h1></center><hr><center>nginx</center></body></html>`,
              {
                status: 401,
                headers: { "www-authenticate": 'Basic realm="Router"' },
              },
            )
          : html(
              markup`<html><head><title>Router</title></head><body><h1>Status of the router</h1><p>Uptime: 12 days</p></body></html>`,
            );
      },
    }),
  });
}

/** Denies all visitors. `/challenge` pretends to check the browser first, and never ends. */
function blocked(): Site {
  return new Site({
    host: "blocked.test",
    routes: () => ({
      "GET /": () =>
        html(
          markup`<html lang="en-US"><head><title>Attention Required!</title></head><body><div id="cf-wrapper"><h1>Sorry, you have been blocked</h1><h2>You are unable to access blocked.test</h2><p>This website is using a security service to protect itself from online attacks.</p><p>Ray ID: 8a1b2c3d4e5f6a7b</p></div></body></html>`,
          { status: 403 },
        ),
      "GET /busy": () =>
        html(markup`<html lang="en"><title>Too Many Requests</title><h1>Too Many Requests</h1></html>`, {
          status: 429,
          headers: { "retry-after": "3600" },
        }),
      "GET /challenge": () =>
        html(
          markup`<html lang="en-US"><head><title>Just a moment...</title></head><body><h1>blocked.test</h1><p>Verifying you are human. This may take a few seconds.</p><div class="lds-ring" role="progressbar"></div><p>blocked.test needs to review the security of your connection before proceeding.</p></body></html>`,
          { status: 503 },
        ),
    }),
  });
}

/** A shop window with a newsletter, a search and a contact form, and nothing to sign in to. */
function noLogin(): Site {
  return new Site({
    host: "no-login.test",
    routes: () => ({
      "GET /": () =>
        html(markup`<html lang="en"><head><title>Bakery Lovelace</title></head><body><nav><a href="/">Home</a> <a href="/menu">Menu</a><form role="search" action="/search"><input type="search" name="q" placeholder="Search"></form></nav>
<h1>Fresh bread since 1843</h1><section><h2>Write to us</h2><form method="post" action="/contact"><label>Name <input name="name"></label><label>Email <input type="email" name="email"></label><label>Message <textarea name="message"></textarea></label><button>Send message</button></form></section>
<footer><form method="post" action="/newsletter"><input type="email" name="EMAIL" placeholder="Your email" aria-label="Email for our newsletter"><button>Subscribe</button></form></footer></body></html>`),
    }),
  });
}
