import { describeApps, registeredApps, runAction } from "@shoal/client/app";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { printError } from "../../protocol/channel.ts";
import type { Described } from "../../protocol/messages.ts";

interface ForeignApp {
  readonly name: string;
  getActions(): readonly { readonly name: string }[];
  getAction(name: string): { readonly handler: (context: object, payload: unknown) => unknown } | undefined;
}

interface ForeignRegistry {
  getApps(): readonly ForeignApp[];
}

export interface ActionCall {
  readonly invocation_id: string;
  readonly app_name: string;
  readonly action_name: string;
  readonly payload?: string | undefined;
}

export interface ActionEnd {
  readonly status: "succeeded" | "failed";
  readonly output?: string | undefined;
}

const key = Symbol.for("shoal.runner.registries");
const frameworkFile = /\/sdk\/core\/app-framework\.m?js$/;

/** Finds the apps of a program: those of Shoal's framework, and those of every copy of the vendor's SDK. */
export class Registries {
  readonly #foreign: ForeignRegistry[] = [];

  /** Each copy, ESM or CommonJS, also of nested dependencies, hands over its registry when it is loaded. */
  watch(): void {
    Reflect.set(globalThis, key, this.#foreign);
    registerHooks({
      load(url, context, next) {
        if (!frameworkFile.test(url)) return next(url, context);
        const code = readFileSync(fileURLToPath(url), "utf8");
        if (!code.includes("appRegistry")) return next(url, context);
        const registry = url.endsWith(".mjs") ? "appRegistry" : "exports.appRegistry";
        const source = `${code}\n;globalThis[Symbol.for(${JSON.stringify(key.description)})].push(${registry});`;
        return { format: url.endsWith(".mjs") ? "module" : "commonjs", source, shortCircuit: true };
      },
    });
  }

  async describe(): Promise<Described> {
    const { apps } = await describeApps();
    const own = apps.map(({ name, actions, schedules }) => ({
      name,
      ...(schedules !== undefined && { schedules: [...schedules] }),
      actions: actions.map((action) => ({
        name: action.name,
        input_schema: action.input_schema ?? null,
        output_schema: action.output_schema ?? null,
      })),
    }));
    const foreign = [...this.#foreignApps().values()]
      .filter(({ name }) => !registeredApps().has(name))
      .map((app) => ({
        name: app.name,
        actions: app.getActions().map(({ name }) => ({ name, input_schema: null, output_schema: null })),
      }));
    return [...own, ...foreign];
  }

  async run(call: ActionCall): Promise<ActionEnd> {
    const action = this.#foreignApps().get(call.app_name)?.getAction(call.action_name);
    if (registeredApps().has(call.app_name) || action === undefined)
      return runAction({
        ...call,
        onError: (error) => {
          printError(error);
        },
      });
    try {
      const { invocation_id, payload } = call;
      const returned: unknown = await action.handler(
        { invocation_id },
        payload === undefined ? undefined : JSON.parse(payload),
      );
      return { status: "succeeded", output: jsonOf(returned) };
    } catch (error) {
      printError(error);
      return { status: "failed", output: JSON.stringify({ error: messageOf(error) }) };
    }
  }

  /** The last one of a name wins, as in the SDK. */
  #foreignApps(): Map<string, ForeignApp> {
    return new Map(this.#foreign.flatMap((registry) => registry.getApps()).map((app) => [app.name, app]));
  }
}

/** Functions and `undefined` have no JSON text. */
function jsonOf(value: unknown): string {
  const text: unknown = JSON.stringify(value);
  return typeof text === "string" ? text : "null";
}

export function messageOf(error: unknown): string {
  try {
    // Some HTTP clients set an object.
    const message: unknown = error instanceof Error ? error.message : undefined;
    if (typeof message === "object" && message !== null) return JSON.stringify(message);
    return typeof message === "string" && message !== "" ? message : String(error);
  } catch {
    return "The action failed with something that cannot be shown.";
  }
}
