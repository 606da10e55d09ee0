import { messageOf } from "@shoal/primitives";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import pTimeout from "p-timeout";
import * as z from "zod/mini";
import { StartError } from "../../config/start-error.ts";
import type { Log } from "../../log/log.ts";
import type { LoginModel, LoginModelModule, PageOutline } from "./login-model.ts";

const answerMs = 30_000;
const Names = z.record(z.string().check(z.maxLength(32)), z.string().check(z.maxLength(64)));

/** @param name - absolute path, or package. @throws {StartError} when the module fails or exports no model. */
export async function openLoginModel(name: string | undefined, log: Log): Promise<LoginModel | undefined> {
  if (name === undefined) return undefined;
  const hint = "The module exports createLoginModel(), which returns a LoginModel (see docs/operating.md).";
  let made: unknown;
  try {
    const specifier = isAbsolute(name) ? pathToFileURL(name).href : name;
    const { createLoginModel } = (await import(specifier)) as Partial<LoginModelModule>;
    made = await createLoginModel?.();
  } catch (error) {
    throw new StartError(`login_model_module: ${name} failed: ${messageOf(error)}.`, { hint, cause: error });
  }
  if (!isModel(made)) throw new StartError(`login_model_module: ${name} exports no login model.`, { hint });
  return new BoundedModel(made, log);
}

function isModel(value: unknown): value is LoginModel {
  return typeof value === "object" && value !== null && "nameNodes" in value && typeof value.nameNodes === "function";
}

/** A model that fails or is slow names nothing: the login continues without it. */
class BoundedModel implements LoginModel {
  readonly #model: LoginModel;
  readonly #log: Log;

  constructor(model: LoginModel, log: Log) {
    this.#model = model;
    this.#log = log;
  }

  async nameNodes(outline: PageOutline): Promise<Readonly<Record<string, string>>> {
    try {
      const copy = structuredClone(outline);
      const asked = Promise.resolve().then(() => this.#model.nameNodes(copy));
      return Names.parse(await pTimeout(asked, { milliseconds: answerMs }));
    } catch (error) {
      this.#log.warn({ err: error }, "the login model gave no valid answer");
      return {};
    }
  }
}
