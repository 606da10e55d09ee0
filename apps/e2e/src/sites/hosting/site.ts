import { randomBytes, randomInt } from "node:crypto";
import { html, redirect, type Reply, type SiteRequest } from "./exchange.ts";
import type { Host } from "./front.ts";
import { markup } from "./markup.ts";

/** An account of a site. */
export interface Account {
  /** Typed to sign in: a user name, an e-mail address or a phone number. */
  readonly identifier: string;
  password: string;
  /** Shown on the signed-in page. */
  readonly name: string;
  readonly phone?: string;
  readonly totpSecret?: string;
}

/** A password that a site checked. */
export interface Attempt {
  readonly identifier: string;
  readonly outcome: "accepted" | "wrong" | "locked";
}

/** A message to the owner of an account, which only the test can read. */
interface Message {
  readonly to: string;
  readonly code?: string;
  readonly link?: string;
}

/** A login between its first and its last step. */
export interface Pending {
  readonly account: Account;
  /** What the site waits for, in the site's words. */
  readonly step: string;
}

type Answer = (request: SiteRequest) => Reply | Promise<Reply>;
/** Answers by method and path: `POST /login`. */
export type Routes = Readonly<Record<`${"GET" | "POST"} /${string}`, Answer>>;

interface SiteOptions {
  readonly host: string;
  readonly accounts?: readonly Account[];
  /** Name of the session's cookie. */
  readonly cookie?: string;
  /** `content-security-policy` of all pages. */
  readonly csp?: string;
  /** Wrong passwords until an account is locked; without a limit by default. */
  readonly tries?: number;
  /** Length of sent codes; 6 by default. */
  readonly digits?: number;
  /** Path that ends a session; `/logout` by default. */
  readonly signOut?: string;
  readonly routes: (site: Site) => Routes;
}

const maxKept = 1000;

/** A site with accounts and sessions in memory, and the handles by which a test observes and changes them. */
export class Site implements Host {
  readonly host: string;
  readonly accounts: Map<string, Account>;
  readonly #options: SiteOptions;
  readonly #routes: Routes;
  readonly #cookie: string;
  readonly #sessions = new Map<string, Account>();
  readonly #pending = new Map<string, Pending>();
  readonly #codes = new Map<Account, string>();
  readonly #failures = new Map<string, number>();
  readonly #attempts: Attempt[] = [];
  readonly #messages: Message[] = [];
  readonly #requests: string[] = [];
  #held: Promise<unknown> | undefined;

  constructor(options: SiteOptions) {
    this.#options = options;
    this.host = options.host;
    this.accounts = new Map(options.accounts?.map((account) => [account.identifier, { ...account }]));
    this.#cookie = `__Host-${options.cookie ?? "sid"}`;
    this.#routes = options.routes(this);
  }

  /** `https://HOST` */
  get origin(): string {
    return `https://${this.host}`;
  }

  /** The latest requests as `METHOD /path`, without queries and bodies. */
  requests(): readonly string[] {
    return this.#requests;
  }

  /** Checked passwords, the oldest first. */
  attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  /** Messages to the owners of accounts, the oldest first. */
  messages(): readonly Message[] {
    return this.#messages;
  }

  lastCode(): string | undefined {
    return this.#messages.findLast(({ code }) => code !== undefined)?.code;
  }

  lastLink(): string | undefined {
    return this.#messages.findLast(({ link }) => link !== undefined)?.link;
  }

  /** Number of signed-in sessions. */
  sessions(): number {
    return this.#sessions.size;
  }

  /** Signs all browsers out. */
  expireSessions(): void {
    this.#sessions.clear();
  }

  /** Forgets wrong passwords, so that locked accounts open again. */
  unlock(): void {
    this.#failures.clear();
  }

  /** Checks posted forms, and delays their answers until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#held = promise;
    return () => {
      this.#held = undefined;
      resolve(undefined);
    };
  }

  async answer(request: SiteRequest): Promise<Reply> {
    const { pathname } = request.url;
    keep(this.#requests, `${request.method} ${pathname}`);
    const csp = this.#options.csp;
    const { headers, ...reply } = await this.#find(request.method, pathname)(request);
    if (request.method === "POST") await this.#held;
    return { ...reply, headers: csp === undefined ? headers : { "content-security-policy": csp, ...headers } };
  }

  #find(method: string, pathname: string): Answer {
    const key = `${method === "HEAD" ? "GET" : method} ${pathname}`;
    if (Object.hasOwn(this.#routes, key)) return (this.#routes as Readonly<Record<string, Answer>>)[key] ?? missing;
    return pathname === (this.#options.signOut ?? "/logout")
      ? (request) => redirect("/", [this.signOut(request)])
      : missing;
  }

  /** Checks a password, and counts wrong ones. @returns the account, or why not. */
  check(identifier: string, password: string): Account | "wrong" | "locked" {
    const key = identifier.trim().toLowerCase();
    const account = this.accounts.get(key);
    const failures = this.#failures.get(key) ?? 0;
    const isLocked = failures >= (this.#options.tries ?? Infinity);
    const outcome = isLocked ? "locked" : account?.password === password ? "accepted" : "wrong";
    keep(this.#attempts, { identifier: key, outcome });
    if (outcome === "accepted" && account !== undefined) {
      this.#failures.delete(key);
      return account;
    }
    this.#failures.set(key, failures + 1);
    return isLocked || failures + 1 >= (this.#options.tries ?? Infinity) ? "locked" : "wrong";
  }

  /** Opens a session. @returns its cookie, which lasts 30 days with `remember`. */
  signIn(account: Account, { remember = true } = {}): string {
    const id = randomBytes(18).toString("base64url");
    this.#sessions.set(id, account);
    return `${this.#cookie}=${id}; Path=/; Secure; HttpOnly; SameSite=Lax${remember ? "; Max-Age=2592000" : ""}`;
  }

  /** The account of the request's session. */
  accountOf(request: SiteRequest): Account | undefined {
    return this.#sessions.get(request.cookie(this.#cookie) ?? "");
  }

  /** Ends the request's session. @returns the cookie that removes it. */
  signOut(request: SiteRequest): string {
    this.#sessions.delete(request.cookie(this.#cookie) ?? "");
    return `${this.#cookie}=; Path=/; Secure; HttpOnly; Max-Age=0`;
  }

  /** Stores a login that is not finished. @returns its cookie. */
  pend(account: Account, step: string): string {
    const id = randomBytes(18).toString("base64url");
    this.#pending.set(id, { account, step });
    return `__Host-flow=${id}; Path=/; Secure; HttpOnly; SameSite=Lax`;
  }

  pending(request: SiteRequest): Pending | undefined {
    return this.#pending.get(request.cookie("__Host-flow") ?? "");
  }

  /** Sends a new code, which replaces the previous one. */
  sendCode(account: Account, to: string): void {
    const digits = this.#options.digits ?? 6;
    const code = String(randomInt(10 ** digits)).padStart(digits, "0");
    this.#codes.set(account, code);
    this.send({ to, code });
  }

  send(message: Message): void {
    keep(this.#messages, message);
  }

  /** Checks a sent code. Each is accepted once. */
  takeCode(account: Account, code: string): boolean {
    if (this.#codes.get(account) !== code.replace(/\D/g, "")) return false;
    return this.#codes.delete(account);
  }
}

const missing: Answer = () =>
  html(markup`<html lang="en"><title>Page not found</title><h1>404</h1><p>This page does not exist.</p></html>`, {
    status: 404,
  });

function keep<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > maxKept) items.shift();
}
