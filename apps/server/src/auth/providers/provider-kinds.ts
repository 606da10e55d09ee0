import { unknownProviderType } from "@shoal/contract/refusals";
import type { OutboundRule } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { StartError } from "../../config/start-error.ts";
import { badField } from "../../http/bad-field.ts";
import type { CredentialProviderKind } from "./interface/credential-provider.ts";
import { ownKinds } from "./stores/kinds.ts";

/** The exports of a module in `credential_provider_modules`. */
interface ProviderModule {
  readonly credentialProviders?: unknown;
}

type Settings = Readonly<Record<string, string>>;

function isKind(value: unknown): value is CredentialProviderKind {
  if (typeof value !== "object" || value === null) return false;
  const { kind, open, settings, title } = value as Partial<CredentialProviderKind>;
  return (
    typeof kind === "string" &&
    /^[a-z][a-z0-9_]{0,63}$/.test(kind) &&
    typeof title === "string" &&
    typeof settings === "object" &&
    typeof open === "function"
  );
}

/** @param modules - absolute paths, or packages. @throws {StartError} */
async function kindsOfModules(modules: readonly string[]): Promise<CredentialProviderKind[]> {
  const hint =
    "The module exports credentialProviders, a list of CredentialProviderKind (see docs/guide/credential-providers.md).";
  const found: CredentialProviderKind[] = [];
  for (const name of modules) {
    let exported: unknown;
    try {
      const specifier = isAbsolute(name) ? pathToFileURL(name).href : name;
      ({ credentialProviders: exported } = (await import(specifier)) as ProviderModule);
    } catch (error) {
      throw new StartError(`credential_provider_modules: ${name} failed: ${messageOf(error)}.`, { hint, cause: error });
    }
    if (!Array.isArray(exported) || !exported.every(isKind))
      throw new StartError(`credential_provider_modules: ${name} exports no credentialProviders.`, { hint });
    found.push(...exported);
  }
  return found;
}

/** The kinds of providers of this server. */
export class ProviderKinds {
  readonly #kinds: ReadonlyMap<string, CredentialProviderKind>;
  readonly #rule: OutboundRule;

  constructor(kinds: readonly CredentialProviderKind[], rule: OutboundRule) {
    this.#kinds = new Map(kinds.map((kind) => [kind.kind, kind]));
    this.#rule = rule;
  }

  /** @returns `undefined` when its module is not loaded any more. */
  find(type: string): CredentialProviderKind | undefined {
    return this.#kinds.get(type);
  }

  /** @throws {ServiceError} 400 with the known kinds. */
  require(type: string): CredentialProviderKind {
    const kind = this.#kinds.get(type);
    if (kind === undefined) throw ServiceError.of(unknownProviderType(type, [...this.#kinds.keys()]));
    return kind;
  }

  /** Checks the options without connecting. @throws {ServiceError} 400 naming the field. */
  async check(kind: CredentialProviderKind, settings: Settings, token: string): Promise<void> {
    const names = Object.keys(kind.settings);
    for (const name of Object.keys(settings))
      if (!Object.hasOwn(kind.settings, name))
        throw badField(`settings.${name}`, `is not a setting of ${kind.kind}`, {
          hint: names.length === 0 ? "Omit it: this kind has no settings." : `Its settings are ${names.join(", ")}.`,
        });
    for (const [name, { description, isAddress, isRequired }] of Object.entries(kind.settings)) {
      const value = settings[name];
      if (value === undefined && isRequired === true)
        throw badField(`settings.${name}`, `is required for ${kind.kind}: ${description}`);
      if (value !== undefined && isAddress === true) await this.#checkAddress(name, value);
    }
    const problem = kind.check?.(token, withFallbacks(kind, settings));
    if (problem !== undefined) throw badField(problem.field, problem.problem);
  }

  async #checkAddress(name: string, value: string): Promise<void> {
    const field = `settings.${name}`;
    const url = URL.parse(value);
    if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "")
      throw badField(field, "expected an http or https URL");
    if (url.username !== "" || url.password !== "" || /[?#]/.test(value))
      throw badField(field, "must not contain a user name, a password, ? or #");
    const decision = await this.#rule.decideLiteral(url, "private");
    if (decision.allowed) return;
    if (decision.needsTls === true)
      throw badField(field, "http is for private hosts only", { hint: "Use https for a public address." });
    throw badField(field, `expected a public address: ${decision.because}`, {
      hint: "The operator can permit private hosts with credential_provider_hosts.",
    });
  }
}

export function withFallbacks(kind: CredentialProviderKind, settings: Settings): Settings {
  const fallbacks = Object.entries(kind.settings).flatMap(([name, { fallback }]) =>
    fallback === undefined ? [] : [[name, fallback] as const],
  );
  return { ...Object.fromEntries(fallbacks), ...settings };
}

/** @throws {StartError} for a module that fails, and for a kind that exists twice. */
export async function openProviderKinds(modules: readonly string[], rule: OutboundRule): Promise<ProviderKinds> {
  const kinds = [...ownKinds, ...(await kindsOfModules(modules))];
  const twice = kinds.find(({ kind }, index) => kinds.findIndex((other) => other.kind === kind) !== index);
  if (twice !== undefined)
    throw new StartError(`credential_provider_modules: the kind ${twice.kind} exists already.`, {
      hint: "Give the kind of the module another name.",
    });
  return new ProviderKinds(kinds, rule);
}
