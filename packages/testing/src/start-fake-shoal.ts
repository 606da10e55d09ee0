import { contract, type Endpoint } from "@shoal/contract";
import type { Handler } from "@shoal/router";
import type { Handoff } from "@shoal/schemas";
import { createKeySecret, isKeySecret } from "@shoal/server";
import { setTimeout as sleep } from "node:timers/promises";
import type { FakeCall } from "./front/calls.ts";
import type { FakeCaller } from "./front/caller.ts";
import type { Fault } from "./front/faults.ts";
import { Front } from "./front/front.ts";
import { OwnOperations } from "./front/own-operations.ts";
import type { FakeAction } from "./scripts/actions.ts";
import type { FakeProviderItem } from "./scripts/provider-item.ts";
import { ScriptedApps } from "./scripts/scripted-apps.ts";
import { ScriptedSites } from "./scripts/scripted-sites.ts";
import { ScriptedStores } from "./scripts/scripted-stores.ts";
import type { FakeSite } from "./scripts/sites.ts";
import { FakeService, type Scripts } from "./service/fake-service.ts";

/** Name of an operation, for instance `profiles.get`. */
export type OperationId = (typeof contract)[keyof typeof contract]["operationId"];

/** Options of {@link startFakeShoal}. */
export interface FakeOptions {
  /** TCP port on 127.0.0.1; default a free one. */
  readonly port?: number;
  /** The key of an earlier fake, for clients that outlive it; default a new one. */
  readonly apiKey?: string;
}

interface Parts {
  readonly apiKey: string;
  readonly front: Front;
  readonly own: OwnOperations;
  readonly scripts: Scripts;
  service: FakeService;
}

const operationIds = new Set<string>(Object.values<Endpoint>(contract).map(({ operationId }) => operationId));
const lookMs = 5;

/**
 * The service in this process, without browsers. Operations of pages, programs and screens answer 501, or
 * {@link FakeShoal.handle}. With `await using` it ends with the scope.
 */
export class FakeShoal implements AsyncDisposable {
  /** A key for the whole organisation. */
  readonly apiKey: string;
  /** `http://127.0.0.1:34567` */
  readonly baseUrl: string;
  /** The last 10,000 requests since the start or `reset`. */
  readonly calls: readonly FakeCall[];
  readonly #parts: Parts;
  #closing: Promise<void> | undefined;
  /** The last start or reset. */
  #ready: Promise<void> = Promise.resolve();

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.apiKey = parts.apiKey;
    this.baseUrl = parts.front.baseUrl;
    this.calls = parts.front.calls;
  }

  /** The same as {@link startFakeShoal}. */
  static async start({ apiKey = createKeySecret(), port = 0 }: FakeOptions = {}): Promise<FakeShoal> {
    if (!isKeySecret(apiKey))
      throw new TypeError("apiKey: expected the key of an earlier fake. Leave it out to get a new one in fake.apiKey.");
    const scripts = { apps: new ScriptedApps(), sites: new ScriptedSites(), stores: new ScriptedStores() };
    const present = { service: await FakeService.start(scripts, apiKey) };
    const own = new OwnOperations(() => present.service);
    const front = new Front({ own, service: () => present.service });
    const parts: Parts = Object.assign(present, { apiKey, front, own, scripts });
    try {
      await own.start();
      await front.start(port);
      return new FakeShoal(parts);
    } catch (error) {
      await Promise.allSettled([front.close(), own.close(), present.service.close()]);
      throw error;
    }
  }

  /** Several faults apply in order. @throws {TypeError} for an unknown operation. */
  failNext(operationId: OperationId, fault: Fault): void {
    if (!operationIds.has(operationId))
      throw new TypeError(`Unknown operation ${operationId}. Use the client's names, for example profiles.get.`);
    this.#parts.front.faults.add(operationId, fault);
  }

  /**
   * Answers an operation with the test's handler, also one of an extension. Keys and requests are still checked, and
   * calls recorded.
   *
   * @example
   * fake.handle(executePlaywright, ({ body }) => ({ success: true, result: body.code.length }));
   */
  handle<E extends Endpoint>(endpoint: E, handler: Handler<E, FakeCaller>): void {
    this.#parts.own.set(endpoint, handler as unknown as Handler<Endpoint, FakeCaller>);
  }

  /**
   * Adds an app to the next deployments. They also have the apps that this process registered with `@shoal/client/app`.
   * Sources of deployments do not run.
   * @param actions - by name; the returned value is the output.
   */
  addApp(name: string, actions: Readonly<Record<string, FakeAction>>): void {
    this.#parts.scripts.apps.add(name, actions);
  }

  /**
   * Adds a site that connections sign in to. Other domains ask for a user name and a password, and accept any.
   * @param domain - of the connections.
   *
   * @example
   * fake.addSite("example.com", async (login) => {
   *   await login.ask({ fields: ["username", "password"] });
   *   const { values } = await login.ask({ fields: ["otp"] });
   *   return values.otp === "123456" ? "https://example.com/home" : login.fail("credentials_invalid");
   * });
   */
  addSite(domain: string, site: FakeSite): void {
    this.#parts.scripts.sites.add(domain, site);
  }

  /** Completes the action elsewhere that a login waits for, a tap on a phone for instance. @throws {TypeError} if none waits. */
  completeAction(connectionId: string): void {
    this.#parts.scripts.sites.completeAction(connectionId);
  }

  /** Ends the login of a connection on its site, so that the next check finds it signed out. @throws {TypeError} if it is not signed in. */
  expireLogin(connectionId: string): void {
    this.#parts.scripts.sites.expire(connectionId);
  }

  /** Adds an item to the credential providers with this name, for logins that name the provider. */
  addProviderItem(provider: string, item: FakeProviderItem): void {
    this.#parts.scripts.stores.add(provider, item);
  }

  /**
   * Ends the active handoff of a session, as the person does.
   * @param note - the person's note.
   * @throws {TypeError} without an active handoff.
   */
  async completeHandoff(idOrName: string, note = ""): Promise<void> {
    const session = await this.#session(idOrName);
    const none = new TypeError(`Browser ${idOrName} has no active handoff.`);
    if (session === undefined) throw none;
    const { apiKey, service } = this.#parts;
    const found = await fetch(`${service.baseUrl}/browsers/${session.id}/handoff`, {
      headers: { authorization: `Bearer ${apiKey}`, "x-shoal-project": session.project_id },
    });
    if (found.status === 404) throw none;
    if (!found.ok) throw new Error(`The handoff could not be read: ${await found.text()}`);
    const { url } = (await found.json()) as Handoff;
    if (url === undefined) throw none;
    const released = await fetch(`${url}/handoff/release`, { method: "POST", body: note });
    if (!released.ok) throw new Error(`The handoff could not be completed: ${await released.text()}`);
  }

  /**
   * Ends a running session, and resolves when the service has noticed.
   * @param reason - the session's `ended_reason`.
   * @throws {TypeError} if it does not run.
   */
  async endBrowser(
    idOrName: string,
    reason: "timeout" | "browser_crashed" | "instance_lost" = "timeout",
  ): Promise<void> {
    const session = await this.#session(idOrName);
    if (session === undefined || !(await this.#parts.service.placement.end(session.id, { reason })))
      throw new TypeError(`No browser ${idOrName} runs in the fake.`);
    while ((await this.#session(session.id)) !== undefined) await sleep(lookMs);
  }

  /**
   * Starts an empty service with the same key and address. Sites, apps, faults, handlers and calls are gone.
   * @throws {Error} after {@link close}.
   */
  reset(): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(new Error("The fake is closed."));
    const reset = this.#ready.then(() => this.#reset());
    this.#ready = reset.catch(() => undefined);
    return reset;
  }

  async #reset(): Promise<void> {
    const { apiKey, front, own, scripts } = this.#parts;
    front.cutAll();
    await this.#parts.service.close();
    for (const part of Object.values(scripts) as readonly { clear(): void }[]) part.clear();
    own.clear();
    this.#parts.service = await FakeService.start(scripts, apiKey);
    front.clear();
  }

  /** Ends the service and removes its files. May be called again. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#ready;
    const { front, own, service } = this.#parts;
    await Promise.all([front.close(), own.close()]);
    await service.close();
  }

  /** @returns a running session. */
  #session(idOrName: string): Promise<{ readonly id: string; readonly project_id: string } | undefined> {
    return this.#parts.service.database.query
      .selectFrom("sessions")
      .select(["id", "project_id"])
      .where("ended_at", "is", null)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .executeTakeFirst();
  }
}

/**
 * Starts the service in this process, without browsers.
 *
 * @example
 * await using fake = await startFakeShoal();
 * const shoal = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
 * @throws {TypeError} if `apiKey` is not a key of a fake.
 * @throws {Error} if the port is taken.
 */
export const startFakeShoal = (options: FakeOptions = {}): Promise<FakeShoal> => FakeShoal.start(options);
