import type { InputOf, OutputOf, ValueSchema } from "./value-schema.ts";

/** What an action is told beside its payload. */
export interface ActionContext {
  /** The invocation. Give it to `browsers.create`, so that its browsers end with it. */
  readonly invocation_id: string;
  /** The app that was asked. */
  readonly app_name: string;
  /** What it was asked to do. */
  readonly action_name: string;
  /** Aborted when the invocation is cancelled or has no more time. */
  readonly signal: AbortSignal;
}

/** Does what an action is for. What it returns becomes the invocation's output, as JSON; what it throws fails the invocation. */
export type ActionHandler<Payload, Output> = (context: ActionContext, payload: Payload) => Output | Promise<Output>;

/** What goes into an action and comes out of it. */
export interface ActionSchemas<Payload extends ValueSchema | undefined, Output extends ValueSchema | undefined> {
  /** Checks payloads before the handler sees them; callers of the app see it as JSON Schema. */
  readonly payload?: Payload;
  /** Checks what the handler returns; callers of the app see it as JSON Schema. */
  readonly output?: Output;
}

/** An action as a runner finds it. */
export interface RegisteredAction {
  readonly handler: ActionHandler<unknown, unknown>;
  readonly payload: ValueSchema | undefined;
  readonly output: ValueSchema | undefined;
}

/** A named set of actions. */
export class App {
  readonly name: string;
  /** The actions by name, in the order in which they were added. */
  readonly actions: ReadonlyMap<string, RegisteredAction>;
  readonly #actions = new Map<string, RegisteredAction>();

  /** @internal */
  constructor(name: string) {
    this.name = checkedName(name, "app");
    this.actions = this.#actions;
  }

  /**
   * Adds an action whose payload is checked.
   *
   * @param name - 1 to 255 characters, unique in the app.
   * @param schemas - of zod, or of any library that follows Standard Schema.
   * @returns the handler, to be called by other code and by tests; called so, nothing is checked.
   * @throws {TypeError} when the app has an action of this name.
   */
  action<
    Payload extends ValueSchema | undefined = undefined,
    Output extends ValueSchema | undefined = undefined,
    Returned = Output extends ValueSchema ? InputOf<Output> : unknown,
  >(
    name: string,
    schemas: ActionSchemas<Payload, Output>,
    handler: ActionHandler<
      Payload extends ValueSchema ? OutputOf<Payload> : unknown,
      Returned & (Output extends ValueSchema ? InputOf<Output> : unknown)
    >,
  ): typeof handler;
  /**
   * Adds an action. Nobody checks that its payload is what the handler expects: give a schema where callers are not your own.
   *
   * @param name - 1 to 255 characters, unique in the app.
   * @returns the handler, to be called by other code and by tests.
   * @throws {TypeError} when the app has an action of this name.
   */
  action<Output, Payload = unknown>(name: string, handler: ActionHandler<Payload, Output>): ActionHandler<Payload, Output>;
  action(
    name: string,
    ...rest: [ActionSchemas<ValueSchema | undefined, ValueSchema | undefined>, ActionHandler<never, unknown>] | [ActionHandler<never, unknown>]
  ): ActionHandler<never, unknown> {
    const [schemas, handler] = rest.length === 1 ? [{}, rest[0]] : rest;
    checkedName(name, "action");
    if (typeof handler !== "function") throw new TypeError(`The action ${name} of the app ${this.name} has no handler: pass a function.`);
    if (this.#actions.has(name)) throw new TypeError(`The app ${this.name} has an action called ${name} already.`);
    // The payload is whatever the caller of the app sent; a schema or the handler's own types say what it should be.
    this.#actions.set(name, { handler: handler as ActionHandler<unknown, unknown>, payload: schemas.payload, output: schemas.output });
    return handler;
  }
}

/** Where apps are found by a runner, whose copy of this package may be another one than the app's. */
const registryKey = Symbol.for("shoal.apps.v1");

/** Every app of this program, by name, in the order in which they were made. */
export function registeredApps(): Map<string, App> {
  const found: unknown = Reflect.get(globalThis, registryKey);
  // Nobody else writes there.
  if (found instanceof Map) return found as Map<string, App>;
  const made = new Map<string, App>();
  Reflect.set(globalThis, registryKey, made);
  return made;
}

/**
 * The app of this name; it is made when there is none yet, so that several files can add actions to it.
 *
 * @param name - 1 to 255 characters.
 *
 * @example
 * import { app } from "@shoal/client/app";
 * import { Shoal } from "@shoal/client";
 * import * as z from "zod";
 *
 * app("shop").action("price", { payload: z.object({ sku: z.int() }) }, async ({ invocation_id }, { sku }) => {
 *   await using browser = await new Shoal().browsers.create({ invocation_id });
 *   return { price: await priceOf(browser, sku) };
 * });
 */
export function app(name: string): App {
  const apps = registeredApps();
  const found = apps.get(name);
  if (found !== undefined) return found;
  const made = new App(name);
  apps.set(name, made);
  return made;
}

function checkedName(name: string, what: string): string {
  if (typeof name !== "string" || !/^\P{Cc}{1,255}$/u.test(name))
    throw new TypeError(`An ${what}'s name has 1 to 255 characters, none of them a control character.`);
  return name;
}
