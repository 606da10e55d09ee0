import type { CheckVerdict, Login, LoginOptions } from "@shoal/login";
import type { SignIn, SignInTarget } from "@shoal/server";
import { ScriptedLogin } from "./scripted-login.ts";
import { defaultSite, type FakeSite } from "./sites.ts";

/** The sites that connections sign in to. */
export class ScriptedSites implements SignIn {
  readonly #sites = new Map<string, FakeSite>();
  /** By connection. */
  readonly #logins = new Map<string, ScriptedLogin>();
  readonly #signedIn = new Set<string>();

  add(domain: string, site: FakeSite): void {
    this.#sites.set(domain, site);
  }

  /** @throws {TypeError} if no login of the connection waits. */
  completeAction(connectionId: string): void {
    const login = this.#logins.get(connectionId);
    if (login?.waitsElsewhere !== true)
      throw new TypeError(`No login of connection ${connectionId} waits for an action elsewhere.`);
    login.act();
  }

  /** @throws {TypeError} if the connection is not signed in. */
  expire(connectionId: string): void {
    if (!this.#signedIn.delete(connectionId)) throw new TypeError(`Connection ${connectionId} is not signed in.`);
  }

  login(options: LoginOptions, target: SignInTarget): Pick<Login, "run" | "state"> {
    const { domain, id } = target.connection;
    const site = this.#sites.get(domain) ?? defaultSite;
    const login = new ScriptedLogin(
      async (given) => {
        const url = await site(given);
        if (!given.signal.aborted) this.#signedIn.add(id);
        return url;
      },
      options,
      target,
    );
    this.#logins.set(id, login);
    target.signal.addEventListener("abort", () => {
      if (this.#logins.get(id) === login) this.#logins.delete(id);
    });
    return login;
  }

  check(_page: unknown, _options: unknown, { connection }: SignInTarget): Promise<CheckVerdict> {
    return Promise.resolve(
      this.#signedIn.has(connection.id)
        ? { status: "signed_in", reason: "The page offers to sign out." }
        : { status: "signed_out", reason: "The page shows a login form." },
    );
  }

  clear(): void {
    this.#sites.clear();
    this.#logins.clear();
    this.#signedIn.clear();
  }
}
