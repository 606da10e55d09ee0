import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseCookie } from "cookie";
import Provider, { type Configuration } from "oidc-provider";

export interface TestPerson {
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
}

export interface IdentityProvider {
  readonly issuer: string;
  /** Accounts by subject, read at each request. */
  readonly persons: Map<string, TestPerson>;
  close(): Promise<void>;
}

export const testClient = { id: "shoal", secret: "a secret of the service" };

/** A real OpenID Connect provider with its own pages. @param more - its further configuration. */
export async function startIdentityProvider(
  redirectUri: () => string,
  more: Configuration = {},
): Promise<IdentityProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const persons = new Map<string, TestPerson>();
  let provider: Provider | undefined;
  const start = (): Provider =>
    new Provider(issuer, {
      clients: [
        {
          client_id: testClient.id,
          client_secret: testClient.secret,
          redirect_uris: [redirectUri()],
          grant_types: ["authorization_code", "refresh_token"],
        },
      ],
      claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
      scopes: ["openid", "offline_access", "profile", "email", "groups"],
      cookies: { keys: ["test"] },
      findAccount(_context, sub) {
        const person = persons.get(sub);
        return person && { accountId: sub, claims: () => ({ sub, email_verified: true, ...person }) };
      },
      ...more,
    });
  server.on("request", (request, response) => {
    void (provider ??= start()).callback()(request, response);
  });
  return {
    issuer,
    persons,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A browser without scripts: cookies by host, redirects, and the forms of the provider. */
export class TestBrowser {
  readonly #jars = new Map<string, Map<string, string>>();
  readonly #login: string;

  constructor(login: string) {
    this.#login = login;
  }

  cookie(url: string, name: string): string | undefined {
    return this.#jars.get(new URL(url).host)?.get(name);
  }

  clear(url: string): void {
    this.#jars.delete(new URL(url).host);
  }

  /** Follows redirects and answers forms until another page, or an address of `until`. */
  async open(
    url: string,
    until: (url: string) => boolean = () => false,
  ): Promise<{ url: string; status: number; text: string }> {
    let next: { url: string; body?: URLSearchParams } = { url };
    for (let step = 0; step < 30; step += 1) {
      if (until(next.url)) return { url: next.url, status: 0, text: "" };
      const answer = await this.#send(next.url, next.body);
      const location = answer.headers.get("location");
      const text = await answer.text();
      if (location !== null) {
        next = { url: new URL(location, next.url).href };
        continue;
      }
      const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1];
      const prompt = /name="prompt" value="(login|consent)"/.exec(text)?.[1];
      if (action === undefined || prompt === undefined) return { url: next.url, status: answer.status, text };
      const body = new URLSearchParams({ prompt, ...(prompt === "login" && { login: this.#login, password: "x" }) });
      next = { url: new URL(action, next.url).href, body };
    }
    throw new Error(`Too many redirects from ${url}.`);
  }

  async #send(url: string, body: URLSearchParams | undefined): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    this.#jars.set(host, jar);
    const answer = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "), accept: "text/html" },
      ...(body && { body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const pair = line.split(";", 1)[0] ?? "";
      for (const [name, value] of Object.entries(parseCookie(pair, { decode: (text) => text })))
        if (value === undefined || value === "") jar.delete(name);
        else jar.set(name, value);
    }
    return answer;
  }
}
