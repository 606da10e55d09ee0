import type { InputOf, OutputOf, ValueSchema } from "./value-schema.ts";

/** Passed to the handler. */
export interface ActionContext {
  /** Pass it to `browsers.create`, so that the browsers end when the invocation fails or is cancelled. */
  readonly invocation_id: string;
  readonly app_name: string;
  readonly action_name: string;
  /** Aborted when the invocation is cancelled or times out. */
  readonly signal: AbortSignal;
}

/** Executes an action. Its result becomes the invocation's output, as JSON; an exception fails the invocation. */
export type ActionHandler<Payload, Output> = (context: ActionContext, payload: Payload) => Output | Promise<Output>;

/** Times at which the service invokes an action, while a deployment with it runs. */
export interface ActionSchedule {
  /** Minute, hour, day of the month, month and day of the week: `0 9 * * 1-5`. A sixth, first field has seconds. */
  readonly cron: string;
  /** IANA name of the time zone of `cron`, for example `Europe/Berlin`. Default: `UTC`. */
  readonly time_zone?: string;
  /** Payload of each invocation: a value for JSON. Default: none. */
  readonly payload?: unknown;
}

/** Schemas of an action's payload and output, and its schedule. */
export interface ActionSchemas<Payload extends ValueSchema | undefined, Output extends ValueSchema | undefined> {
  /** Checks payloads before the handler runs; published as JSON Schema. */
  readonly payload?: Payload;
  /** Checks the handler's result; published as JSON Schema. */
  readonly output?: Output;
  /** The deployment fails if it is invalid. `schedules.list` shows it with the origin `code`. */
  readonly schedule?: ActionSchedule;
}

/** An action as a runner reads it. */
export interface RegisteredAction {
  readonly handler: ActionHandler<unknown, unknown>;
  readonly payload: ValueSchema | undefined;
  readonly output: ValueSchema | undefined;
  readonly schedule?: ActionSchedule | undefined;
}

/** A named set of actions. */
export class App {
  readonly name: string;
  /** In the order of their registration. */
  readonly actions: ReadonlyMap<string, RegisteredAction>;
  readonly #actions = new Map<string, RegisteredAction>();

  /** @internal */
  constructor(name: string) {
    this.name = checkedName(name, "app");
    this.actions = this.#actions;
  }

  /**
   * Adds an action with a checked payload.
   * @param name - 1 to 255 characters, unique in the app.
   * @param schemas - of zod or any other library that implements Standard Schema.
   * @returns the handler, for other code and tests; direct calls skip the checks.
   * @throws {TypeError} for a duplicate name.
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
   * Adds an action without checking its payload. Pass a schema if other people can call the action.
   * @param name - 1 to 255 characters, unique in the app.
   * @returns the handler, for other code and tests.
   * @throws {TypeError} for a duplicate name.
   */
  action<Output, Payload = unknown>(
    name: string,
    handler: ActionHandler<Payload, Output>,
  ): ActionHandler<Payload, Output>;
  action(
    name: string,
    ...rest:
      | [ActionSchemas<ValueSchema | undefined, ValueSchema | undefined>, ActionHandler<never, unknown>]
      | [ActionHandler<never, unknown>]
  ): ActionHandler<never, unknown> {
    const [schemas, handler] = rest.length === 1 ? [{}, rest[0]] : rest;
    checkedName(name, "action");
    if (typeof handler !== "function")
      throw new TypeError(`The action ${name} of the app ${this.name} has no handler: pass a function.`);
    if (this.#actions.has(name)) throw new TypeError(`The app ${this.name} has an action called ${name} already.`);
    this.#actions.set(name, {
      handler: handler as ActionHandler<unknown, unknown>,
      payload: schemas.payload,
      output: schemas.output,
      schedule: schemas.schedule,
    });
    return handler;
  }
}

/** Global, because the runner may load a different copy of this package than the app. */
const registryKey = Symbol.for("shoal.apps.v1");

/** All apps of this program by name, in the order of their creation. */
export function registeredApps(): Map<string, App> {
  const found: unknown = Reflect.get(globalThis, registryKey);
  // Only this package writes to this key.
  if (found instanceof Map) return found as Map<string, App>;
  const made = new Map<string, App>();
  Reflect.set(globalThis, registryKey, made);
  return made;
}

/**
 * Returns the app of this name, or creates it; several files can add actions to one app.
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
